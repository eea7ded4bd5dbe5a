"""Test the Python API against a loopback site: crawls, pages, versions, changes, search, settings."""

import asyncio
import doctest
import importlib
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.support.site import Page as SitePage
from tests.support.site import Site, html, tree

import sanderling
from sanderling.api.collection_access import open_collection
from sanderling.api.crawl_settings import COMMAND_SETTING, SettingValues
from sanderling.config.loader import get_group_settings
from sanderling.config.settings import (
    SETTING_GROUPS,
    CollectionSettings,
    ComparisonSettings,
    IndexSettings,
)

OPTIONS = sanderling.Settings(delay=0, allow_private=True, workers=1)
PRODUCT = (
    '<script type="application/ld+json">{"@type": "Product", "offers": {"price": "PRICE", "priceCurrency": "EUR"}}'
    "</script>"
)


def build_page(price: str) -> SitePage:
    text = "The tide tables list high water and low water of the harbor for every day of the year. " * 3
    body = (
        f"<html><head><title>Tide tables</title>{PRODUCT.replace('PRICE', price)}</head><body>"
        '<nav><a href="/">Home</a></nav><main><h1>Tide tables</h1>'
        f'<p>{text}</p><p>Edition for {price} euro.</p><a href="/missing">old edition</a></main></body></html>'
    )
    return SitePage(body.encode())


@pytest.fixture
def site() -> Iterator[Site]:
    pages = {"/": build_page("9.99"), "/high": html("/", text="High water")}
    pages["/"].body = pages["/"].body.replace(b"</main>", b'<a href="/high">high water</a></main>')
    with Site(pages) as running:
        yield running


@pytest.fixture
def folder(site: Site, tmp_path: Path) -> Path:
    with sanderling.open(tmp_path / "c", OPTIONS) as collection:
        collection.crawl(site.root + "/").wait()
    return tmp_path / "c"


def change_price(site: Site, price: str) -> None:
    site.pages["/"].body = build_page(price).body.replace(b"</main>", b'<a href="/high">high water</a></main>')


def test_pages_are_yielded_while_the_site_is_crawled(site: Site, tmp_path: Path) -> None:
    with sanderling.open(tmp_path / "c", OPTIONS) as collection:
        run = collection.crawl(site.root + "/")
        titles = {page.title for page in run}
        assert titles == {"Tide tables", "High water"}
        assert run.result is not None
        assert run.result.pages == 2
        assert {page.title for page in collection} == titles


def test_leaving_the_loop_stops_the_crawl_and_it_can_be_resumed(tmp_path: Path) -> None:
    with Site(tree(60)) as site, sanderling.open(tmp_path / "c", OPTIONS) as collection:
        for _ in collection.crawl(site.root + "/", delay=0.05):
            break
        run = collection.crawl(site.root + "/")
        assert run.wait().finish_reason == "done"
        assert sum(1 for _ in collection.pages()) == 60


def test_collection_waits_for_a_crawl_that_is_not_iterated(tmp_path: Path) -> None:
    with Site(tree(30)) as site:
        with sanderling.open(tmp_path / "c", OPTIONS) as collection:
            collection.crawl(site.root + "/")
        with sanderling.open(tmp_path / "c", OPTIONS) as collection:
            assert sum(1 for _ in collection.pages()) == 30


def test_page_content_is_read_as_text_markdown_and_data(folder: Path, site: Site) -> None:
    with sanderling.open(folder, OPTIONS) as collection:
        page = collection.page(site.root + "/")
        assert page.status == 200
        assert page.mime == "text/html"
        assert page.markdown.startswith("# Tide tables")
        assert "Home" not in page.markdown
        assert f"[high water]({site.root}/high)" in page.markdown
        assert page.data["json_ld"][0]["offers"]["price"] == "9.99"
        assert "Edition for 9.99 euro." in page.text
        assert page.select("h1")[0].text == "Tide tables"
        assert page.links == [site.root + path for path in ("/", "/missing", "/high")]
        assert page.headers["content-type"].startswith("text/html")
        assert page.as_dict()["url"] == page.url


def test_urls_that_are_not_stored_have_a_reason(folder: Path, site: Site) -> None:
    with sanderling.open(folder, OPTIONS) as collection:
        assert [(missing.url, missing.state) for missing in collection.skipped()] == [(site.root + "/missing", "gone")]


