"""Sinks with real targets: files, an fsspec address, PostgreSQL, and a webhook; killed while they write."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.api.test_api import OPTIONS
from tests.support.postgres import run_postgres
from tests.support.site import Site, html, tree

import sanderling
from sanderling.cli import main
from sanderling.errors import CollectionError, SinkUnavailable, UsageError
from sanderling.export.export_rows import ExportQuery, Row, iterate_rows
from sanderling.export.run_sink import SinkRequest, run_sink
from sanderling.export.sink import get_state_file, load_sink_states, lock_sink_state
from sanderling.monitor.page_fields import parse_field_definitions
from sanderling.storage.collection import open_collection_read_only

PAGES = 40
SMALL_BATCHES = "import sanderling.export.sink as s; s.BATCH_VISITS = 3; from sanderling.cli import main; main()"
FIELDS = parse_field_definitions(["heading=css:h1", "length:number=re:(\\d+)"])
VISIT_COLUMNS = {"visits", "last_visit"}  # also change with visits that found a page unchanged


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site(tree(PAGES)) as running:
        yield running


@pytest.fixture(scope="module")
def crawled(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection with changed, gone, and deleted pages."""
    pages, folder = dict(site.pages), tmp_path_factory.mktemp("sinks") / "c"
    try:
        with sanderling.open(folder, OPTIONS) as collection:
            collection.crawl(site.root + "/").wait()
            change_site(site, collection)
    finally:
        site.pages.clear()
        site.pages.update(pages)
    return folder


@pytest.fixture
def folder(crawled: Path, tmp_path: Path) -> Path:
    return shutil.copytree(crawled, tmp_path / "c")


def change_site(site: Site, collection: sanderling.Collection) -> None:
    """Change three pages, remove one, and delete one from the collection."""
    paths = [path for path in site.pages if path not in ("/", "/robots.txt")]
    for number, path in enumerate(paths[:3]):
        site.pages[path] = html("/", text=f"This page has quite another text now, number {number}. " * 5)
    del site.pages[paths[4]]
    collection.refresh(every_page=True).wait()
    collection.delete(site.root + paths[5])


def read_expected(folder: Path, query: ExportQuery | None = None) -> dict[object, Row]:
    with open_collection_read_only(folder) as stored:
        return {row["url"]: strip(row) for row in iterate_rows(stored, query or ExportQuery())}


def strip(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in {"visit", "at", "deleted", *VISIT_COLUMNS}}


def read_jsonl(target: Path) -> list[Row]:
    return [json.loads(line) for path in sorted(target.rglob("*.jsonl")) for line in path.read_text().splitlines()]


def apply_rows(rows: list[Row]) -> dict[object, Row]:
    """Return the last row of each page that was not deleted."""
    state: dict[object, Row] = {}
    for row in sorted(rows, key=lambda row: int(str(row["visit"]))):
        state[row["url"]] = row
    return {url: strip(row) for url, row in state.items() if not row["deleted"]}


def kill_until_done(folder: Path, target: str, *flags: str) -> int:
    """Run `sanderling sink` and kill it whenever its cursor moves, until it has nothing left. Returns the kills."""
    file, kills = get_state_file(folder, target), 0
    command = [sys.executable, "-c", SMALL_BATCHES, "sink", target, "-C", str(folder), *flags]
    while True:
        before = file.stat().st_mtime_ns if file.exists() else 0
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            while process.poll() is None and (file.stat().st_mtime_ns if file.exists() else 0) == before:
                time.sleep(0.002)
            time.sleep(0.003 * (kills % 4))  # at another place of the batch
            if process.poll() is None and kills < 8:
                os.kill(process.pid, signal.SIGKILL)
                kills += 1
                continue
            _, errors = process.communicate()
        assert process.returncode == 0, errors
        return kills


def test_killed_sink_ends_equal_to_the_catalog(folder: Path, tmp_path: Path) -> None:
    kills = kill_until_done(folder, str(tmp_path / "out"), "--text", "text")
    rows = read_jsonl(tmp_path / "out")
    assert kills >= 4
    assert apply_rows(rows) == read_expected(folder, ExportQuery(text="text"))
    visits = [row["visit"] for row in rows]
    assert len(visits) == len(set(visits))  # each row once
    assert any(row["deleted"] for row in rows)


