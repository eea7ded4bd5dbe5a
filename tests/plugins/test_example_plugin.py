"""The example package is installed as users install it, and each of its plugins works."""

import io
import json
import os
import sqlite3
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.support.site import Page, Site, html

ROOT = Path(__file__).parents[2]
PAGES = {
    "/": html("/a", "/b/long/name/of/a/page", text="Tide tables of all harbors"),
    "/a": html("/events/2026/11", text="Events"),
    "/b/long/name/of/a/page": html(text="A page"),
    "/events/2026/11": html(text="November"),
}


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the package into a folder of its own, without its dependency: this checkout."""
    folder = tmp_path_factory.mktemp("packages")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--no-deps"]
    command = [*pip, "--target", str(folder), str(ROOT / "examples" / "plugin"), "apsw-sqlite3mc"]
    process = subprocess.run(command, capture_output=True, check=False)
    assert process.returncode == 0, process.stderr.decode()
    return folder


def run_sanderling(packages: Path, *words: object) -> str:
    environment = {**os.environ, "PYTHONPATH": str(packages), "SANDERLING_ALLOW_PRIVATE": "1"}
    command = [sys.executable, "-m", "sanderling", *map(str, words)]
    process = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert process.returncode == 0, process.stderr
    return process.stdout


@pytest.mark.slow
def test_every_plugin_of_the_package_works(packages: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in run_sanderling(packages, "plugins", "--json").splitlines()]
    assert {row["name"] for row in rows if row["package"] == "sanderling-example"} == {
        "no-calendars", "reading-time", "sqlite", "opensearch", "opensearch+https", "shortest-url", "logfile",
        "application/epub+zip", "water-level", "encrypted", "doubling",
    }  # fmt: skip
    assert not [row["error"] for row in rows if row["error"]]
    folder = ("-C", tmp_path / "c")
    with Site(PAGES) as site:
        run_sanderling(
            packages, "crawl", site.root + "/", "--filter", "no-calendars", "--order", "shortest-url", "--delay", "0",
            "--workers", "1", "--no-index", "--no-sitemaps", "--fields", "minutes:number=plugin:reading-time", *folder,
        )  # fmt: skip
        skipped = json.loads(run_sanderling(packages, "pages", "--skipped", "--json", *folder).splitlines()[0])
        assert skipped["url"] == site.root + "/events/2026/11"
        assert (skipped["reason"], skipped["note"]) == ("excluded", "no-calendars: page of a calendar")
        run_sanderling(packages, "export", "-o", tmp_path / "pages.jsonl", *folder)
        page = json.loads((tmp_path / "pages.jsonl").read_text().splitlines()[0])
        assert page["fields"]["minutes"] > 0
        target = f"sqlite://{tmp_path / 'pages.db'}"
        for _ in range(2):
            run_sanderling(packages, "sink", target, *folder)
        with closing(sqlite3.connect(tmp_path / "pages.db")) as db:
            urls = [url for (url,) in db.execute("SELECT url FROM pages ORDER BY visit")]
        assert sorted(urls) == sorted(site.root + path for path in PAGES if not path.startswith("/events"))
        log = tmp_path / "changes.log"
        run_sanderling(packages, "watch", site.root + "/a", "--name", "a", "--notify", f"logfile://{log}", *folder)
        run_sanderling(packages, "watch", "--test", "a", *folder)
    assert "a" in log.read_text()


def pack_book(*paragraphs: str) -> Page:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as book:
        book.writestr("mimetype", "application/epub+zip")
        book.writestr("chapter1.xhtml", "<html>" + "".join(f"<p>{text}</p>" for text in paragraphs) + "</html>")
    return Page(packed.getvalue(), headers={"Content-Type": "application/epub+zip"})


def build_level_page(level: str, sentence: str) -> Page:
    prose = "<p>The harbor of the town is deep enough for large ships at every tide, and has two piers.</p>"
    return Page(f"<html><body><main>{prose}<p>Water level now: {level} m</p><p>{sentence}</p></main></body>".encode())


@pytest.mark.slow
def test_document_reader_content_rule_and_storage_work_in_a_crawl(
    packages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in worker processes, and after the fingerprints of an earlier crawl were made without the rule."""
    monkeypatch.setenv("ENCRYPTED_DATABASE_KEY", "secret words")
    folder, quick = ("-C", tmp_path / "c"), ("--delay", "0", "--workers", "2", "--no-sitemaps")
    database = tmp_path / "pages.db"
    pages = {
        "/": html("/level", "/book.epub"),
        "/level": build_level_page("4.31", "Ships wait."),
        "/book.epub": pack_book("Tides"),
    }
    with Site(pages) as site:
        run_sanderling(packages, "crawl", site.root + "/", "--store", f"encrypted://{database}", *quick, *folder)
        assert b"SQLite format" not in database.read_bytes()
        assert "Tides" in run_sanderling(packages, "show", "--markdown", site.root + "/book.epub", *folder)
        site.pages["/level"] = build_level_page("4.58", "Ships wait.")
        site.pages["/book.epub"] = pack_book("Tides", "Currents")
        run_sanderling(packages, "refresh", "--all", "--policy", "doubling", *quick, *folder)
        rows = read_lines(run_sanderling(packages, "changes", "--noise", "--json", *folder))
        kinds = {row["url"].rpartition("/")[2]: row["kinds"] for row in rows}
        assert kinds == {"book.epub": ["content"], "level": []}
        assert "Currents" in run_sanderling(packages, "diff", site.root + "/book.epub", *folder)
        site.pages["/level"] = build_level_page("4.99", "Ships enter.")
        run_sanderling(packages, "refresh", "--all", *quick, *folder)
        assert "{+enter+}" in run_sanderling(packages, "diff", site.root + "/level", *folder)
        found = read_lines(run_sanderling(packages, "search", "currents", "--json", *folder))
        assert [hit["url"] for hit in found] == [site.root + "/book.epub"]
    monkeypatch.setenv("ENCRYPTED_DATABASE_KEY", "other words")
    command = [sys.executable, "-m", "sanderling", "pages", *map(str, folder)]
    environment = {**os.environ, "PYTHONPATH": str(packages)}
    process = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (process.returncode, process.stderr.count("\n")) == (4, 1), process.stderr


