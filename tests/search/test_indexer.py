"""The index follows a real crawl, whatever happens in between."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.site import Page, Site, html

from sanderling.config.settings import HttpSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.session import CrawlRequest, crawl
from sanderling.search.document import build_document
from sanderling.search.engine import SearchEngine
from sanderling.search.index import open_search_index
from sanderling.search.indexer import open_indexer, update_index
from sanderling.search.search_types import Document, SearchRequest, SearchResults
from sanderling.warc.warc_reader import StoredRecord

LATER = 4e9
PAGES = {
    "/": html("/gull", "/tern", "/hidden", "/copy", text="shore birds"),
    "/gull": html("/", text="the gull eats everything"),
    "/tern": html("/", text="the tern dives for fish"),
    "/copy": html("/", text="the tern dives for fish"),
    "/hidden": html("/", text="a secret plover", head="<meta name=robots content=noindex>"),
}


def go(site: Site, folder: Path, agent: str = "") -> None:
    crawl(
        folder,
        CrawlRequest(
            seeds=(site.root + "/",),
            scope=ScopeSettings(sitemaps=False),
            politeness=PolitenessSettings(delay=0, user_agent=agent),
            fetching=HttpSettings(allow_private=True),
            workers=WorkerSettings(workers=1),
        ),
    )


def search(folder: Path, text: str) -> SearchResults:
    index = open_search_index(folder / "index", write=False)
    assert index is not None
    return SearchEngine(index).search(SearchRequest(text, now=LATER))


def paths(results: SearchResults) -> set[str]:
    return {"/" + hit.url.split("/", 3)[3] for hit in results.hits}


@pytest.fixture
def site() -> Iterator[Site]:
    with Site(PAGES) as made:
        yield made


def test_what_is_crawled_can_be_found_and_what_asks_not_to_be_cannot(site: Site, tmp_path: Path) -> None:
    go(site, tmp_path)
    assert update_index(tmp_path) >= 5
    assert paths(search(tmp_path, "everything")) == {"/gull"}
    assert search(tmp_path, "plover").total == 0
    assert len(paths(search(tmp_path, "dives"))) == 1  # one of the two that are the same
    assert update_index(tmp_path) == 0


def test_changes_and_losses_are_followed_and_the_past_stays(site: Site, tmp_path: Path) -> None:
    site.pages["/copy"] = html("/", text="the dunlin probes the mud")  # or the tern might be the copy
    go(site, tmp_path)
    update_index(tmp_path)
    site.pages["/gull"] = html("/", text="the gull prefers chips")
    site.pages["/tern"] = Page(b"", 404)
    go(site, tmp_path)
    update_index(tmp_path)
    assert paths(search(tmp_path, "chips")) == {"/gull"}
    assert search(tmp_path, "gull eats everything").is_relaxed
    assert "/tern" not in paths(search(tmp_path, "tern"))
    index = open_search_index(tmp_path / "index", write=False)
    assert index is not None
    assert index.history_index.searcher().num_docs >= 2


def test_first_seen_pages_are_not_changed_pages(site: Site, tmp_path: Path) -> None:
    go(site, tmp_path)
    update_index(tmp_path)
    assert paths(search(tmp_path, "changed:2000..")) == set()
    assert all(hit.first_seen_at == hit.changed_at for hit in search(tmp_path, "gull").hits)
    site.pages["/gull"] = html("/", text="the gull prefers chips")
    go(site, tmp_path)
    update_index(tmp_path)
    changed = search(tmp_path, "changed:2000..")
    assert paths(changed) == {"/gull"}
    assert changed.hits[0].changed_at > changed.hits[0].first_seen_at > 0


def test_the_words_of_links_are_found_too(site: Site, tmp_path: Path) -> None:
    site.pages["/"] = Page(b'<title>t</title><a href="/gull">Kleptoparasite</a>')
    go(site, tmp_path)
    update_index(tmp_path)
    found = search(tmp_path, "kleptoparasite")
    assert "/gull" in paths(found)
    (gull,) = (hit for hit in found.hits if hit.url.endswith("/gull"))
    assert gull.score_parts.link > 1


def test_a_follower_that_was_killed_goes_on_where_its_index_stands(site: Site, tmp_path: Path) -> None:
    go(site, tmp_path)
    first = open_indexer(tmp_path)
    first.index.replace([])
    assert first.count_pending() > 0
    first.close()  # nothing was committed
    again = open_indexer(tmp_path)
    before = again.count_pending()
    assert again.index_batch() == before
    assert again.count_pending() == 0
    again.close()


def test_a_file_that_killed_the_reader_is_not_tried_again(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.pages["/"] = html("/bad.pdf", text="files")
    site.pages["/bad.pdf"] = Page(b"%PDF-", 200, {"Content-Type": "application/pdf"})
    go(site, tmp_path)
    follower = open_indexer(tmp_path)

    def crash(record: StoredRecord, *more: object) -> Document | None:
        if record.get_header("Content-Type") == "application/pdf":
            raise SystemError("as if the process had died here")
        return build_document(record, *more)  # type: ignore[arg-type]

    monkeypatch.setattr("sanderling.search.indexer.build_document", crash)
    with pytest.raises(SystemError):
        follower.index_batch()
    monkeypatch.undo()
    follower.close()
    again = open_indexer(tmp_path)
    again.index_batch()
    assert again.unreadable == 1
    again.close()


def test_a_page_that_was_missing_for_a_while_comes_back(site: Site, tmp_path: Path) -> None:
    go(site, tmp_path)
    update_index(tmp_path)
    gull, site.pages["/gull"] = site.pages["/gull"], Page(b"", 404)
    go(site, tmp_path)
    update_index(tmp_path)
    assert paths(search(tmp_path, "everything")) == set()
    site.pages["/gull"] = gull
    go(site, tmp_path)  # 304, or the same bytes
    update_index(tmp_path)
    assert paths(search(tmp_path, "everything")) == {"/gull"}


def test_a_page_that_was_gone_for_good_comes_back(site: Site, tmp_path: Path) -> None:
    go(site, tmp_path)
    gull, site.pages["/gull"] = site.pages["/gull"], Page(b"", 404)
    go(site, tmp_path)
    go(site, tmp_path)
    update_index(tmp_path)
    assert paths(search(tmp_path, "everything")) == set()
    site.pages["/gull"] = gull
    go(site, tmp_path)
    update_index(tmp_path)
    assert paths(search(tmp_path, "everything")) == {"/gull"}


def test_a_copy_takes_the_place_of_its_original_as_long_as_that_is_away(site: Site, tmp_path: Path) -> None:
    go(site, tmp_path)
    update_index(tmp_path)
    (shown,) = paths(search(tmp_path, "dives"))
    (other,) = {"/tern", "/copy"} - {shown}
    site.pages[shown], before = html("/", text="about something else"), site.pages[shown]
    go(site, tmp_path)
    update_index(tmp_path)
    assert paths(search(tmp_path, "dives")) == {other}
    site.pages[shown] = before
    go(site, tmp_path)
    update_index(tmp_path)
    assert len(paths(search(tmp_path, "dives"))) == 1


def test_one_of_several_copies_stands_for_all_when_their_original_leaves(site: Site, tmp_path: Path) -> None:
    dives = {"/tern", "/copy", "/third", "/fourth"}
    site.pages |= {"/": html(*dives, text="shore birds"), "/third": PAGES["/copy"], "/fourth": PAGES["/copy"]}
    for left in (4, 3, 2):
        go(site, tmp_path)
        update_index(tmp_path)
        (shown,) = paths(search(tmp_path, "dives"))
        assert shown in dives, f"{left} copies"
        dives.remove(shown)
        site.pages[shown] = Page(b"", 404)


def curlews(more: str, canonical: str) -> Page:
    words = " ".join(f"sentence{n} about the curlew" for n in range(60))
    return html("/", text=f"{words} {more}", head=f'<link rel=canonical href="{canonical}">')


def test_a_page_gives_way_to_the_one_it_names_if_they_read_alike(site: Site, tmp_path: Path) -> None:
    site.pages |= {
        "/": html("/print", "/whole", "/apart", text="shore birds"),
        "/print": curlews("printed", "/whole"),
        "/whole": curlews("on screen", "/whole"),
        "/apart": html("/", text="the curlew alone", head="<link rel=canonical href=/whole>"),
    }
    go(site, tmp_path)
    update_index(tmp_path)
    assert paths(search(tmp_path, "curlew")) == {"/whole", "/apart"}
    site.pages["/whole"] = Page(b"", 404)
    go(site, tmp_path)
    update_index(tmp_path)
    assert paths(search(tmp_path, "curlew")) == {"/print", "/apart"}


def test_of_copies_to_the_byte_the_one_they_name_is_shown(site: Site, tmp_path: Path) -> None:
    same = curlews("", "/whole")
    site.pages |= {"/": html("/print", "/copy", text="shore birds"), "/print": same, "/copy": same, "/whole": same}
    go(site, tmp_path)
    update_index(tmp_path)
    assert paths(search(tmp_path, "curlew")) == {"/whole"}


def test_pages_that_name_each_other_are_both_shown(site: Site, tmp_path: Path) -> None:
    site.pages |= {
        "/": html("/left", "/right", text="shore birds"),
        "/left": curlews("left", "/right"),
        "/right": curlews("right", "/left"),
    }
    go(site, tmp_path)
    update_index(tmp_path)
    assert paths(search(tmp_path, "curlew")) == {"/left", "/right"}


@pytest.mark.parametrize("etag", [True, False])
def test_a_header_that_comes_and_goes_puts_a_page_out_and_in(site: Site, tmp_path: Path, etag: bool) -> None:
    page = site.pages["/gull"] = html("/", text="the gull eats everything")
    page.etag = etag  # without it the same bytes come again, with it a 304
    go(site, tmp_path)
    page.headers["X-Robots-Tag"] = "noindex"
    go(site, tmp_path)
    update_index(tmp_path)
    assert paths(search(tmp_path, "everything")) == set()
    del page.headers["X-Robots-Tag"]
    go(site, tmp_path)
    update_index(tmp_path)
    assert paths(search(tmp_path, "everything")) == (set() if etag else {"/gull"})  # a 304 may leave headers out


def test_a_page_that_began_with_such_a_header_comes_in_when_it_goes(site: Site, tmp_path: Path) -> None:
    page = site.pages["/gull"] = html("/", text="the gull eats everything")
    page.etag, page.headers["X-Robots-Tag"] = False, "noindex"
    go(site, tmp_path)
    del page.headers["X-Robots-Tag"]
    go(site, tmp_path)
    update_index(tmp_path)
    assert paths(search(tmp_path, "everything")) == {"/gull"}


def test_what_is_said_to_others_than_us_keeps_nothing_out(site: Site, tmp_path: Path) -> None:
    for name, tag in (("gull", "sanderling: noindex"), ("tern", "heron: noindex")):
        site.pages[f"/{name}"] = html("/", text=f"a {name} at dawn")
        site.pages[f"/{name}"].headers["X-Robots-Tag"] = tag
    go(site, tmp_path, "Mozilla/5.0 (compatible; Heron/1.0)")
    update_index(tmp_path)
    assert paths(search(tmp_path, "dawn")) == {"/gull"}


def test_style_sheets_and_sitemaps_are_no_results(site: Site, tmp_path: Path) -> None:
    site.pages["/"] = html("/gull", text="shore birds", head='<link rel=stylesheet href="/look.css">')
    site.pages["/look.css"] = Page(b".sandpiper { color: grey }", 200, {"Content-Type": "text/css"})
    seeds = (site.root + "/",)
    crawl(tmp_path, CrawlRequest(
        seeds=seeds, scope=ScopeSettings(sitemaps=False), politeness=PolitenessSettings(delay=0),
        fetching=HttpSettings(allow_private=True, resources=True), workers=WorkerSettings(workers=1),
    ))  # fmt: skip
    assert site.hits["/look.css"]
    update_index(tmp_path)
    assert search(tmp_path, "sandpiper").total == 0


def test_a_page_that_reads_as_before_stays_the_version_it_was(site: Site, tmp_path: Path) -> None:
    go(site, tmp_path)
    update_index(tmp_path)
    before = {hit.url: hit.changed_at for hit in search(tmp_path, "gull").hits}
    said = site.pages["/gull"].body
    site.pages["/gull"] = Page(said.replace(b"<body", b"<body data-build=77"))
    assert site.pages["/gull"].body != said
    go(site, tmp_path)
    update_index(tmp_path)
    assert {hit.url: hit.changed_at for hit in search(tmp_path, "gull").hits} == before
    index = open_search_index(tmp_path / "index", write=False)
    assert index is not None
    assert index.history_index.searcher().num_docs == 0