def test_parquet_files_have_the_same_columns(folder: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    query = ExportQuery(data=True, fields=FIELDS)
    run_sink(folder, SinkRequest(str(tmp_path / "out"), query, "parquet"))
    files = list((tmp_path / "out").rglob("*.parquet"))
    assert {path.parent.name for path in files} == {time.strftime("date=%Y-%m-%d", time.gmtime())}
    table = parquet.read_table(tmp_path / "out")
    assert {"visit", "deleted", "data", "fields.heading", "fields.length"} <= set(table.column_names)
    stored = {row["url"]: row for row in table.to_pylist()}
    expected = read_expected(folder)
    assert {url for url, row in stored.items() if not row["deleted"]} == set(expected)
    assert all(stored[url]["digest"] == row["digest"] for url, row in expected.items())


def test_sink_continues_with_new_visits_only(site: Site, folder: Path) -> None:
    target = "memory://sink-continues"
    first = run_sink(folder, SinkRequest(target))
    assert first.rows > PAGES / 2
    assert run_sink(folder, SinkRequest(target)).rows == 0
    with sanderling.open(folder, OPTIONS) as collection:
        collection.refresh(every_page=True).wait()  # the pages have their first texts again
    changed = run_sink(folder, SinkRequest(target)).rows
    assert 3 <= changed < 10
    assert run_sink(folder, SinkRequest(target, restart=True)).rows >= PAGES - 2
    assert run_sink(folder, SinkRequest("memory://all", includes_unchanged=True)).rows >= PAGES - 2
    assert run_sink(folder, SinkRequest("memory://one", ExportQuery(pattern=site.root + "/"))).rows == 1
    assert [state.target for state in load_sink_states(folder)] == ["memory://all", "memory://one", target]


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    """Start a PostgreSQL server and return its address."""
    with run_postgres() as address:
        yield address


def read_table(address: str, table: str = "sanderling_pages") -> dict[object, dict[str, Any]]:
    import psycopg
    from psycopg.rows import dict_row

    with psycopg.connect(address) as connection:
        rows = connection.cursor(row_factory=dict_row).execute(f'SELECT * FROM "{table}"').fetchall()
    return {row["url"]: row for row in rows}


def test_killed_table_ends_equal_to_the_catalog(folder: Path, database: str) -> None:
    assert kill_until_done(folder, database, "--fields", "heading=css:h1", "--data") >= 4
    stored, expected = read_table(database), read_expected(folder)
    assert set(stored) == set(expected)
    for url, row in expected.items():
        differing = {
            name: (row[name], stored[url][name])
            for name in ("status", "title", "digest", "bytes", "changes", "location", "links", "depth")
            if row[name] != stored[url][name]
        }
        assert differing == {}
    assert all(row["data"] is None or isinstance(row["data"], dict) for row in stored.values())
    assert {row["fields_heading"] for row in stored.values()} >= {None}


def test_table_follows_a_crawl_while_killed(site: Site, database: str, tmp_path: Path) -> None:
    folder, pages = tmp_path / "new", dict(site.pages)
    try:
        with sanderling.open(folder, OPTIONS) as collection:
            run = collection.crawl(site.root + "/", delay=0.02)
            next(run)
            killed = threading.Thread(target=kill_until_done, args=(folder, database, "--table", "followed"))
            killed.start()
            run.wait()
            change_site(site, collection)
            killed.join()
        assert main(["sink", database, "-C", str(folder), "--table", "followed", "--quiet"]) == 0
    finally:
        site.pages.clear()
        site.pages.update(pages)
    stored, expected = read_table(database, "followed"), read_expected(folder)
    assert {url: (row["status"], row["digest"]) for url, row in stored.items()} == {
        url: (row["status"], row["digest"]) for url, row in expected.items()
    }


class Receiver:
    """A webhook on loopback that may refuse messages."""

    def __init__(self) -> None:
        self.messages: dict[str, list[Row]] = {}
        self.count = 0
        self.status: Callable[[], int] = lambda: 200
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                receiver.count += 1
                status = receiver.status()
                if status == 200:
                    assert self.headers["webhook-signature"].startswith("v1,")
                    receiver.messages[self.headers["webhook-id"]] = body["rows"]
                self.send_response(status)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/pages"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver()
    yield found
    found.close()


def test_killed_webhook_sink_loses_nothing(folder: Path, receiver: Receiver) -> None:
    assert kill_until_done(folder, receiver.url) >= 4
    rows = [row for message in receiver.messages.values() for row in message]
    assert apply_rows(rows) == read_expected(folder)


def test_refused_message_is_sent_again(folder: Path, receiver: Receiver) -> None:
    receiver.status = lambda: 503
    with pytest.raises(SinkUnavailable, match="did not accept rows"):
        run_sink(folder, SinkRequest(receiver.url))
    assert main(["sink", receiver.url, "-C", str(folder)]) == 17
    stopped, reasons = threading.Event(), list[str]()

    def recover(reason: str) -> None:
        reasons.append(reason)

        def accept() -> int:
            if receiver.count > 3:
                stopped.set()
            return 200

        receiver.status = accept

    run_sink(folder, SinkRequest(receiver.url), stopped=stopped, on_retry=recover)
    assert len(reasons) == 1
    rows = [row for message in receiver.messages.values() for row in message]
    assert apply_rows(rows) == read_expected(folder)


def test_two_processes_do_not_write_to_a_sink(folder: Path, tmp_path: Path) -> None:
    target = str(tmp_path / "out")
    with lock_sink_state(folder, target), pytest.raises(CollectionError, match="another process"):
        run_sink(folder, SinkRequest(target))


@pytest.mark.parametrize(
    ("target", "error", "message"),
    [
        ("nothing://host/x", UsageError, "is not an address that a sink can use"),
        ("postgresql://nobody@127.0.0.1:9/none", SinkUnavailable, "cannot write to postgresql://nobody@127.0.0.1:9"),
        ("postgresql://u:secret@:bad:/x?y", (UsageError, SinkUnavailable), "PostgreSQL|cannot write"),
        ("http://", UsageError, "not a webhook URL"),
        ("/dev/null/x", SinkUnavailable, "cannot write to /dev/null/x"),
    ],
)
def test_unusable_target_is_reported(folder: Path, target: str, error: Any, message: str) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(error, match=message) as found:
        run_sink(folder, SinkRequest(target))
    assert "secret" not in str(found.value)


def test_sinks_are_listed(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sink", str(tmp_path / "out"), "-C", str(folder), "--json"]) == 0
    sent = json.loads(capsys.readouterr().out)
    assert main(["sink", "--list", "-C", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "target": str(tmp_path / "out"), "cursor": sent["cursor"], "pending": 0,
    }  # fmt: skip
    assert main(["sink", "-C", str(folder)]) == 4
    assert "no target" in capsys.readouterr().err
