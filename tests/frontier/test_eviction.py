"""Who leaves a collection that is full."""

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


def go(site: Site, folder: Path, keep: int, order: OrderingSettings | None = None, limit: int = 0) -> CrawlSummary:
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


def kept(folder: Path) -> set[str]:
    with open_collection_read_only(folder) as collection:
        return {"/" + row.url.split("/", 3)[3] for row in load_pages(collection.db)}


def left(folder: Path) -> dict[str, str]:
    with open_collection_read_only(folder) as collection:
        rows = load_skipped_urls(collection.db, "u.reason = 'evicted'")
        return {"/" + row.url.split("/", 3)[3]: row.detail for row in rows}


def famous(size: int = 120, best: int = 10) -> dict[str, Page]:
    """Many pages in a row of lists; all of them link to the last ten, which are found late."""
    stars = [f"/p{n}" for n in range(size - best, size)]
    site = {"/": html(*(f"/p{n}" for n in range(30)))}
    for n in range(size):
        onward = [f"/p{m}" for m in range(4 * n, 4 * n + 4) if m < size]
        site[f"/p{n}"] = html(*onward, *(stars if n >= 20 else ()), text=f"page {n}")
    return site


def test_the_best_pages_stay_and_the_record_says_why_others_left(tmp_path: Path) -> None:
    with Site(famous()) as site:
        summary = go(site, tmp_path, keep=30)
    assert summary.pages == 30
    assert summary.evicted > 0
    stars = {f"/p{n}" for n in range(110, 120)}
    assert stars <= kept(tmp_path)
    gone = left(tmp_path)
    assert len(gone) == summary.evicted
    assert not kept(tmp_path) & set(gone)
    assert all("the worst of 30 pages kept" in detail for detail in gone.values())


def test_what_is_no_better_is_not_even_fetched(tmp_path: Path) -> None:
    with Site(tree(400, fan=3)) as site:
        summary = go(site, tmp_path, keep=40, order=OrderingSettings(order="breadth"))
        assert summary.finish_reason == "done"
        assert summary.pages == 40
        assert sum(site.hits.values()) < 200
    with open_collection_read_only(tmp_path) as collection:
        assert any(True for _ in load_skipped_urls(collection.db, "u.reason = 'limit'"))
        assert max(row.depth for row in load_pages(collection.db)) <= 4


@pytest.mark.parametrize("name", ["depth", "pvalue", "coverage", "opic", "hits", "sitemap", "0.5*opic+0.5*breadth"])
def test_every_ordering_keeps_so_many_and_no_more(tmp_path: Path, name: str) -> None:
    with Site(famous(80)) as site:
        assert go(site, tmp_path, keep=25, order=OrderingSettings(order=name)).pages == 25


def test_a_focused_collection_keeps_the_relevant_pages(tmp_path: Path) -> None:
    site_pages = {"/": html(*(f"/p{n}" for n in range(60)))}
    site_pages |= {f"/p{n}": html("/", text="vacuum tables" if n % 6 == 0 else "roses") for n in range(60)}
    with Site(site_pages) as site:
        go(site, tmp_path, keep=10, order=OrderingSettings(query="vacuum tables"))
    assert kept(tmp_path) == {f"/p{n}" for n in range(0, 60, 6)}


def test_a_larger_size_brings_pages_back_and_no_size_brings_all(tmp_path: Path) -> None:
    with Site(tree(60, fan=5)) as site:
        assert go(site, tmp_path, keep=20).pages == 20
        assert go(site, tmp_path, keep=35).pages == 35
        assert go(site, tmp_path, keep=0).pages == 60


def test_what_left_is_found_no_more_but_its_history_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site(famous()) as site:
        go(site, tmp_path, keep=0, limit=60)
        update_index(tmp_path)
        before = kept(tmp_path)
        go(site, tmp_path, keep=30)
        update_index(tmp_path)
        gone = sorted(before & set(left(tmp_path)))
        index = open_search_index(tmp_path / "index", write=False)
        assert index is not None
        assert gone
        assert all(index.get(site.root + path) is None for path in gone)
        assert all(index.get(site.root + path) is not None for path in kept(tmp_path))
        index.close()
        assert main(["history", site.root + gone[0], "-C", str(tmp_path)]) == 0
        assert "evicted" in capsys.readouterr().out
