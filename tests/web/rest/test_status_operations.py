"""Search, and state of the crawl, over HTTP."""

import pytest
from starlette.testclient import TestClient
from tests.web.conftest import CrawledSite


@pytest.mark.parametrize("path", ["status", "hosts", "workers", "due", "unmet-queries", "statistics", "crawls"])
def test_every_list_is_available(api: TestClient, path: str) -> None:
    assert api.get(path).status_code == 200


def test_status_counts_pages(api: TestClient, crawled_site: CrawledSite) -> None:
    status = api.get("status").json()
    assert status["pages"] == status["indexed_pages"] > 10
    assert not status["running"]
    assert status["at"].endswith("Z")


def test_search_explains_scores_only_on_request(api: TestClient) -> None:
    hit = api.get("search", params={"q": "tern"}).json()["hits"][0]
    assert hit["parts"] == {}
    assert hit["visited_at"].endswith("Z")
    explained = api.get("search", params={"q": "tern", "explain": "1"}).json()["hits"][0]
    assert set(explained["parts"]) == {"text", "link", "freshness", "behavior"}
    assert explained["fields"]


def test_due_pages_have_a_time_and_a_reason(api: TestClient) -> None:
    rows = api.get("due", params={"limit": 3}).json()
    assert len(rows) == 3
    assert all(row["reason"] and row["due_at"] for row in rows)
