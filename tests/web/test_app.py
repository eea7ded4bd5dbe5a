"""Pages and API of the application for a real collection."""

import re
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

import pytest
from starlette.routing import Route
from starlette.testclient import TestClient
from tests.web.conftest import CrawledSite

from sanderling.api.reports.crawl_view import CollectionCrawlView
from sanderling.changes.feed import ATOM_NAMESPACE
from sanderling.web.app import build_page_routes
from sanderling.web.rest.routes import OPENAPI_DOCUMENT, build_rest_routes
from sanderling.web.state import AppState


def test_results_have_snippets_facets_and_links_to_stored_pages(client: TestClient, crawled_site: CrawledSite) -> None:
    page = client.get("/", params={"q": "gull OR knot"}).text
    assert "<mark>gull</mark>" in page
    assert f"/view?url={quote(crawled_site.url('/gull'), safe='/')}" in page
    assert "/?q=gull+OR+knot+type%3Atext" in page


def test_page_text_is_escaped(client: TestClient) -> None:
    page = client.get("/", params={"q": "knot"}).text
    assert "&lt;b&gt;<mark>knot</mark>&lt;/b&gt;" in page
    assert "<b>" not in page


@pytest.mark.parametrize("text", ['"><script>alert(1)</script>', "'; DROP TABLE x", "\ud800", "a" * 5000, "%00", "🐦"])
def test_any_query_is_rendered_safely(client: TestClient, text: str) -> None:
    answer = client.get("/", params={"q": text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")})
    assert answer.status_code == 200
    assert "<script>alert" not in answer.text


def test_api_matches_its_description(client: TestClient) -> None:
    described = set(OPENAPI_DOCUMENT["paths"])
    routes = {route.path.replace(":str}", "}") for route in build_rest_routes() if isinstance(route, Route)}
    assert routes - described == {"/api", "/api/openapi.json", "/api/v1/openapi.json"}
    assert client.get("/api").headers["location"] == "/api/v1/openapi.json"
    assert client.get("/api/v1/openapi.json").json()["openapi"] == "3.1.0"
    found = client.get("/api/v1/search", params={"q": "tern", "explain": 1}).json()
    hit = found["hits"][0]
    schema = OPENAPI_DOCUMENT["components"]["schemas"]["Hit"]["properties"]
    assert set(hit) == set(schema)
    parts = hit["parts"]
    assert hit["score"] == pytest.approx(parts["text"] * parts["link"] * parts["freshness"] * parts["behavior"])


def test_every_page_opens(client: TestClient, crawled_site: CrawledSite) -> None:
    for route in build_page_routes():
        assert isinstance(route, Route)
        if route.path in ("/settings", "/logout", "/privacy/erase", "/diff", "/stored/part", "/stored/screenshot"):
            continue
        answer = client.get(route.path, params={"url": crawled_site.url("/tern")})
        assert answer.status_code == 200, route.path


def test_changed_page_has_history_and_diff(client: TestClient, crawled_site: CrawledSite) -> None:
    url = crawled_site.url("/tern")
    fetched = [v.visit for v in CollectionCrawlView(crawled_site.folder).list_visits(url, 10) if v.outcome == "fetched"]
    assert len(fetched) == 2
    page = client.get("/diff", params={"url": url, "old": fetched[1], "new": fetched[0]}).text
    assert re.search(r"<ins>[^<]*hovers", page)
    assert re.search(r"<del>[^<]*", page)
    assert client.get("/diff", params={"url": url}).text == page, "the last two versions are the default"


def test_change_feed_is_valid_atom(client: TestClient, crawled_site: CrawledSite) -> None:
    def fetch_links(**filters: str) -> list[str | None]:
        answer = client.get("/changes.atom", params=filters)
        assert answer.headers["Content-Type"].startswith("application/atom+xml")
        feed = ElementTree.fromstring(answer.text)
        ids = [
            feed.findtext(f"{{{ATOM_NAMESPACE}}}id"),
            *(entry.findtext(f"{{{ATOM_NAMESPACE}}}id") for entry in feed.iter(f"{{{ATOM_NAMESPACE}}}entry")),
        ]
        assert all(id_ and re.fullmatch(r"(urn:sanderling:|http://)[!-~]+", id_) for id_ in ids)
        return [link.get("href") for link in feed.iter(f"{{{ATOM_NAMESPACE}}}link")]

    assert fetch_links() == fetch_links(kind="content") == [crawled_site.url("/tern")]
    assert fetch_links(kind="media") == fetch_links(site="nowhere.example") == []
    assert 'type="application/atom+xml"' in client.get("/changes").text


def test_unknown_api_path_returns_json(client: TestClient) -> None:
    answer = client.get("/api/nothing")
    assert (answer.status_code, answer.json()) == (404, {"error": "not found"})


def test_only_current_versions_are_found_by_default(client: TestClient) -> None:
    def count(text: str) -> int:
        return int(client.get("/api/v1/search", params={"q": text}).json()["total"])

    assert (count('"before it dives"'), count('"tern dives"')) == (1, 0)
    assert count('"tern dives" asof:2020-01-01') == 0


def test_unknown_pages_return_404(client: TestClient) -> None:
    assert client.get("/nowhere").status_code == 404
    assert client.get("/view", params={"url": "https://never.example/"}).status_code == 404
    assert client.get("/diff", params={"url": "x", "old": "1", "new": "2"}).status_code == 404


def test_metrics_and_health_check(client: TestClient) -> None:
    text = client.get("/metrics").text
    assert re.search(r"^sanderling_pages \d+$", text, re.MULTILINE)
    assert 'sanderling_urls{state="visited"}' in text
    assert client.get("/healthz").json()["status"] == "ok"


def test_every_response_has_security_headers(client: TestClient) -> None:
    for path in ("/", "/?q=shore", "/static/app.js", "/api/v1/status", "/nowhere"):
        headers = client.get(path).headers
        assert "script-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_pages_load_no_external_resources(client: TestClient, crawled_site: CrawledSite) -> None:
    for path in ("/", "/?q=shore", "/dashboard", "/stats", "/login"):
        loaded = re.findall(r'(?:src|href)="([^"]+)"[^>]*?(?:rel="stylesheet"|defer)', client.get(path).text)
        assert all(address.startswith("/") for address in loaded)
        assert "style=" not in client.get(path).text


def test_public_server_allows_only_search_without_login(app_state: AppState, client: TestClient) -> None:
    app_state.is_public = True
    assert client.get("/?q=shore").status_code == 200
    assert client.get("/dashboard").status_code == 303
    assert client.get("/api/v1/status").status_code == 401
    assert client.get("/metrics").status_code == 401
    assert client.get("/api/live").status_code == 401


def test_every_metric_is_documented_and_in_grafana(client: TestClient) -> None:
    docs = Path(__file__).parents[2] / "docs"
    documentation, dashboard = (
        (docs / "explanation" / "search.md").read_text(),
        (docs / "grafana" / "sanderling.json").read_text(),
    )
    for name in re.findall(r"^# TYPE (\S+)", client.get("/metrics").text, re.MULTILINE):
        assert name in documentation
        assert name in dashboard
