"""Pages that no link leads to are found in sitemaps and feeds, by the real crawler."""

from pathlib import Path

from tests.web import Page, Site, html

from sanderling.session import Request, Summary, crawl
from sanderling.settings import Fetching, Politeness, Scope, Workers
from sanderling.store.catalogue import pages
from sanderling.store.collection import read_collection

XML = {"Content-Type": "application/xml"}


def urlset(*entries: str) -> Page:
    return Page(("<urlset>" + "".join(f"<url>{e}</url>" for e in entries) + "</urlset>").encode(), headers=XML)


def go(site: Site, folder: Path, scope: Scope | None = None) -> Summary:
    return crawl(
        folder,
        Request(
            (site.root + "/",),
            scope=scope or Scope(),
            politeness=Politeness(delay=0),
            fetching=Fetching(allow_private=True),
            workers=Workers(migrants=1),
        ),
    )


def found(folder: Path) -> dict[str, str]:
    with read_collection(folder) as collection:
        return {row.url.split("/", 3)[3]: row.source for row in pages(collection.db)}


def test_pages_of_a_sitemap_named_by_robots_txt_are_found(tmp_path: Path) -> None:
    with Site({"/": html(), "/hidden": html(), "/alt": html()}) as site:
        site.pages["/robots.txt"] = Page(f"Sitemap: {site.root}/maps/index.xml".encode())
        site.pages["/maps/index.xml"] = Page(
            f"<sitemapindex><sitemap><loc>{site.root}/maps/one.xml</loc></sitemap></sitemapindex>".encode(), headers=XML
        )
        site.pages["/maps/one.xml"] = urlset(f"<loc>{site.root}/hidden</loc><lastmod>2026-01-01</lastmod>")
        summary = go(site, tmp_path)
        assert found(tmp_path) == {"": "seed", "hidden": "sitemap"}
        assert (summary.pages, summary.fetched, summary.failed) == (2, 2, 0)
        assert site.hits["/sitemap.xml"] == 0
        with read_collection(tmp_path) as collection:
            assert collection.db.execute("SELECT lastmod, whole_day FROM hints").fetchall() == [(1767225600.0, 1)]


def test_well_known_names_are_tried_in_turn(tmp_path: Path) -> None:
    with Site({"/": html(), "/hidden": html()}) as site:
        site.pages["/sitemap.txt"] = Page(f"{site.root}/hidden\n".encode(), headers={"Content-Type": "text/plain"})
        go(site, tmp_path)
        assert found(tmp_path) == {"": "seed", "hidden": "sitemap"}
        assert [site.hits[name] for name in ("/sitemap.xml", "/sitemap_index.xml", "/sitemap.txt")] == [1, 1, 1]


def test_a_feed_that_a_page_names_is_read(tmp_path: Path) -> None:
    head = '<link rel=alternate type="application/rss+xml" href=/feed.rss>'
    with Site({"/": html(head=head), "/post": html()}) as site:
        items = f"<rss version=2.0><channel><item><link>{site.root}/post</link></item></channel></rss>"
        site.pages["/feed.rss"] = Page(items.encode(), headers={"Content-Type": "application/rss+xml"})
        go(site, tmp_path)
        assert found(tmp_path)["post"] == "feed"


def test_a_sitemap_speaks_only_for_its_own_site(tmp_path: Path) -> None:
    with Site({"/": html()}) as site, Site({"/": html(), "/x": html()}) as other:
        site.pages["/sitemap.xml"] = urlset(f"<loc>{other.root}/x</loc>")
        go(site, tmp_path, Scope(scope="any"))
        assert other.hits["/x"] == 0


def test_sitemaps_can_be_left_out(tmp_path: Path) -> None:
    with Site({"/": html(), "/hidden": html()}) as site:
        site.pages["/sitemap.xml"] = urlset(f"<loc>{site.root}/hidden</loc>")
        go(site, tmp_path, Scope(sitemaps=False))
        assert found(tmp_path) == {"": "seed"}
        assert site.hits["/sitemap.xml"] == 0


def test_a_hint_goes_when_its_entry_goes(tmp_path: Path) -> None:
    with Site({"/": html("/a", "/b"), "/a": html(), "/b": html()}) as site:
        site.pages["/sitemap.xml"] = urlset(f"<loc>{site.root}/a</loc>", f"<loc>{site.root}/b</loc>")
        go(site, tmp_path)
        site.pages["/sitemap.xml"] = urlset(f"<loc>{site.root}/b</loc>")
        go(site, tmp_path)
        with read_collection(tmp_path) as collection:
            assert collection.db.execute("SELECT count(*) FROM hints").fetchone() == (1,)
