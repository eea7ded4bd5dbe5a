"""Sitemaps and feeds: pages that no link leads to."""

from pathlib import Path

import pytest
from tests.support.site import Page, Site, html, redirect, tree

import sanderling
from sanderling import Settings
from sanderling.config.settings import HttpSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.session import CrawlRequest, CrawlSummary, crawl
from sanderling.crawl.stages.sitemaps import WELL_KNOWN_PATHS
from sanderling.discovery.entry_types import MAX_INDEX_DEPTH
from sanderling.storage.collection import open_collection, open_collection_read_only
from sanderling.storage.collection_meta import CollectionMeta
from sanderling.storage.queries import load_pages, load_skipped_urls

XML = {"Content-Type": "application/xml"}


def urlset(*entries: str) -> Page:
    return Page(("<urlset>" + "".join(f"<url>{e}</url>" for e in entries) + "</urlset>").encode(), headers=XML)


def run_crawl(site: Site, folder: Path, scope: ScopeSettings | None = None) -> CrawlSummary:
    return crawl(
        folder,
        CrawlRequest(
            (site.root + "/",),
            scope=scope or ScopeSettings(),
            politeness=PolitenessSettings(delay=0),
            fetching=HttpSettings(allow_private=True),
            workers=WorkerSettings(workers=1),
        ),
    )


def load_sources(folder: Path) -> dict[str, str]:
    with open_collection_read_only(folder) as collection:
        return {row.url.split("/", 3)[3]: row.source for row in load_pages(collection.db)}


def load_skipped(folder: Path) -> dict[str, tuple[str, str, str]]:
    with open_collection_read_only(folder) as collection:
        return {row.url: (row.reason, row.source, row.referrer) for row in load_skipped_urls(collection.db)}


def test_sitemap_named_by_robots_txt_is_read(tmp_path: Path) -> None:
    with Site({"/": html(), "/hidden": html(), "/alt": html()}) as site:
        site.pages["/robots.txt"] = Page(f"Sitemap: {site.root}/maps/index.xml".encode())
        site.pages["/maps/index.xml"] = Page(
            f"<sitemapindex><sitemap><loc>{site.root}/maps/one.xml</loc></sitemap></sitemapindex>".encode(), headers=XML
        )
        site.pages["/maps/one.xml"] = urlset(f"<loc>{site.root}/hidden</loc><lastmod>2026-01-01</lastmod>")
        summary = run_crawl(site, tmp_path)
        assert load_sources(tmp_path) == {"": "seed", "hidden": "sitemap"}
        assert (summary.pages, summary.fetched, summary.failed) == (2, 2, 0)
        assert site.hits["/sitemap.xml"] == 0
        with open_collection_read_only(tmp_path) as collection:
            assert collection.db.execute("SELECT lastmod, whole_day FROM sitemap_hints").fetchall() == [
                (1767225600.0, 1)
            ]


def test_well_known_sitemap_paths_are_tried_in_order(tmp_path: Path) -> None:
    with Site({"/": html(), "/hidden": html()}) as site:
        site.pages["/sitemap.txt"] = Page(f"{site.root}/hidden\n".encode(), headers={"Content-Type": "text/plain"})
        run_crawl(site, tmp_path)
        assert load_sources(tmp_path) == {"": "seed", "hidden": "sitemap"}
        assert [site.hits[name] for name in ("/sitemap.xml", "/sitemap_index.xml", "/sitemap.txt")] == [1, 1, 1]


