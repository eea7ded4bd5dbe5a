from pathlib import Path

from tests.support.site import Page, Site, html

from sanderling.changes.change_store import load_changes
from sanderling.config.settings import HttpSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.session import CrawlRequest, crawl
from sanderling.storage.collection import open_collection_read_only

WORDS = "The tide comes in twice a day and leaves shells and weed behind, and the birds know it well."


def run_crawl(site: Site, folder: Path) -> None:
    request = CrawlRequest(
        (site.root + "/",),
        scope=ScopeSettings(sitemaps=False),
        politeness=PolitenessSettings(delay=0),
        fetching=HttpSettings(allow_private=True),
        workers=WorkerSettings(workers=1),
    )
    crawl(folder, request)


def test_changed_page_is_stored_with_its_kind(tmp_path: Path) -> None:
    pages = {"/": html("/a", "/b", text=WORDS), "/a": html(text=WORDS + " A"), "/b": html(text=WORDS + " B")}
    with Site(pages) as site:
        run_crawl(site, tmp_path)
        site.pages["/a"] = html(text=WORDS + " And something quite different has happened on the beach since then.")
        run_crawl(site, tmp_path)
        site.pages["/a"] = html(text=WORDS + " Nothing else was ever found on that beach again.")
        run_crawl(site, tmp_path)
        with open_collection_read_only(tmp_path) as collection:
            found = list(load_changes(collection.db))
            assert len(found) == 2
            assert all("content" in stored.change.kinds for stored in found)
            assert found[0].seen_at > found[0].previous_at
            assert {stored.url_id for stored in found} == set(
                collection.db.execute("SELECT id FROM urls WHERE path = '/a'").fetchone()
            )


def test_page_with_many_urls_is_not_a_template(tmp_path: Path) -> None:
    links = [f"/a?from={n}" for n in range(8)]
    own = '<link rel="canonical" href="/a"><p>{} {}</p><p>{}</p>'
    for more in ("", "{}"):  # identical copies, and copies with a canonical link
        with Site({"/": html("/a", *links, text=WORDS)}) as site:
            for sentence in ("One more tern came.", "Two more terns came."):
                for n, link in enumerate(("/a", *links)):
                    site.pages[link] = Page(own.format(sentence, more.format(n), WORDS).encode())
                run_crawl(site, tmp_path / f"c{len(more)}")
            with open_collection_read_only(tmp_path / f"c{len(more)}") as collection:
                assert ["content" in stored.change.kinds for stored in load_changes(collection.db)] == [True] * 9
