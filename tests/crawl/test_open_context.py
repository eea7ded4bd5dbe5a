"""Wiring of the crawl context: every component uses the same ordering."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.site import Site, html

from sanderling.config.settings import HttpSettings, OrderingSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl import open_context
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.request import CrawlRequest
from sanderling.crawl.session import crawl
from sanderling.errors import DatabaseUnavailable
from sanderling.frontier.ordering.persistence import BLOB_NAME
from sanderling.storage.collection import open_collection_read_only
from sanderling.templates.driven_crawl import find_on_web
from sanderling.templates.driven_ordering import DrivenOrdering
from sanderling.templates.page_features import PageView
from sanderling.templates.sample_pages import Sample


def build_request(site: Site, order: str = "") -> CrawlRequest:
    return CrawlRequest(
        (site.root + "/",),
        scope=ScopeSettings(sitemaps=False),
        politeness=PolitenessSettings(delay=0.0),
        fetching=HttpSettings(allow_private=True),
        workers=WorkerSettings(workers=1),
        ordering=OrderingSettings(order=order),
    )


def crawl_driven(folder: Path, site: Site) -> Coordinator:
    """Crawl into an existing collection towards pages that are built like a sample page."""
    started: list[Coordinator] = []
    sample = Sample(PageView(0, site.root + "/a", "a", bytes(range(1, 17))))
    find_on_web(folder, build_request(site), [sample], 5, 5, on_start=started.append)
    return started[0]


@pytest.fixture
def site() -> Site:
    return Site({"/": html("/a", "/b", "/c"), "/a": html("/b", text="a"), "/b": html("/c"), "/c": html("/")})


def test_driven_crawl_uses_one_ordering_in_every_component(tmp_path: Path, site: Site) -> None:
    with site:
        crawl(tmp_path, build_request(site, "larger-sites"))
        context = crawl_driven(tmp_path, site).context
    assert isinstance(context.ordering, DrivenOrdering)
    assert context.frontier.queue.host_preference is context.ordering.host_preference


def test_driven_crawl_keeps_saved_state_of_collection_ordering(tmp_path: Path, site: Site) -> None:
    def load_state() -> bytes:
        with open_collection_read_only(tmp_path) as collection:
            (state,) = collection.db.execute("SELECT value FROM blobs WHERE name = ?", (BLOB_NAME,)).fetchone()
        return bytes(state)

    with site:
        crawl(tmp_path, build_request(site, "backlinks"))
        before = load_state()
        crawl_driven(tmp_path, site)
    assert load_state() == before


def test_an_unavailable_database_is_reported_with_what_happens_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    outcomes: Iterator[DatabaseUnavailable | str] = iter([DatabaseUnavailable("connection refused"), "done"])
    monkeypatch.setattr(open_context, "has_collection", lambda _folder: True)
    monkeypatch.setattr(open_context, "read_database_url", lambda _folder: "postgresql://db/crawl")
    monkeypatch.setattr(open_context, "_wait_for_store", lambda _store: None)

    def attempt() -> str:
        outcome = next(outcomes)
        if isinstance(outcome, DatabaseUnavailable):
            raise outcome
        return outcome

    assert open_context.run_with_store_retries(tmp_path, "postgresql://db/crawl", attempt) == "done"
    unavailable, available = (record.getMessage() for record in caplog.records)
    assert "database unavailable since" in unavailable
    assert "connection refused" in unavailable
    assert "retrying for 5 minutes, then the crawl stops with exit code 17" in unavailable
    assert "available again" in available
