"""Behaviour is recorded where that is allowed, under a random number, and belongs to whom it is about."""

import json
import re

import pytest
from starlette.testclient import TestClient
from tests.web.conftest import World

from sanderling.search.feedback.event_log import EventLog
from sanderling.search.feedback.events import ACTION_NUMBERS
from sanderling.search.feedback.unmet_queries import complete_unmet_query, list_unmet_queries
from sanderling.web.state import AppState, MaintenanceThread


def search(client: TestClient, text: str = "shore") -> str:
    """Search; gives the id the ranking was logged under, or nothing."""
    found = re.search(r'data-query="([0-9a-f]+)"', client.get("/", params={"q": text}).text)
    return found[1] if found else ""


def events(log: EventLog) -> list[tuple[str, str, int]]:
    sql = "SELECT action_name, object_id, position FROM events ORDER BY id"
    return log.db.execute(sql).fetchall()


def test_the_ranking_shown_and_the_click_on_it_are_logged(client: TestClient, rooms: AppState, world: World) -> None:
    query = search(client)
    (row,) = rooms.event_log.db.execute("SELECT query_id, query, urls FROM rankings").fetchall()
    assert row[:2] == (query, "shore")
    first = json.loads(row[2])[0]
    client.get("/view", params={"url": first, "qid": query, "p": 1})
    assert events(rooms.event_log) == [("click", first, 1)]


def test_every_action_can_be_reported(client: TestClient, rooms: AppState, world: World) -> None:
    query = search(client)
    told = [
        {"action": action, "count": 2} for action in (*ACTION_NUMBERS, "key", "reload", "scrollbar", "dwell", "active")
    ]
    body = {"query_id": query, "url": world.url("/gull"), "position": 1, "events": told}
    assert client.post("/api/events", json=body).json() == {"taken": len(told)}
    assert {name for name, *_ in events(rooms.event_log)} == {t["action"] for t in told}


@pytest.mark.parametrize("header", [{"DNT": "1"}, {"Sec-GPC": "1"}])
def test_who_asks_not_to_be_tracked_is_not(client: TestClient, rooms: AppState, header: dict[str, str]) -> None:
    answered = client.get("/", params={"q": "shore"}, headers=header)
    assert "set-cookie" not in answered.headers
    assert "track.js" not in answered.text
    assert rooms.event_log.db.execute("SELECT count(*) FROM rankings").fetchone() == (0,)


def test_one_switch_turns_it_off_for_all(client: TestClient, rooms: AppState, world: World) -> None:
    rooms.auth_store.set_setting("tracking", "off")
    assert search(client) == ""
    assert client.post("/api/events", json={"events": [{"action": "scroll"}]}).json() == {"taken": 0}
    assert "allow-scripts" not in client.get("/view", params={"url": world.url("/gull")}).text


NONSENSE = [
    b"", b"[]", b"\xff", b'{"events": 1}', b'{"events": [{"action": "steal"}]}',
    b'{"events": [{"action": "key"}' + b', {"action": "key"}' * 101 + b"]}",
]  # fmt: skip


@pytest.mark.parametrize("body", NONSENSE)
def test_nonsense_is_not_taken(client: TestClient, rooms: AppState, body: bytes) -> None:
    search(client)
    assert client.post("/api/events", content=body).status_code == 422
    assert events(rooms.event_log) == []


def test_reports_from_elsewhere_and_for_others_are_refused(client: TestClient, rooms: AppState) -> None:
    query = search(client)
    foreign = client.post("/api/events", json={"events": []}, headers={"sec-fetch-site": "cross-site"})
    assert foreign.status_code == 403
    client.cookies.clear()
    search(client, "gull")
    client.post("/api/events", json={"query_id": query, "events": [{"action": "copy"}]})
    assert rooms.event_log.db.execute("SELECT query_id FROM events").fetchall() == [("",)]
    assert client.post("/api/rating", json={"query_id": query, "found": False}).status_code == 422


