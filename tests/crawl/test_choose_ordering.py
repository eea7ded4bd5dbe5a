"""Choice of the ordering: requested settings and stored state."""

from pathlib import Path

import pytest
from tests.support.site import Page, Site, html

from sanderling.config.settings import (
    HttpSettings,
    LimitSettings,
    OrderingSettings,
    PolitenessSettings,
    ScopeSettings,
    WorkerSettings,
)
from sanderling.crawl.choose_ordering import parse_ordering_choice
from sanderling.crawl.session import CrawlRequest, CrawlSummary, crawl
from sanderling.errors import UsageError
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.collection_meta import CollectionMeta


def run_crawl(site: Site, folder: Path, order: OrderingSettings, limit: int = 0) -> CrawlSummary:
    request = CrawlRequest(
        seeds=(site.root + "/",),
        scope=ScopeSettings(sitemaps=False),
        limits=LimitSettings(limit=limit),
        politeness=PolitenessSettings(delay=0),
        fetching=HttpSettings(allow_private=True),
        workers=WorkerSettings(workers=1),
        ordering=order,
    )
    return crawl(folder, request)


def two_halves(size: int = 150) -> dict[str, Page]:
    """Build a site of two halves with different topics and neutral URLs."""
    site = {"/": html("/g0", "/v0", text="start")}
    for half, words in (("g", "a garden of roses"), ("v", "vacuum and tables")):
        for n in range(size):
            site[f"/{half}{n}"] = html(*(f"/{half}{m}" for m in range(n + 1, min(size, n + 40))), text=words)
    return site


@pytest.mark.parametrize("name", ["", "fish", "similarity"])
def test_focused_crawl_spends_budget_on_relevant_half(tmp_path: Path, name: str) -> None:
    with Site(two_halves()) as site:
        run_crawl(site, tmp_path, OrderingSettings(order=name, query="vacuum tables"), limit=120)
        assert sum(path.startswith("/v") for path in site.hits) > 75
        run_crawl(site, tmp_path, OrderingSettings(), limit=180)  # the topic is stored
        assert sum(path.startswith("/v") for path in site.hits) > 120
        with open_collection_read_only(tmp_path) as collection:
            assert CollectionMeta(collection.db).ordering == (name or "shark")


def test_topic_is_read_from_sample_text(tmp_path: Path) -> None:
    sample = tmp_path / "sample.txt"
    sample.write_text("How to vacuum: the vacuum reads tables and frees space.")
    with Site(two_halves(80)) as site:
        run_crawl(site, tmp_path / "c", OrderingSettings(like_text=str(sample)), limit=60)
        assert sum(path.startswith("/v") for path in site.hits) > 40


def test_popular_pages_are_first_and_access_logs_are_stored(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    log.write_text(
        "".join(f'8.8.8.8 - - [10/Oct/2025:13:55:36 +0000] "GET /p{n} HTTP/1.1" 200 1\n' for n in range(50, 60))
    )
    with Site({"/": html(*(f"/p{n}" for n in range(100))), **{f"/p{n}": html("/") for n in range(100)}}) as site:
        run_crawl(site, tmp_path / "c", OrderingSettings(order="popularity", access_log=(str(log),)), limit=6)
        log.unlink()
        run_crawl(site, tmp_path / "c", OrderingSettings(), limit=11)
        assert {f"/p{n}" for n in range(50, 60)} <= set(site.hits)


def test_changed_ordering_reranks_queue(tmp_path: Path) -> None:
    with Site(two_halves(20)) as site:
        run_crawl(site, tmp_path, OrderingSettings(order="breadth"), limit=8)
        summary = run_crawl(site, tmp_path, OrderingSettings(order="0.5*pagerank+0.5*opic"))
        assert (summary.finish_reason, summary.pages) == ("done", 41)


@pytest.mark.parametrize(
    ("order", "sentence"),
    [
        (OrderingSettings(order="galaxy"), "unknown ordering 'galaxy'; choose from breadth, depth"),
        (OrderingSettings(order="shark"), "--order shark needs a topic: --query"),
        (OrderingSettings(order="popularity"), "--order popularity needs .*--access-log"),
        (OrderingSettings(query="of the"), "contains no usable word"),
        (OrderingSettings(query="a word", like_text="x"), "only one of them"),
        (OrderingSettings(like_text="/no/such/file"), "cannot read --like-text"),
    ],
)
def test_invalid_ordering_is_rejected_before_crawl(order: OrderingSettings, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        parse_ordering_choice(order)


def test_sitemap_priority_reranks_urls_found_by_links(tmp_path: Path) -> None:
    paths = [f"/p{number}" for number in range(60)]
    pages = {"/": html(*paths), **{path: html("/", text=path) for path in paths}}
    with Site(pages) as site:
        entries = "".join(
            f"<url><loc>{site.root}{path}</loc><priority>{1.0 if path == '/p59' else 0.1}</priority></url>"
            for path in paths
        )
        site.pages["/sitemap.xml"] = Page(f"<urlset>{entries}</urlset>".encode(), headers={"Content-Type": "text/xml"})
        crawl(
            tmp_path,
            CrawlRequest(
                seeds=(site.root + "/",),
                ordering=OrderingSettings(order="sitemap"),
                politeness=PolitenessSettings(delay=0.02),
                fetching=HttpSettings(allow_private=True),
                workers=WorkerSettings(workers=1),
            ),
        )
        asked = [path for path, _ in site.requests if path in paths]
    assert len(asked) == len(paths)
    assert asked.index("/p59") < 40  # after leased URLs; without the sitemap it is last