def test_changes_and_versions_of_a_refreshed_page(folder: Path, site: Site) -> None:
    url, before = site.root + "/", datetime.now(UTC)
    change_price(site, "12.50")
    with sanderling.open(folder, OPTIONS) as collection:
        seen: list[sanderling.Page] = []
        changed: list[sanderling.Change] = []
        run = collection.refresh(every_page=True, on_page=seen.append, on_change=changed.append)
        changes = run.changes(kind="content")
        assert [page.url for page in seen] == [url]
        assert [change.url for change in changes] == [change.url for change in changed] == [url]
        assert changes[0].title == collection.page(url).title != ""
        assert changes[0].diff.added == ["12", "50"]
        assert changes[0].diff.removed == ["9", "99"]
        assert "<del>9</del><ins>12</ins>" in changes[0].diff.as_html()
        assert "{+12+}" in changes[0].diff.as_text()
        versions = collection.versions(url)
        assert [version.data["json_ld"][0]["offers"]["price"] for version in versions] == ["9.99", "12.50"]
        assert "9.99" in collection.at(url, before).text
        assert "12.50" in collection.page(url).text
        assert collection.diff(url, 1, 2).kinds == changes[0].kinds
        assert collection.changes(since=datetime.now(UTC) + timedelta(hours=1)) == []


def test_results_of_a_search(folder: Path, site: Site) -> None:
    with sanderling.open(folder, OPTIONS) as collection:
        results = collection.search("tide tables")
        assert [hit.url for hit in results.hits] == [site.root + "/"]


def test_deleted_page_is_gone(folder: Path, site: Site) -> None:
    with sanderling.open(folder, OPTIONS) as collection:
        assert site.root + "/high" in collection
        collection.delete(site.root + "/high")
        assert site.root + "/high" not in collection


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_catalog_is_exported_by_suffix(folder: Path, tmp_path: Path, suffix: str) -> None:
    with sanderling.open(folder, OPTIONS) as collection:
        assert collection.export(tmp_path / f"pages.{suffix}") >= 2
        assert (tmp_path / f"pages.{suffix}").stat().st_size > 0
        with pytest.raises(sanderling.UsageError, match="unknown export format 'xls'"):
            collection.export(tmp_path / "pages.xls", "xls")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: c.page("https://unknown.example/"), "is not in"),
        (lambda c: c.changes(kind="color"), "unknown kind of change 'color'"),
        (lambda c: c.diff(next(c.pages()).url), "two are needed for a diff"),
        (lambda c: c.delete(), "no URL or pattern given"),
        (lambda c: c.search("x", limit=0), "limit counts from 1"),
        (lambda c: c.crawl(max_pages=3), "did you mean limit?"),
        (lambda c: c.at(next(c.pages()).url, "2020-01-01"), "first seen"),
    ],
)
def test_mistakes_are_reported_in_a_sentence(
    folder: Path, call: Callable[[sanderling.Collection], object], message: str
) -> None:
    with sanderling.open(folder, OPTIONS) as collection, pytest.raises(sanderling.UsageError, match=message):
        call(collection)


def test_missing_collection_is_reported(tmp_path: Path) -> None:
    with sanderling.open(tmp_path / "c", OPTIONS) as collection:
        with pytest.raises(sanderling.CollectionError, match="there is no collection"):
            next(collection.pages())
        with pytest.raises(sanderling.UsageError, match="no URL given"):
            collection.crawl()


def test_failure_of_a_run_is_raised_where_it_is_awaited(tmp_path: Path) -> None:
    message = "cannot be crawled"
    with (
        sanderling.open(tmp_path / "c", OPTIONS) as collection,
        pytest.raises(sanderling.UsageError, match=message),
    ):
        collection.crawl("ftp://files.example/").wait()


def test_async_crawl_does_not_block_the_loop(tmp_path: Path) -> None:
    async def crawl(root: str) -> tuple[int, int]:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.005)

        ticker = asyncio.create_task(tick())
        async with sanderling.open_async(tmp_path / "c", OPTIONS) as collection:
            run = await collection.crawl(root)
            urls = [page.url async for page in run]
            assert [page.url async for page in collection.pages()]
            assert (await collection.status())["pages"] == len(urls)
        ticker.cancel()
        return len(urls), ticks

    with Site(tree(20)) as site:
        pages, ticks = asyncio.run(crawl(site.root + "/"))
    assert pages == 20
    assert ticks > 3


def test_every_setting_of_crawls_is_a_keyword() -> None:
    other = {CollectionSettings, ComparisonSettings, IndexSettings}
    names = {setting.name for group in SETTING_GROUPS if group not in other for setting in get_group_settings(group)}
    assert set(SettingValues.__annotations__) == names - {COMMAND_SETTING}


def test_shards_are_left_to_the_command() -> None:
    with pytest.raises(sanderling.UsageError, match="sanderling crawl URL --shards N"):
        sanderling.Settings(shards=4)  # type: ignore[call-arg]


