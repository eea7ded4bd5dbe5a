"""Fields of a site that was crawled twice, by command line and Python API."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.api.test_api import OPTIONS, build_page, change_price
from tests.support.site import Site, html

import sanderling
from sanderling.cli import main
from sanderling.export.field_history import load_field_definitions, load_field_history
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import resolve_known_url

FIELDS = {"price:number": "json:$..price", "heading": "css:h1"}


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site({"/": build_page("9.99"), "/high": html("/", text="High water")}) as running:
        change_price(running, "9.99")
        yield running


@pytest.fixture(scope="module")
def folder(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection with two versions of its first page; `price` and `heading` are its fields."""
    folder = tmp_path_factory.mktemp("fields") / "collection"
    flags = ["-C", str(folder), "--allow-private", "--delay", "0", "--quiet", "--no-index"]
    given = [part for name, text in FIELDS.items() for part in ("--fields", f"{name}={text}")]
    assert main(["crawl", site.root + "/", *flags, *given]) == 0
    change_price(site, "12.50")
    assert main(["refresh", "--all", *flags]) == 0
    return folder


def test_history_has_each_value_once(folder: Path, site: Site) -> None:
    with open_collection_read_only(folder) as stored:
        url_id, url = resolve_known_url(stored, site.root + "/")
        found = list(load_field_history(stored, url_id, url, load_field_definitions(stored, ["none=css:.none"])))
    assert [(item.name, item.version, item.value) for item in found] == [
        ("price", 1, 9.99),
        ("heading", 1, "Tide tables"),
        ("none", 1, None),
        ("price", 2, 12.5),
    ]


def test_commands_print_fields(folder: Path, site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    url = site.root + "/"
    assert main(["history", url, "-C", str(folder)]) == 0
    assert [line.split()[2:] for line in capsys.readouterr().out.splitlines()[-3:]] == [
        ["price", "9.99"],
        ["heading", "Tide", "tables"],
        ["price", "12.5"],
    ]
    assert main(["history", url, "-C", str(folder), "--json"]) == 0
    assert [row["value"] for row in json.loads(capsys.readouterr().out)["fields"]] == [9.99, "Tide tables", 12.5]
    assert main(["export", "-C", str(folder), "--quiet", "--url", url]) == 0
    assert json.loads(capsys.readouterr().out)["fields"] == {"price": 12.5, "heading": "Tide tables"}
    assert main(["export", "-C", str(folder), "--quiet", "--what", "fields", "--fields", "heading="]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["value"] for row in rows if row["url"] == url] == [9.99, 12.5]
    assert all(row["digest"].startswith("sha256:") for row in rows)


def test_tables_have_a_column_per_field(folder: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    with sanderling.open(folder) as collection:
        collection.export(tmp_path / "x.parquet", fields={"price:json": "json:$..price"})
        collection.export(tmp_path / "history.parquet", what="fields")
    columns = parquet.read_table(tmp_path / "x.parquet").to_pydict()
    assert "12.50" in columns["fields.price"]
    values = parquet.read_table(tmp_path / "history.parquet").to_pydict()["value"]
    assert {"9.99", "12.5", "Tide tables"} <= set(values)


@pytest.mark.parametrize("command", ["crawl http://127.0.0.1:9/", "export", "history http://127.0.0.1:9/"])
def test_invalid_field_stops_a_command_before_it_starts(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command.split(), "-C", str(tmp_path / "c"), "--fields", "price=css:..x"]) == 4
    assert "--fields price: '..x' is not a valid CSS selector" in capsys.readouterr().err
    assert not (tmp_path / "c").exists()


def test_fields_of_the_python_api(site: Site, tmp_path: Path) -> None:
    change_price(site, "9.99")
    with sanderling.open(tmp_path / "c", OPTIONS) as collection:
        collection.crawl(site.root + "/", fields=FIELDS).wait()
        change_price(site, "12.50")
        collection.refresh(every_page=True).wait()
        page = collection.page(site.root + "/")
        assert page.fields == {"price": 12.5, "heading": "Tide tables"}
        assert page.extract({"next:url": "css:a[href='/high']"}) == {"next": site.root + "/high"}
        assert [version.fields["price"] for version in page.versions] == [9.99, 12.5]
        history = collection.field_history(page.url, {"heading": ""})
        assert [item.value for item in history] == [9.99, 12.5]
        with pytest.raises(sanderling.UsageError, match="no type 'dollars'"):
            collection.crawl(site.root + "/", fields={"price:dollars": "css:.price"}).wait()