def read_lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


class BulkServer(ThreadingHTTPServer):
    """The bulk API of OpenSearch with external versions, as its reference describes it. `failures`: answers of 503."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), BulkHandler)
        self.documents: dict[str, tuple[int, Any]] = {}  # by id: version and document
        self.batches = 0
        self.failures = 0

    def apply(self, body: str) -> list[dict[str, Any]]:
        lines, items = iter(body.splitlines()), []
        for line in lines:
            ((action, target),) = json.loads(line).items()
            document = json.loads(next(lines)) if action == "index" else None
            is_old = self.documents.get(target["_id"], (0, None))[0] > target["version"]
            if not is_old:
                self.documents[target["_id"]] = (target["version"], document)
            items.append({action: {"_id": target["_id"], "status": 409 if is_old else 200}})
        return items


class BulkHandler(BaseHTTPRequestHandler):
    server: BulkServer

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.batches += 1
        status, items = 503, []
        if self.server.failures:
            self.server.failures -= 1
        else:
            status, items = 200, self.server.apply(body)
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps({"errors": False, "items": items}).encode())

    def log_message(self, *args: object) -> None: ...


@pytest.fixture
def bulk_server() -> Iterator[BulkServer]:
    server = BulkServer()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.slow
def test_opensearch_has_the_last_row_of_each_page(packages: Path, bulk_server: BulkServer, tmp_path: Path) -> None:
    folder = ("-C", tmp_path / "c")
    flags = ("--delay", "0", "--workers", "1", "--no-index", "--no-sitemaps")
    target = f"opensearch://127.0.0.1:{bulk_server.server_port}/pages"
    with Site(PAGES) as site:
        run_sanderling(packages, "crawl", site.root + "/", *flags, *folder)
        bulk_server.failures = 1
        with pytest.raises(AssertionError, match="503"):
            run_sanderling(packages, "sink", target, "--text", "markdown", *folder)
        run_sanderling(packages, "sink", target, "--text", "markdown", *folder)
        first = dict(bulk_server.documents)
        run_sanderling(packages, "sink", target, "--text", "markdown", "--restart", *folder)
        assert bulk_server.documents == first, "rows that are sent again change nothing"
        run_sanderling(packages, "delete", site.root + "/a", "--yes", *folder)
        run_sanderling(packages, "sink", target, "--text", "markdown", *folder)
    documents = {row["url"]: row for _, row in bulk_server.documents.values() if row is not None}
    assert set(documents) == {site.root + path for path in PAGES if path != "/a"}
    assert documents[site.root + "/"]["markdown"].startswith("Tide tables of all harbors")