def test_settings_come_from_files_and_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "s.toml").write_text('limit = 7\ndelay = "200ms"\nexclude = ["/print/"]\n')
    assert sanderling.Settings.from_file(tmp_path / "s.toml") == sanderling.Settings(
        limit=7, delay=0.2, exclude="/print/"
    )
    monkeypatch.setenv("SANDERLING_LIMIT", "9")
    assert sanderling.Settings.from_environment().values["limit"] == 9
    assert "secret" not in repr(sanderling.Settings(basic_auth=["example.org=me:secret"]))


def test_public_names_are_importable() -> None:
    assert {name for name in sanderling.__all__ if not hasattr(sanderling, name)} == set()
    with pytest.raises(AttributeError, match="no attribute 'spider'"):
        _ = sanderling.spider


@pytest.mark.parametrize("name", ["sanderling", "sanderling.api.collection_access", "sanderling.api.crawl_settings"])
def test_examples_in_docstrings(name: str, folder: Path) -> None:
    values = {"example_folder": folder, "open_collection": open_collection}
    result = doctest.testmod(importlib.import_module(name), extraglobs=values)
    assert result.attempted
    assert not result.failed


def test_export_writes_pages_with_markdown_and_changes_as_dictionaries(folder: Path, site: Site) -> None:
    change_price(site, "12.50")
    with sanderling.open(folder, OPTIONS) as collection:
        (change,) = collection.refresh(every_page=True).changes(kind="content")
        exported = change.as_dict()
        assert exported["url"] == site.root + "/"
        assert "12" in str(exported["text"])
        assert collection.export(folder / "pages.jsonl", text="markdown", pattern=site.root + "/") == 1
        assert "Edition for 12.50 euro." in (folder / "pages.jsonl").read_text()
        assert collection.export(folder / "changes.csv", what="changes") >= 1
        with pytest.raises(sanderling.UsageError, match="links have no page content"):
            collection.export(folder / "links.csv", what="links", data=True)


def build_product(number: int) -> SitePage:
    rows = "".join(f"<tr><th>label {name}</th><td>{number} {name}</td></tr>" for name in ("width", "height", "depth"))
    body = (
        f"<main><article class=product><h1>Lamp {number}</h1><div class=price><b>{number}.50</b> <i>EUR</i></div>"
        f"<table class=facts>{rows}</table><ul class=tags><li><a href='/'>lamps</a></ul></article></main>"
    )
    return SitePage(f"<html><head><title>Lamp {number}</title></head><body>{body}</body></html>".encode())


def test_similar_pages_of_a_sample_are_found(tmp_path: Path) -> None:
    products = {f"/lamp/{number}": build_product(number) for number in range(12)}
    pages = {"/": html(*products, "/about"), "/about": html("/", text="About us"), **products}
    with Site(pages) as site, sanderling.open(tmp_path / "c", OPTIONS) as collection:
        collection.crawl(site.root + "/").wait()
        found = {page.url for page in collection.similar(site.root + "/lamp/3", site.root + "/lamp/4", limit=9)}
        assert found
        assert found <= {site.root + path for path in products}
        with pytest.raises(sanderling.UsageError, match="not stored"):
            collection.similar(site.root + "/unknown")


def test_watches_are_added_checked_and_deleted(site: Site, tmp_path: Path) -> None:
    with sanderling.open(tmp_path / "c", OPTIONS) as collection:
        assert collection.watches() == []
        collection.watch(site.root + "/", name="tables", every="1s", selector="main", condition="appears 12.50")
        assert [watch.name for watch in collection.watches()] == ["tables"]
        assert collection.check_watches() == []
        change_price(site, "12.50")
        time.sleep(1.1)  # the interval of the watch
        assert [(watch.name, change.url) for watch, change in collection.check_watches()] == [
            ("tables", site.root + "/")
        ]
        collection.unwatch("tables")
        assert collection.watches() == []
        with pytest.raises(sanderling.UsageError, match="not a valid CSS selector"):
            collection.watch(site.root + "/", selector="[[")


def test_pages_continue_after_a_url(folder: Path, site: Site) -> None:
    with sanderling.open(folder) as collection:
        urls = [page.url for page in collection.pages()]
        assert [page.url for page in collection.pages(after=urls[0])] == urls[1:]
        assert "<title>" in collection.page(urls[0]).source


def test_links_have_their_text_and_the_pages_that_link_back(folder: Path, site: Site) -> None:
    with sanderling.open(folder) as collection:
        links = collection.links(site.root + "/")
        assert (f"{site.root}/high", "high water") in {(link.url, link.anchor) for link in links.outgoing}
        assert collection.links(site.root + "/high").incoming == (site.root + "/",)
