"""The example package is installed as users install it, and each of its plugins works."""

import json
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.support.site import Site, html

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
    process = subprocess.run([*pip, "--target", folder, ROOT / "examples" / "plugin"], capture_output=True, check=False)
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
        "no-calendars", "reading-time", "sqlite", "opensearch", "opensearch+https", "shortest-url", "logfile"
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
