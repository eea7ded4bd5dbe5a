"""Export pages, versions, links, and changes of a site that was crawled twice."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.api.test_api import OPTIONS, build_page, change_price
from tests.support.site import Site, html

import sanderling
from sanderling.errors import UsageError
from sanderling.export.export_rows import ExportQuery, Row, iterate_rows, validate_query
from sanderling.storage.collection import open_collection_read_only


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site({"/": build_page("9.99"), "/high": html("/", text="High water")}) as running:
        change_price(running, "9.99")
        yield running


@pytest.fixture(scope="module")
def folder(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection with two versions of its first page."""
    folder = tmp_path_factory.mktemp("export") / "collection"
    with sanderling.open(folder, OPTIONS) as collection:
        collection.crawl(site.root + "/").wait()
        change_price(site, "12.50")
        collection.refresh(every_page=True).wait()
    return folder


def read_rows(folder: Path, query: ExportQuery) -> list[Row]:
    with open_collection_read_only(folder) as stored:
        return list(iterate_rows(stored, query))


def test_pages_have_markdown_and_data_of_their_last_version(folder: Path, site: Site) -> None:
    rows = {row["url"]: row for row in read_rows(folder, ExportQuery(text="markdown", data=True))}
    page = rows[site.root + "/"]
    assert str(page["markdown"]).startswith("# Tide tables")
    assert "Edition for 12.50 euro." in str(page["markdown"])
    assert page["data"]["json_ld"][0]["offers"]["price"] == "12.50"  # type: ignore[index]
    assert len({tuple(row) for row in rows.values()}) == 1


def test_pages_are_selected_by_pattern_and_time(folder: Path, site: Site) -> None:
    assert [row["url"] for row in read_rows(folder, ExportQuery(pattern="*/high"))] == [site.root + "/high"]
    assert read_rows(folder, ExportQuery(since=4e9)) == []


def test_versions_are_exported_with_their_text(folder: Path, site: Site) -> None:
    rows = read_rows(folder, ExportQuery("versions", text="text", pattern=site.root + "/"))
    assert [row["version"] for row in rows] == [1, 2]
    assert ["9.99" in str(row["text"]) for row in rows] == [True, False]


def test_links_are_exported_with_their_anchor_text(folder: Path, site: Site) -> None:
    rows = read_rows(folder, ExportQuery("links", pattern=site.root + "/"))
    assert {(row["target"], row["anchor"]) for row in rows} >= {(site.root + "/high", "high water")}


def test_changes_are_exported_oldest_first(folder: Path, site: Site) -> None:
    rows = read_rows(folder, ExportQuery("changes"))
    content = [row for row in rows if "content" in row["kinds"]]  # type: ignore[operator]
    assert [row["url"] for row in content] == [site.root + "/"]
    assert content[0]["text"]


def test_content_of_a_damaged_record_is_null(folder: Path, site: Site, tmp_path: Path) -> None:
    with open_collection_read_only(folder) as stored:
        for file in stored.archive_folder.glob("*.warc.gz"):
            file.rename(tmp_path / file.name)
        try:
            rows = list(iterate_rows(stored, ExportQuery("versions", text="text")))
            rows += list(iterate_rows(stored, ExportQuery(text="text")))
        finally:
            for file in tmp_path.glob("*.warc.gz"):
                file.rename(stored.archive_folder / file.name)
    assert rows
    assert {row["text"] for row in rows} == {None}


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (ExportQuery("images"), "cannot export 'images'"),  # type: ignore[arg-type]
        (ExportQuery(text="html"), "unknown text format 'html'"),  # type: ignore[arg-type]
        (ExportQuery("links", text="text"), "links have no page content"),
    ],
)
def test_invalid_query_is_rejected(query: ExportQuery, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        validate_query(query)