def test_small_site_is_asked_for_one_well_known_path_once(tmp_path: Path) -> None:
    with Site(tree(18)) as site:
        for _ in range(2):
            run_crawl(site, tmp_path)
            site.pages["/p1"] = html("/", text="new")
        refresh(tmp_path, every_page=True)
        guessed = {path: site.hits[path] for path in WELL_KNOWN_PATHS if site.hits[path]}
        assert (guessed, site.hits["/p1"]) == ({"/sitemap.xml": 1}, 3)
        site.pages["/robots.txt"] = Page(f"Sitemap: {site.root}/sitemap.xml".encode())
        site.pages["/sitemap.xml"] = urlset(f"<loc>{site.root}/hidden</loc>")
        site.pages["/hidden"] = html()
        delete_robots(tmp_path)
        refresh(tmp_path, every_page=True)
        assert site.hits["/hidden"] == 1, "a path that was missing is read when robots.txt names it"


def test_large_site_is_asked_for_the_other_paths_among_its_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sanderling.crawl.stages.sitemaps.PAGES_PER_PATH", 5)
    with Site(tree(20)) as site:
        for _ in WELL_KNOWN_PATHS:  # a path is tried when the one before it was answered
            run_crawl(site, tmp_path)
        assert [site.hits[path] for path in WELL_KNOWN_PATHS] == [1] * len(WELL_KNOWN_PATHS)


def delete_robots(folder: Path) -> None:
    with open_collection(folder) as collection:
        collection.db.execute("UPDATE hosts SET robots_until = 0")


def refresh(folder: Path, *, every_page: bool) -> None:
    with sanderling.open(folder, Settings(allow_private=True, delay=0, workers=1)) as collection:
        collection.refresh(every_page=every_page).wait()


def test_feed_linked_from_page_is_read(tmp_path: Path) -> None:
    head = '<link rel=alternate type="application/rss+xml" href=/feed.rss>'
    with Site({"/": html(head=head), "/post": html()}) as site:
        items = f"<rss version=2.0><channel><item><link>{site.root}/post</link></item></channel></rss>"
        site.pages["/feed.rss"] = Page(items.encode(), headers={"Content-Type": "application/rss+xml"})
        run_crawl(site, tmp_path)
        assert load_sources(tmp_path)["post"] == "feed"


def test_sitemap_may_list_only_its_own_site(tmp_path: Path) -> None:
    with Site({"/": html()}) as site, Site({"/": html(), "/x": html()}) as other:
        site.pages["/sitemap.xml"] = urlset(f"<loc>{other.root}/x</loc>")
        run_crawl(site, tmp_path, ScopeSettings(scope="any"))
        assert other.hits["/x"] == 0
        assert load_skipped(tmp_path) == {f"{other.root}/x": ("foreign_sitemap", "sitemap", f"{site.root}/sitemap.xml")}


def test_foreign_sitemap_entry_is_fetched_if_linked(tmp_path: Path) -> None:
    with Site({"/": html("/late"), "/late": html()}) as site, Site({"/x": html()}) as other:
        site.pages["/sitemap.xml"] = urlset(f"<loc>{other.root}/x</loc>")
        site.pages["/late"] = html(f"{other.root}/x")
        run_crawl(site, tmp_path, ScopeSettings(scope="any"))
        assert other.hits["/x"] == 1
        assert f"{other.root}/x" not in load_skipped(tmp_path)


def test_foreign_sitemap_entry_stays_foreign_in_wider_scope(tmp_path: Path) -> None:
    with Site({"/": html()}) as site, Site({"/x": html(), "/y": html()}) as other:
        site.pages["/"] = html(f"{other.root}/y")
        site.pages["/sitemap.xml"] = urlset(f"<loc>{other.root}/x</loc>", f"<loc>{other.root}/y</loc>")
        run_crawl(site, tmp_path)
        assert {reason for reason, _, _ in load_skipped(tmp_path).values()} == {"out_of_scope"}
        run_crawl(site, tmp_path, ScopeSettings(scope="any"))
        assert (other.hits["/x"], other.hits["/y"]) == (0, 1)
        assert load_skipped(tmp_path)[f"{other.root}/x"][0] == "foreign_sitemap"


