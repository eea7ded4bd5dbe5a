"""The indexer on real crawls."""

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


def crawl_site(site: Site, folder: Path, agent: str = "") -> None:
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
    with Site(PAGES) as server:
        yield server


def test_crawled_pages_are_found_except_noindex(site: Site, tmp_path: Path) -> None:
    crawl_site(site, tmp_path)
    assert update_index(tmp_path) >= 5
    assert paths(search(tmp_path, "everything")) == {"/gull"}
    assert search(tmp_path, "plover").total == 0
    assert len(paths(search(tmp_path, "dives"))) == 1  # one of the two copies
    assert update_index(tmp_path) == 0


def test_changed_and_gone_pages_keep_their_history(site: Site, tmp_path: Path) -> None:
    site.pages["/copy"] = html("/", text="the dunlin probes the mud")  # otherwise the tern might be the copy
    crawl_site(site, tmp_path)
    update_index(tmp_path)
    site.pages["/gull"] = html("/", text="the gull prefers chips")
    site.pages["/tern"] = Page(b"", 404)
    crawl_site(site, tmp_path)
    update_index(tmp_path)
    assert paths(search(tmp_path, "chips")) == {"/gull"}
    assert search(tmp_path, "gull eats everything").is_relaxed
    assert "/tern" not in paths(search(tmp_path, "tern"))
    index = open_search_index(tmp_path / "index", write=False)
    assert index is not None
    assert index.history_index.searcher().num_docs >= 2


def test_first_seen_pages_are_not_changed_pages(site: Site, tmp_path: Path) -> None:
    crawl_site(site, tmp_path)
    update_index(tmp_path)
    assert paths(search(tmp_path, "changed:2000..")) == set()
    assert all(hit.first_seen_at == hit.changed_at for hit in search(tmp_path, "gull").hits)
    site.pages["/gull"] = html("/", text="the gull prefers chips")
    crawl_site(site, tmp_path)
    update_index(tmp_path)
    changed = search(tmp_path, "changed:2000..")
    assert paths(changed) == {"/gull"}
    assert changed.hits[0].changed_at > changed.hits[0].first_seen_at > 0


def test_anchor_texts_are_searchable(site: Site, tmp_path: Path) -> None:
    site.pages["/"] = Page(b'<title>t</title><a href="/gull">Kleptoparasite</a>')
    crawl_site(site, tmp_path)
    update_index(tmp_path)
    found = search(tmp_path, "kleptoparasite")
    assert "/gull" in paths(found)
    (gull,) = (hit for hit in found.hits if hit.url.endswith("/gull"))
    assert gull.score_parts.link > 1


def test_indexer_resumes_at_the_last_commit(site: Site, tmp_path: Path) -> None:
    crawl_site(site, tmp_path)
    first = open_indexer(tmp_path)
    first.index.replace([])
    assert first.count_pending() > 0
    first.close()  # nothing was committed
    again = open_indexer(tmp_path)
    before = again.count_pending()
    assert again.index_batch() == before
    assert again.count_pending() == 0
    again.close()