def test_not_what_i_was_looking_for_asks_for_more_and_says_so(client: TestClient, rooms: AppState) -> None:
    query = search(client, "sandpiper shore")
    number = client.post("/api/rating", json={"query_id": query, "found": False}).json()["brief"]
    assert [brief.id for brief in list_unmet_queries(rooms.event_log)] == [number]
    assert {raised.signal for raised in rooms.event_log.list_signals()} == {"Low_Rating", "crawl_more"}
    assert "are being looked for" in client.get("/", params={"q": "shore sandpiper"}).text
    complete_unmet_query(rooms.event_log, number, 3, rooms.clock())
    assert "3 new pages" in client.get("/", params={"q": "sandpiper shore"}).text


def test_typing_again_without_opening_anything_counts_as_not_found(client: TestClient, rooms: AppState) -> None:
    search(client, "shore wader")
    search(client, "shore sandpiper")
    assert [brief.query for brief in list_unmet_queries(rooms.event_log)] == ["shore wader"]
    search(client, "something else")
    assert len(list_unmet_queries(rooms.event_log)) == 1


def test_one_visitor_cannot_ask_for_everything(client: TestClient, rooms: AppState) -> None:
    for number in range(12):
        query = search(client, f"unheard{number} of")
        client.post("/api/rating", json={"query_id": query, "found": False})
    assert len(list_unmet_queries(rooms.event_log)) <= 5


def test_everybody_can_have_and_erase_their_own_records(client: TestClient, rooms: AppState) -> None:
    search(client)
    mine = client.get("/privacy/export").text.splitlines()
    assert [json.loads(line)["user_query"] for line in mine] == ["shore"]
    assert client.post("/privacy/erase").status_code == 303
    assert rooms.event_log.db.execute("SELECT count(*) FROM rankings").fetchone() == (0,)
    assert client.get("/privacy/export?all=1").text == ""


def test_what_many_readers_do_changes_the_order_and_is_explained(client: TestClient, rooms: AppState) -> None:
    before = [hit["url"] for hit in client.get("/api/search", params={"q": "wader shore", "log": 0}).json()["hits"]]
    favourite = before[7]
    for _ in range(15):
        client.cookies.clear()
        query = search(client, "wader shore")
        client.get("/view", params={"url": favourite, "qid": query, "p": 8})
        client.post("/api/events", json={"query_id": query, "url": favourite, "events": [{"action": "bookmark"}]})
    MaintenanceThread(rooms).run_maintenance()
    hits = client.get("/api/search", params={"q": "wader shore", "explain": 1, "log": 0}).json()["hits"]
    assert hits[0]["url"] == favourite
    assert hits[0]["parts"]["behaviour"] > 1
    assert "bookmark" in client.get("/stats").text


def test_nothing_is_recorded_and_no_crawl_is_started_until_the_owner_switches_it_on(
    client: TestClient, rooms: AppState
) -> None:
    rooms.auth_store.db.execute("DELETE FROM settings WHERE name IN ('tracking', 'crawl_more')")
    answered = client.get("/", params={"q": "shore wader"})
    client.get("/", params={"q": "shore sandpiper"})
    assert "set-cookie" not in answered.headers
    assert rooms.event_log.db.execute("SELECT count(*) FROM rankings").fetchone() == (0,)
    assert not rooms.should_crawl_unmet
    assert list_unmet_queries(rooms.event_log) == []


def test_recording_alone_lets_no_visitor_ask_for_a_crawl(client: TestClient, rooms: AppState) -> None:
    rooms.auth_store.set_setting("crawl_more", "off")
    query = search(client, "shore wader")
    assert client.post("/api/rating", json={"query_id": query, "found": False}).json() == {"brief": None}
    search(client, "shore sandpiper")
    assert list_unmet_queries(rooms.event_log) == []