def test_recorded_foreign_sitemap_entries_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sanderling.frontier.url_filter.MAX_RECORDED_SKIPS", 10)
    with Site({"/": html()}) as site:
        site.pages["/sitemap.xml"] = urlset(*[f"<loc>http://h{n}.example/</loc>" for n in range(30)])
        run_crawl(site, tmp_path)
        assert len(load_skipped(tmp_path)) == 10
        with open_collection_read_only(tmp_path) as collection:
            assert CollectionMeta(collection.db).unrecorded_skips == 20


def test_too_long_sitemap_entry_is_skipped_with_reason(tmp_path: Path) -> None:
    with Site({"/": html()}) as site:
        site.pages["/sitemap.xml"] = urlset(f"<loc>{site.root}/{'a' * 3000}</loc>")
        run_crawl(site, tmp_path)
        ((url, (reason, _, _)),) = load_skipped(tmp_path).items()
        assert (len(url), reason) == (2084, "too_long")


def test_sitemap_redirects_of_later_runs_are_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sanderling.crawl.stages.redirects.MAX_HOPS", 3)
    monkeypatch.setattr("sanderling.crawl.stages.discovered_urls.MAX_HOPS", 3)
    with Site({"/": html()}) as site:
        site.pages["/robots.txt"] = Page(f"Sitemap: {site.root}/m0.xml".encode())
        for number in range(7):
            index = f"<sitemapindex><sitemap><loc>{site.root}/c{number}.xml</loc></sitemap></sitemapindex>"
            site.pages[f"/m{number - 1}.xml"] = redirect(f"/m{number}.xml", 301)
            site.pages[f"/m{number}.xml"] = Page(index.encode(), headers=XML)
            site.pages[f"/c{number}.xml"] = urlset(f"<loc>{site.root}/p{number}</loc>")
            site.pages[f"/p{number}"] = html(text=f"page {number}")
            run_crawl(site, tmp_path)
        assert load_sources(tmp_path).keys() == {"", *(f"p{number}" for number in range(7))}


def test_sitemap_index_depth_is_limited(tmp_path: Path) -> None:
    with Site({"/": html(), "/deep": html()}) as site:
        site.pages["/robots.txt"] = Page(f"Sitemap: {site.root}/m0.xml".encode())
        for number in range(9):  # each redirects first
            index = f"<sitemapindex><sitemap><loc>{site.root}/m{number + 1}.xml</loc></sitemap></sitemapindex>"
            site.pages[f"/m{number}.xml"] = redirect(f"/moved{number}.xml")
            site.pages[f"/moved{number}.xml"] = Page(index.encode(), headers=XML)
        run_crawl(site, tmp_path)
        asked = [path for path in site.hits if path.startswith("/moved")]
        assert asked == [f"/moved{number}.xml" for number in range(MAX_INDEX_DEPTH + 1)]


def test_sitemaps_can_be_disabled(tmp_path: Path) -> None:
    with Site({"/": html(), "/hidden": html()}) as site:
        site.pages["/sitemap.xml"] = urlset(f"<loc>{site.root}/hidden</loc>")
        run_crawl(site, tmp_path, ScopeSettings(sitemaps=False))
        assert load_sources(tmp_path) == {"": "seed"}
        assert site.hits["/sitemap.xml"] == 0


def test_hint_is_deleted_with_sitemap_entry(tmp_path: Path) -> None:
    with Site({"/": html("/a", "/b"), "/a": html(), "/b": html()}) as site:
        site.pages["/sitemap.xml"] = urlset(f"<loc>{site.root}/a</loc>", f"<loc>{site.root}/b</loc>")
        run_crawl(site, tmp_path)
        site.pages["/sitemap.xml"] = urlset(f"<loc>{site.root}/b</loc>")
        run_crawl(site, tmp_path)
        with open_collection_read_only(tmp_path) as collection:
            assert collection.db.execute("SELECT count(*) FROM sitemap_hints").fetchone() == (1,)