def test_document_that_crashed_the_indexer_is_skipped(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.pages["/"] = html("/bad.pdf", text="files")
    site.pages["/bad.pdf"] = Page(b"%PDF-", 200, {"Content-Type": "application/pdf"})
    crawl_site(site, tmp_path)
    indexer = open_indexer(tmp_path)

    def crash(record: StoredRecord, *more: object) -> Document | None:
        if record.get_header("Content-Type") == "application/pdf":
            raise SystemError("simulated crash")
        return build_document(record, *more)  # type: ignore[arg-type]

    monkeypatch.setattr("sanderling.search.indexer.build_document", crash)
    with pytest.raises(SystemError):
        indexer.index_batch()
    monkeypatch.undo()
    indexer.close()
    again = open_indexer(tmp_path)
    again.index_batch()
    assert again.unreadable == 1
    again.close()


def test_page_returns_after_one_404(site: Site, tmp_path: Path) -> None:
    crawl_site(site, tmp_path)
    update_index(tmp_path)
    gull, site.pages["/gull"] = site.pages["/gull"], Page(b"", 404)
    crawl_site(site, tmp_path)
    update_index(tmp_path)
    assert paths(search(tmp_path, "everything")) == set()
    site.pages["/gull"] = gull
    crawl_site(site, tmp_path)  # 304 or the same bytes
    update_index(tmp_path)
    assert paths(search(tmp_path, "everything")) == {"/gull"}


def test_page_returns_after_it_was_gone(site: Site, tmp_path: Path) -> None:
    crawl_site(site, tmp_path)
    gull, site.pages["/gull"] = site.pages["/gull"], Page(b"", 404)
    crawl_site(site, tmp_path)
    crawl_site(site, tmp_path)
    update_index(tmp_path)
    assert paths(search(tmp_path, "everything")) == set()
    site.pages["/gull"] = gull
    crawl_site(site, tmp_path)
    update_index(tmp_path)
    assert paths(search(tmp_path, "everything")) == {"/gull"}


def test_copy_replaces_its_original_while_that_differs(site: Site, tmp_path: Path) -> None:
    crawl_site(site, tmp_path)
    update_index(tmp_path)
    (shown,) = paths(search(tmp_path, "dives"))
    (other,) = {"/tern", "/copy"} - {shown}
    site.pages[shown], before = html("/", text="about something else"), site.pages[shown]
    crawl_site(site, tmp_path)
    update_index(tmp_path)
    assert paths(search(tmp_path, "dives")) == {other}
    site.pages[shown] = before
    crawl_site(site, tmp_path)
    update_index(tmp_path)
    assert len(paths(search(tmp_path, "dives"))) == 1


def test_one_copy_represents_all_after_the_original_is_gone(site: Site, tmp_path: Path) -> None:
    dives = {"/tern", "/copy", "/third", "/fourth"}
    site.pages |= {"/": html(*dives, text="shore birds"), "/third": PAGES["/copy"], "/fourth": PAGES["/copy"]}
    for count in (4, 3, 2):
        crawl_site(site, tmp_path)
        update_index(tmp_path)
        (shown,) = paths(search(tmp_path, "dives"))
        assert shown in dives, f"{count} copies"
        dives.remove(shown)
        site.pages[shown] = Page(b"", 404)


def make_near_duplicate(suffix: str, canonical: str) -> Page:
    words = " ".join(f"sentence{n} about the curlew" for n in range(60))
    return html("/", text=f"{words} {suffix}", head=f'<link rel=canonical href="{canonical}">')


def test_near_duplicate_yields_to_its_canonical_page(site: Site, tmp_path: Path) -> None:
    site.pages |= {
        "/": html("/print", "/whole", "/apart", text="shore birds"),
        "/print": make_near_duplicate("printed", "/whole"),
        "/whole": make_near_duplicate("on screen", "/whole"),
        "/apart": html("/", text="the curlew alone", head="<link rel=canonical href=/whole>"),
    }
    crawl_site(site, tmp_path)
    update_index(tmp_path)
    assert paths(search(tmp_path, "curlew")) == {"/whole", "/apart"}
    site.pages["/whole"] = Page(b"", 404)
    crawl_site(site, tmp_path)
    update_index(tmp_path)
    assert paths(search(tmp_path, "curlew")) == {"/print", "/apart"}


def test_canonical_page_represents_exact_copies(site: Site, tmp_path: Path) -> None:
    same = make_near_duplicate("", "/whole")
    site.pages |= {"/": html("/print", "/copy", text="shore birds"), "/print": same, "/copy": same, "/whole": same}
    crawl_site(site, tmp_path)
    update_index(tmp_path)
    assert paths(search(tmp_path, "curlew")) == {"/whole"}


def test_mutual_canonical_links_are_ignored(site: Site, tmp_path: Path) -> None:
    site.pages |= {
        "/": html("/left", "/right", text="shore birds"),
        "/left": make_near_duplicate("left", "/right"),
        "/right": make_near_duplicate("right", "/left"),
    }
    crawl_site(site, tmp_path)
    update_index(tmp_path)
    assert paths(search(tmp_path, "curlew")) == {"/left", "/right"}


@pytest.mark.parametrize("etag", [True, False])
def test_noindex_header_removes_and_restores_a_page(site: Site, tmp_path: Path, etag: bool) -> None:
    page = site.pages["/gull"] = html("/", text="the gull eats everything")
    page.etag = etag  # with an ETag the response is a 304
    crawl_site(site, tmp_path)
    page.headers["X-Robots-Tag"] = "noindex"
    crawl_site(site, tmp_path)
    update_index(tmp_path)
    assert paths(search(tmp_path, "everything")) == set()
    del page.headers["X-Robots-Tag"]
    crawl_site(site, tmp_path)
    update_index(tmp_path)
    assert paths(search(tmp_path, "everything")) == (set() if etag else {"/gull"})  # a 304 may omit headers


def test_page_is_added_after_its_noindex_header_is_removed(site: Site, tmp_path: Path) -> None:
    page = site.pages["/gull"] = html("/", text="the gull eats everything")
    page.etag, page.headers["X-Robots-Tag"] = False, "noindex"
    crawl_site(site, tmp_path)
    del page.headers["X-Robots-Tag"]
    crawl_site(site, tmp_path)
    update_index(tmp_path)
    assert paths(search(tmp_path, "everything")) == {"/gull"}


def test_robots_tag_applies_to_the_configured_agent(site: Site, tmp_path: Path) -> None:
    for name, tag in (("gull", "sanderling: noindex"), ("tern", "heron: noindex")):
        site.pages[f"/{name}"] = html("/", text=f"a {name} at dawn")
        site.pages[f"/{name}"].headers["X-Robots-Tag"] = tag
    crawl_site(site, tmp_path, "Mozilla/5.0 (compatible; Heron/1.0)")
    update_index(tmp_path)
    assert paths(search(tmp_path, "dawn")) == {"/gull"}


def test_stylesheets_are_not_indexed(site: Site, tmp_path: Path) -> None:
    site.pages["/"] = html("/gull", text="shore birds", head='<link rel=stylesheet href="/look.css">')
    site.pages["/look.css"] = Page(b".sandpiper { color: grey }", 200, {"Content-Type": "text/css"})
    seeds = (site.root + "/",)
    crawl(tmp_path, CrawlRequest(
        seeds=seeds, scope=ScopeSettings(sitemaps=False), politeness=PolitenessSettings(delay=0),
        fetching=HttpSettings(allow_private=True, requisites=True), workers=WorkerSettings(workers=1),
    ))  # fmt: skip
    assert site.hits["/look.css"]
    update_index(tmp_path)
    assert search(tmp_path, "sandpiper").total == 0


def test_same_text_with_other_markup_keeps_its_version(site: Site, tmp_path: Path) -> None:
    crawl_site(site, tmp_path)
    update_index(tmp_path)
    before = {hit.url: hit.changed_at for hit in search(tmp_path, "gull").hits}
    body = site.pages["/gull"].body
    site.pages["/gull"] = Page(body.replace(b"<body", b"<body data-build=77"))
    assert site.pages["/gull"].body != body
    crawl_site(site, tmp_path)
    update_index(tmp_path)
    assert {hit.url: hit.changed_at for hit in search(tmp_path, "gull").hits} == before
    index = open_search_index(tmp_path / "index", write=False)
    assert index is not None
    assert index.history_index.searcher().num_docs == 0
