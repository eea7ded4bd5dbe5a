"""The app over a real collection, asked as a browser or a program would."""

import re
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree as xml

import pytest
from starlette.routing import Route
from starlette.testclient import TestClient
from tests.web.conftest import World

from sanderling.changes.feed import ATOM_NAMESPACE
from sanderling.web.app import build_api_routes, build_page_routes
from sanderling.web.openapi import OPENAPI_DOCUMENT
from sanderling.web.state import AppState


def test_results_have_snippets_facets_and_links_to_stored_pages(client: TestClient, world: World) -> None:
    page = client.get("/", params={"q": "gull OR knot"}).text
    assert "<mark>gull</mark>" in page
    assert f"/view?url={quote(world.url('/gull'), safe='/')}" in page
    assert "/?q=gull+OR+knot+type%3Atext" in page


def test_what_a_page_says_is_never_markup_here(client: TestClient) -> None:
    page = client.get("/", params={"q": "knot"}).text
    assert "&lt;b&gt;<mark>knot</mark>&lt;/b&gt;" in page
    assert "<b>" not in page


@pytest.mark.parametrize("text", ['"><script>alert(1)</script>', "'; DROP TABLE x", "\ud800", "a" * 5000, "%00", "🐦"])
def test_no_question_breaks_the_page(client: TestClient, text: str) -> None:
    answer = client.get("/", params={"q": text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")})
    assert answer.status_code == 200
    assert "<script>alert" not in answer.text


def test_the_api_answers_what_its_description_says(client: TestClient) -> None:
    described = set(OPENAPI_DOCUMENT["paths"])
    routes = {route.path for route in build_api_routes() if isinstance(route, Route)}
    assert routes - described == {"/api", "/api/openapi.json", "/metrics"}
    assert client.get("/api/openapi.json").json()["openapi"] == "3.1.0"
    found = client.get("/api/search", params={"q": "tern", "explain": 1}).json()
    hit = found["hits"][0]
    schema = OPENAPI_DOCUMENT["components"]["schemas"]["Hit"]["properties"]
    assert set(hit) == set(schema)
    parts = hit["parts"]
    assert hit["score"] == pytest.approx(parts["text"] * parts["link"] * parts["freshness"] * parts["behaviour"])


def test_every_page_of_the_window_opens(client: TestClient, world: World) -> None:
    for route in build_page_routes():
        assert isinstance(route, Route)
        if route.path in ("/settings", "/logout", "/privacy/erase", "/diff", "/stored/part"):
            continue
        answer = client.get(route.path, params={"url": world.url("/tern")})
        assert answer.status_code == 200, route.path


@pytest.mark.parametrize("path", ["status", "changes", "hosts", "migrants", "due", "briefs", "stats"])
def test_every_part_of_the_window_is_json_too(client: TestClient, path: str) -> None:
    assert client.get(f"/api/{path}").status_code == 200


def test_the_changed_page_has_a_history_and_can_be_compared(client: TestClient, world: World) -> None:
    url = world.url("/tern")
    versions = client.get("/api/history", params={"url": url}).json()
    fetched = [v["visit"] for v in versions if v["outcome"] == "fetched"]
    assert len(fetched) == 2
    page = client.get("/diff", params={"url": url, "old": fetched[1], "new": fetched[0]}).text
    assert re.search(r"<ins>[^<]*hovers", page)
    assert re.search(r"<del>[^<]*", page)
    assert client.get("/diff", params={"url": url}).text == page, "the last two versions, where none are named"
    changed = client.get("/api/changes", params={"kind": "content"}).json()
    assert [c["url"] for c in changed] == [url]
    assert client.get("/api/changes", params={"kind": "media"}).json() == []


def test_changes_can_be_subscribed_to(client: TestClient, world: World) -> None:
    def found(**asked: str) -> list[str | None]:
        answer = client.get("/changes.atom", params=asked)
        assert answer.headers["Content-Type"].startswith("application/atom+xml")
        feed = xml.fromstring(answer.text)
        ids = [
            feed.findtext(f"{{{ATOM_NAMESPACE}}}id"),
            *(one.findtext(f"{{{ATOM_NAMESPACE}}}id") for one in feed.iter(f"{{{ATOM_NAMESPACE}}}entry")),
        ]
        assert all(id_ and re.fullmatch(r"(urn:sanderling:|http://)[!-~]+", id_) for id_ in ids)
        return [link.get("href") for link in feed.iter(f"{{{ATOM_NAMESPACE}}}link")]

    assert found() == found(kind="content") == [world.url("/tern")]
    assert found(kind="media") == found(site="nowhere.example") == []
    assert 'type="application/atom+xml"' in client.get("/changes").text


def test_what_is_not_in_the_api_is_json_too(client: TestClient) -> None:
    answer = client.get("/api/nothing")
    assert (answer.status_code, answer.json()) == (404, {"error": "not found"})


def test_only_the_present_is_found_unless_asked_otherwise(client: TestClient) -> None:
    def found(text: str) -> int:
        return int(client.get("/api/search", params={"q": text}).json()["total"])

    assert (found('"before it dives"'), found('"tern dives"')) == (1, 0)
    assert found('"tern dives" asof:2020-01-01') == 0


def test_what_is_not_there_is_said_so(client: TestClient) -> None:
    assert client.get("/nowhere").status_code == 404
    assert client.get("/view", params={"url": "https://never.example/"}).status_code == 404
    assert client.get("/api/page", params={"url": "no url"}).json() == {"error": "not found"}
    assert client.get("/diff", params={"url": "x", "old": "1", "new": "2"}).status_code == 404


def test_metrics_and_health_are_there_for_machines(client: TestClient) -> None:
    text = client.get("/metrics").text
    assert re.search(r"^sanderling_pages \d+$", text, re.MULTILINE)
    assert 'sanderling_urls{state="visited"}' in text
    assert client.get("/healthz").json()["status"] == "ok"


def test_every_answer_ties_the_browsers_hands(client: TestClient) -> None:
    for path in ("/", "/?q=shore", "/static/app.js", "/api/status", "/nowhere"):
        headers = client.get(path).headers
        assert "script-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_no_page_asks_for_anything_from_elsewhere(client: TestClient, world: World) -> None:
    for path in ("/", "/?q=shore", "/dashboard", "/stats", "/login"):
        loaded = re.findall(r'(?:src|href)="([^"]+)"[^>]*?(?:rel="stylesheet"|defer)', client.get(path).text)
        assert all(address.startswith("/") for address in loaded)
        assert "style=" not in client.get(path).text


def test_served_to_the_world_only_searching_is_open(rooms: AppState, client: TestClient) -> None:
    rooms.is_public = True
    assert client.get("/?q=shore").status_code == 200
    assert client.get("/dashboard").status_code == 303
    assert client.get("/api/status").status_code == 401
    assert client.get("/metrics").status_code == 401
    assert client.get("/api/live").status_code == 401


def test_every_metric_is_documented_and_on_the_grafana_board(client: TestClient) -> None:
    docs = Path(__file__).parents[2] / "docs"
    written, board = (docs / "explanation" / "search.md").read_text(), (docs / "grafana" / "sanderling.json").read_text()
    for name in re.findall(r"^# TYPE (\S+)", client.get("/metrics").text, re.MULTILINE):
        assert name in written
        assert name in board
