"""Duplicate statistics of a crawl."""

from pathlib import Path

from tests.support.site import Site, html

from sanderling.config.settings import HttpSettings, PolitenessSettings, ScopeSettings, UrlCacheSettings, WorkerSettings
from sanderling.crawl.request import CrawlRequest
from sanderling.crawl.session import crawl
from sanderling.dedup.duplicate_stats import load_duplicate_stats
from sanderling.dedup.near_duplicates import load_pairs
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import load_urls

PROSE = " ".join(f"sanderling{number} runs along wave{number * 7}" for number in range(200))


def build_request(site: Site, memory: UrlCacheSettings) -> CrawlRequest:
    return CrawlRequest(
        (site.root + "/",),
        scope=ScopeSettings(sitemaps=False),
        politeness=PolitenessSettings(delay=0.0),
        fetching=HttpSettings(allow_private=True),
        workers=WorkerSettings(workers=1),
        memory=memory,
    )


def test_crawl_counts_known_links_and_duplicate_pages(tmp_path: Path) -> None:
    pages = {
        "/": html("/a", "/b", "/c", "/d"),
        "/a": html("/", "/b", "/c", text=PROSE, head='<link rel="canonical" href="/">'),
        "/b": html("/", "/b", "/c", text=PROSE + " indeed"),
        "/c": html("/", text="copied"),
        "/d": html("/", text="copied"),
    }
    with Site(pages) as site:
        crawl(tmp_path, build_request(site, UrlCacheSettings(url_cache="lru", url_cache_size=100)))
    with open_collection_read_only(tmp_path) as collection:
        stats = load_duplicate_stats(collection.db)
        pairs = [(load_urls(collection.db, [p.url, p.duplicate_of])) for p in load_pairs(collection.db)]
    assert (stats.links, stats.known_links) == (4 + 3 + 3 + 1 + 1, 8)
    assert (stats.identical_pages, stats.near_duplicate_pages, stats.noncanonical_pages) == (1, 1, 1)
    assert 0 < stats.cache_hit_ratio <= 1
    assert stats.known_link_share == 8 / 12
    assert [sorted(url.rsplit("/", 1)[1] for url in pair.values()) for pair in pairs] == [["a", "b"]]
