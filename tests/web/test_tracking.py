"""Recording of behavior, privacy, and unmet queries."""

import json
import re

import pytest
from starlette.testclient import TestClient
from tests.web.conftest import CrawledSite

from sanderling.search.feedback.event_log import EventLog
from sanderling.search.feedback.events import ACTION_NUMBERS
from sanderling.search.feedback.unmet_queries import complete_unmet_query, list_unmet_queries
from sanderling.web.state import AppState, MaintenanceThread


def search(client: TestClient, text: str = "shore") -> str:
    """Search and return the query id; empty if nothing was logged."""
    found = re.search(r'data-query="([0-9a-f]+)"', client.get("/", params={"q": text}).text)
    return found[1] if found else ""


def events(log: EventLog) -> list[tuple[str, str, int]]:
    sql = "SELECT action_name, object_id, position FROM events ORDER BY id"
    return log.db.execute(sql).fetchall()


def test_ranking_and_click_are_logged(client: TestClient, app_state: AppState, crawled_site: CrawledSite) -> None:
    query = search(client)
    (row,) = app_state.event_log.db.execute("SELECT query_id, query, urls FROM rankings").fetchall()
    assert row[:2] == (query, "shore")
    first = json.loads(row[2])[0]
    client.get("/view", params={"url": first, "qid": query, "p": 1})
    assert events(app_state.event_log) == [("click", first, 1)]


def test_every_action_can_be_reported(client: TestClient, app_state: AppState, crawled_site: CrawledSite) -> None:
    query = search(client)
    reported = [
        {"action": action, "count": 2} for action in (*ACTION_NUMBERS, "key", "reload", "scrollbar", "dwell", "active")
    ]
    body = {"query_id": query, "url": crawled_site.url("/gull"), "position": 1, "events": reported}
    assert client.post("/api/events", json=body).json() == {"taken": len(reported)}
    assert {name for name, *_ in events(app_state.event_log)} == {event["action"] for event in reported}


@pytest.mark.parametrize("header", [{"DNT": "1"}, {"Sec-GPC": "1"}])
def test_do_not_track_is_honored(client: TestClient, app_state: AppState, header: dict[str, str]) -> None:
    answered = client.get("/", params={"q": "shore"}, headers=header)
    assert "set-cookie" not in answered.headers
    assert "track.js" not in answered.text
    assert app_state.event_log.db.execute("SELECT count(*) FROM rankings").fetchone() == (0,)


def test_setting_turns_recording_off(client: TestClient, app_state: AppState, crawled_site: CrawledSite) -> None:
    app_state.auth_store.set_setting("tracking", "off")
    assert search(client) == ""
    assert client.post("/api/events", json={"events": [{"action": "scroll"}]}).json() == {"taken": 0}
    assert "allow-scripts" not in client.get("/view", params={"url": crawled_site.url("/gull")}).text


INVALID_REPORTS = [
    b"", b"[]", b"\xff", b'{"events": 1}', b'{"events": [{"action": "steal"}]}',
    b'{"events": [{"action": "key"}' + b', {"action": "key"}' * 101 + b"]}",
]  # fmt: skip


@pytest.mark.parametrize("body", INVALID_REPORTS)
def test_invalid_report_is_rejected(client: TestClient, app_state: AppState, body: bytes) -> None:
    search(client)
    assert client.post("/api/events", content=body).status_code == 422
    assert events(app_state.event_log) == []


def test_reports_of_other_sites_or_clients_are_rejected(client: TestClient, app_state: AppState) -> None:
    query = search(client)
    foreign = client.post("/api/events", json={"events": []}, headers={"sec-fetch-site": "cross-site"})
    assert foreign.status_code == 403
    client.cookies.clear()
    search(client, "gull")
    client.post("/api/events", json={"query_id": query, "events": [{"action": "copy"}]})
    assert app_state.event_log.db.execute("SELECT query_id FROM events").fetchall() == [("",)]
    assert client.post("/api/rating", json={"query_id": query, "found": False}).status_code == 422


def test_bad_rating_becomes_an_unmet_query(client: TestClient, app_state: AppState) -> None:
    query = search(client, "sandpiper shore")
    number = client.post("/api/rating", json={"query_id": query, "found": False}).json()["brief"]
    assert [unmet.id for unmet in list_unmet_queries(app_state.event_log)] == [number]
    assert {raised.signal for raised in app_state.event_log.list_signals()} == {"Low_Rating", "crawl_more"}
    assert "are being crawled" in client.get("/", params={"q": "shore sandpiper"}).text
    complete_unmet_query(app_state.event_log, number, 3, app_state.clock())
    assert "3 new pages" in client.get("/", params={"q": "sandpiper shore"}).text


def test_rephrased_query_without_click_is_unmet(client: TestClient, app_state: AppState) -> None:
    search(client, "shore wader")
    search(client, "shore sandpiper")
    assert [unmet.query for unmet in list_unmet_queries(app_state.event_log)] == ["shore wader"]
    search(client, "something else")
    assert len(list_unmet_queries(app_state.event_log)) == 1


def test_unmet_queries_per_client_are_limited(client: TestClient, app_state: AppState) -> None:
    for number in range(12):
        query = search(client, f"unheard{number} of")
        client.post("/api/rating", json={"query_id": query, "found": False})
    assert len(list_unmet_queries(app_state.event_log)) <= 5


def test_client_can_export_and_erase_its_records(client: TestClient, app_state: AppState) -> None:
    search(client)
    lines = client.get("/privacy/export").text.splitlines()
    assert [json.loads(line)["user_query"] for line in lines] == ["shore"]
    assert client.post("/privacy/erase").status_code == 303
    assert app_state.event_log.db.execute("SELECT count(*) FROM rankings").fetchone() == (0,)
    assert client.get("/privacy/export?all=1").text == ""


def test_learned_weights_change_the_order(client: TestClient, app_state: AppState) -> None:
    before = [hit["url"] for hit in client.get("/api/v1/search", params={"q": "wader shore", "log": 0}).json()["hits"]]
    clicked_url = before[7]
    for _ in range(15):
        client.cookies.clear()
        query = search(client, "wader shore")
        client.get("/view", params={"url": clicked_url, "qid": query, "p": 8})
        client.post("/api/events", json={"query_id": query, "url": clicked_url, "events": [{"action": "bookmark"}]})
    MaintenanceThread(app_state).run_maintenance()
    hits = client.get("/api/v1/search", params={"q": "wader shore", "explain": 1, "log": 0}).json()["hits"]
    assert hits[0]["url"] == clicked_url
    assert hits[0]["parts"]["behavior"] > 1
    assert "bookmark" in client.get("/stats").text


def test_recording_and_crawls_are_off_by_default(client: TestClient, app_state: AppState) -> None:
    app_state.auth_store.db.execute("DELETE FROM settings WHERE name IN ('tracking', 'crawl_more')")
    answered = client.get("/", params={"q": "shore wader"})
    client.get("/", params={"q": "shore sandpiper"})
    assert "set-cookie" not in answered.headers
    assert app_state.event_log.db.execute("SELECT count(*) FROM rankings").fetchone() == (0,)
    assert not app_state.should_crawl_unmet
    assert list_unmet_queries(app_state.event_log) == []


def test_recording_alone_allows_no_unmet_queries(client: TestClient, app_state: AppState) -> None:
    app_state.auth_store.set_setting("crawl_more", "off")
    query = search(client, "shore wader")
    assert client.post("/api/rating", json={"query_id": query, "found": False}).json() == {"brief": None}
    search(client, "shore sandpiper")
    assert list_unmet_queries(app_state.event_log) == []
