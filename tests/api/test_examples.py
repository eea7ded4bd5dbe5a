"""Run the programs in examples/ against a loopback site."""

import csv
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.api.test_api import OPTIONS, build_page, change_price
from tests.support.site import Site, html

import sanderling

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site({"/": build_page("9.99"), "/high": html("/", text="High water")}) as running:
        change_price(running, "9.99")
        yield running


@pytest.fixture(scope="module")
def folder(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection with two versions of its first page."""
    folder = tmp_path_factory.mktemp("examples") / "collection"
    with sanderling.open(folder, OPTIONS) as collection:
        collection.crawl(site.root + "/").wait()
        change_price(site, "12.50")
        collection.refresh(every_page=True).wait()
    return folder


def run_example(name: str, *arguments: object) -> str:
    environment = {**os.environ, "SANDERLING_ALLOW_PRIVATE": "yes", "SANDERLING_DELAY": "0", "SANDERLING_WORKERS": "1"}
    environment.pop("SANDERLING_INDEX", None)
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), *map(str, arguments)]
    process = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert process.returncode == 0, process.stderr
    return process.stdout


def test_crawl_site(site: Site, tmp_path: Path) -> None:
    out = run_example("crawl_site", site.root, tmp_path / "c")
    assert f"Tide tables: {site.root}/" in out
    assert out.endswith("2 pages stored\n")


def test_crawl_async(site: Site, tmp_path: Path) -> None:
    out = run_example("crawl_async", tmp_path, site.root, site.root + "/high")
    assert {f"site-1: {site.root}/", f"site-2: {site.root}/high"} <= set(out.splitlines())


def test_report_changes(site: Site, folder: Path) -> None:
    change_price(site, "13.75")
    out = run_example("report_changes", folder)
    assert f"{site.root}/: content" in out
    assert "{+13+}" in out
    assert out.endswith("1 changes\n")


def test_write_diff_page(site: Site, folder: Path, tmp_path: Path) -> None:
    assert "content" in run_example("write_diff_page", site.root + "/", tmp_path / "diff.html", folder)
    assert "<ins>" in (tmp_path / "diff.html").read_text()


def test_export_markdown(site: Site, folder: Path) -> None:
    records = [json.loads(line) for line in run_example("export_markdown", folder).splitlines()]
    assert {record["title"] for record in records} == {"Tide tables", "High water"}
    assert any(record["markdown"].startswith("# Tide tables") for record in records)


def test_track_prices(site: Site, folder: Path) -> None:
    assert [line.split("  ")[1] for line in run_example("track_prices", site.root + "/", folder).splitlines()][:2] == [
        "9.99 EUR",
        "12.50 EUR",
    ]


def test_read_past_version(site: Site, folder: Path) -> None:
    with sanderling.open(folder, OPTIONS) as collection:
        first = collection.versions(site.root + "/")[0].fetched_at
    assert isinstance(first, datetime)
    out = run_example("read_past_version", site.root + "/", first.astimezone(UTC).isoformat(), folder)
    assert "Edition for 9.99 euro." in out


def test_search_pages(site: Site, folder: Path) -> None:
    assert f"Tide tables\n   {site.root}/\n" in run_example("search_pages", "tide tables", folder)


def test_find_broken_links(site: Site, folder: Path) -> None:
    line = f"{site.root}/missing (status 404), linked from {site.root}/\n"
    assert run_example("find_broken_links", folder).replace("gone", "status 404") == line


def test_write_catalog(site: Site, folder: Path, tmp_path: Path) -> None:
    assert "2 pages" in run_example("write_catalog", tmp_path / "pages.csv", folder)
    with (tmp_path / "pages.csv").open() as file:
        assert f"{site.root}/" in {row["url"] for row in csv.DictReader(file)}


def test_crawl_over_http(site: Site, tmp_path: Path) -> None:
    environment = {**os.environ, "SANDERLING_ALLOW_PRIVATE": "yes", "SANDERLING_DELAY": "0", "SANDERLING_WORKERS": "1"}
    command = [sys.executable, "-m", "sanderling"]
    serve = [*command, "serve", "--create", "--port", "0", "--no-index", "-C", str(tmp_path), "--quiet"]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, env=environment, text=True) as server:
        assert server.stdout is not None
        address = server.stdout.readline().strip().rstrip("/")
        words = ["token", "create", "example", "--scope", "crawl", "--scope", "read", "-C", str(tmp_path)]
        token = subprocess.run([*command, *words], capture_output=True, text=True, check=True).stdout.strip()
        out = run_example("crawl_over_http", address, token, site.root + "/")
        server.terminate()
    assert "end: done\n" in out
    assert f"High water {site.root}/high\n" in out
    assert "# Tide tables" in out


def test_every_example_is_listed_and_tested() -> None:
    names = {path.name for path in EXAMPLES.glob("*.py")}
    listed = (EXAMPLES / "README.md").read_text()
    assert {name for name in names if f"`{name}`" not in listed} == set()
    assert {name for name in names if f"def test_{name.removesuffix('.py')}" not in Path(__file__).read_text()} == set()
