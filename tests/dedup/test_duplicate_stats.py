"""Duplicates in numbers, after a crawl."""

from pathlib import Path

from tests.support.site import Site, html

from sanderling.config.settings import Fetching, Memory, Politeness, Scope, Workers
from sanderling.crawl.request import Request
from sanderling.crawl.session import crawl
from sanderling.dedup.duplicate_stats import count
from sanderling.dedup.near_duplicates import near
from sanderling.storage.collection import read_collection
from sanderling.storage.queries import urls_of

PROSE = " ".join(f"sanderling{number} runs beside wave{number * 7}" for number in range(200))


def request(site: Site, memory: Memory) -> Request:
    return Request(
        (site.root + "/",),
        scope=Scope(sitemaps=False),
        politeness=Politeness(delay=0.0),
        fetching=Fetching(allow_private=True),
        workers=Workers(migrants=1),
        memory=memory,
    )


def test_a_crawl_counts_duplicates_of_links_and_of_pages(tmp_path: Path) -> None:
    pages = {
        "/": html("/a", "/b", "/c", "/d"),
        "/a": html("/", "/b", "/c", text=PROSE, head='<link rel="canonical" href="/">'),
        "/b": html("/", "/b", "/c", text=PROSE + " indeed"),
        "/c": html("/", text="copied"),
        "/d": html("/", text="copied"),
    }
    with Site(pages) as site:
        crawl(tmp_path, request(site, Memory(url_cache="lru", url_cache_size=100)))
    with read_collection(tmp_path) as collection:
        found = count(collection.db)
        pairs = [(urls_of(collection.db, [p.url, p.twin])) for p in near(collection.db)]
    assert (found.links, found.links_known) == (4 + 3 + 3 + 1 + 1, 8)
    assert (found.pages_same, found.pages_near, found.pages_elsewhere) == (1, 1, 1)
    assert 0 < found.hit_ratio <= 1
    assert found.link_share == 8 / 12
    assert [sorted(url.rsplit("/", 1)[1] for url in pair.values()) for pair in pairs] == [["a", "b"]]
