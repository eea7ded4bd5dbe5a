"""Eviction from a collection of limited size."""

from pathlib import Path

import pytest
from tests.support.site import Page, Site, html, tree

from sanderling.cli import main
from sanderling.config.settings import (
    HttpSettings,
    LimitSettings,
    OrderingSettings,
    PolitenessSettings,
    ScopeSettings,
    WorkerSettings,
)
from sanderling.crawl.session import CrawlRequest, CrawlSummary, crawl
from sanderling.search.index import open_search_index
from sanderling.search.indexer import update_index
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import load_pages, load_skipped_urls


def run_crawl(
    site: Site, folder: Path, keep: int, order: OrderingSettings | None = None, limit: int = 0
) -> CrawlSummary:
    request = CrawlRequest(
        seeds=(site.root + "/",),
        scope=ScopeSettings(sitemaps=False),
        limits=LimitSettings(keep=keep, limit=limit),
        politeness=PolitenessSettings(delay=0),
        fetching=HttpSettings(allow_private=True),
        workers=WorkerSettings(workers=1),
        ordering=order or OrderingSettings(),
    )
    return crawl(folder, request)


def load_kept_paths(folder: Path) -> set[str]:
    with open_collection_read_only(folder) as collection:
        return {"/" + row.url.split("/", 3)[3] for row in load_pages(collection.db)}


def load_evicted_details(folder: Path) -> dict[str, str]:
    with open_collection_read_only(folder) as collection:
        rows = load_skipped_urls(collection.db, "u.reason = 'evicted'")
        return {"/" + row.url.split("/", 3)[3]: row.detail for row in rows}


def build_site(size: int = 120, best: int = 10) -> dict[str, Page]:
    """Return a site whose pages all link to its last ten pages, which are found late."""
    popular = [f"/p{n}" for n in range(size - best, size)]
    site = {"/": html(*(f"/p{n}" for n in range(30)))}
    for n in range(size):
        children = [f"/p{m}" for m in range(4 * n, 4 * n + 4) if m < size]
        site[f"/p{n}"] = html(*children, *(popular if n >= 20 else ()), text=f"page {n}")
    return site


def test_best_pages_stay_and_evictions_have_a_reason(tmp_path: Path) -> None:
    with Site(build_site()) as site:
        summary = run_crawl(site, tmp_path, keep=30)
    assert summary.pages == 30
    assert summary.evicted > 0
    popular = {f"/p{n}" for n in range(110, 120)}
    assert popular <= load_kept_paths(tmp_path)
    evicted = load_evicted_details(tmp_path)
    assert len(evicted) == summary.evicted
    assert not load_kept_paths(tmp_path) & set(evicted)
    assert all("the worst of 30 pages kept" in detail for detail in evicted.values())


def test_urls_below_the_cutoff_are_not_fetched(tmp_path: Path) -> None:
    with Site(tree(400, fan=3)) as site:
        summary = run_crawl(site, tmp_path, keep=40, order=OrderingSettings(order="breadth"))
        assert summary.finish_reason == "done"
        assert summary.pages == 40
        assert sum(site.hits.values()) < 200
    with open_collection_read_only(tmp_path) as collection:
        assert any(True for _ in load_skipped_urls(collection.db, "u.reason = 'limit'"))
        assert max(row.depth for row in load_pages(collection.db)) <= 4


@pytest.mark.parametrize("name", ["depth", "pvalue", "coverage", "opic", "hits", "sitemap", "0.5*opic+0.5*breadth"])
def test_every_ordering_respects_the_limit(tmp_path: Path, name: str) -> None:
    with Site(build_site(80)) as site:
        assert run_crawl(site, tmp_path, keep=25, order=OrderingSettings(order=name)).pages == 25


def test_focused_collection_keeps_relevant_pages(tmp_path: Path) -> None:
    site_pages = {"/": html(*(f"/p{n}" for n in range(60)))}
    site_pages |= {f"/p{n}": html("/", text="vacuum tables" if n % 6 == 0 else "roses") for n in range(60)}
    with Site(site_pages) as site:
        run_crawl(site, tmp_path, keep=10, order=OrderingSettings(query="vacuum tables"))
    assert load_kept_paths(tmp_path) == {f"/p{n}" for n in range(0, 60, 6)}


def test_larger_limit_readmits_pages(tmp_path: Path) -> None:
    with Site(tree(60, fan=5)) as site:
        assert run_crawl(site, tmp_path, keep=20).pages == 20
        assert run_crawl(site, tmp_path, keep=35).pages == 35
        assert run_crawl(site, tmp_path, keep=0).pages == 60


def test_evicted_pages_leave_the_index_but_keep_their_history(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Site(build_site()) as site:
        run_crawl(site, tmp_path, keep=0, limit=60)
        update_index(tmp_path)
        before = load_kept_paths(tmp_path)
        run_crawl(site, tmp_path, keep=30)
        update_index(tmp_path)
        evicted = sorted(before & set(load_evicted_details(tmp_path)))
        index = open_search_index(tmp_path / "index", write=False)
        assert index is not None
        assert evicted
        assert all(index.get(site.root + path) is None for path in evicted)
        assert all(index.get(site.root + path) is not None for path in load_kept_paths(tmp_path))
        index.close()
        assert main(["history", site.root + evicted[0], "-C", str(tmp_path)]) == 0
        assert "evicted" in capsys.readouterr().out
