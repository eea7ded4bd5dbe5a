"""Crawl a real server, and read the archive with other tools."""

import gzip
import json
import os
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from sanderling.config.settings import HttpSettings, PolitenessSettings, WorkerSettings
from sanderling.crawl.session import CrawlRequest, crawl
from sanderling.http.content_type import parse_mime_type
from sanderling.warc.cdxj import parse_entry
from sanderling.warc.cdxj_index import open_cdxj_index
from sanderling.warc.records import RecordLocation
from sanderling.warc.warc_reader import DamagedRegion, StoredRecord, iterate_records, read_record

DISCOVERY_PATHS = ("/sitemap", "/.well-known/resourcesync", "/llms.txt")  # lists of pages, requested before any page
PAGES = {
    "/": b'<a href="/plain">1</a> <a href="/coded?b=2&a=1">2</a> <a href="/copy">3</a>'
    b'<a href="/moved">4</a> <a href="/none">5</a> <a href="/%7ejoe">6</a> <a href="/%7ejoe/again">7</a>',
    "/plain": b"<title>Plain</title>" + b"text " * 500,
    "/copy": b"<title>Plain</title>" + b"text " * 500,
    "/coded?b=2&a=1": "<title>Größe</title>".encode() * 50,
    "/%7ejoe": b"<title>Joe</title>" * 20,  # requested as written in the link
    "/%7ejoe/again": b"<title>Joe</title>" * 20,
}


class Site(BaseHTTPRequestHandler):
    """A few pages: plain, gzipped in chunks, duplicated, moved, missing; all with validators."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == "/moved":
            self.answer(301, b"", Location="/plain")
        elif self.path not in PAGES:
            self.answer(404, b"nothing here")
        elif self.headers["If-None-Match"] == '"1"':
            self.answer(304, b"", ETag='"1"')
        elif self.path.startswith("/coded"):
            self.answer_in_chunks(gzip.compress(PAGES[self.path], mtime=0))
        else:
            self.answer(200, PAGES[self.path], ETag='"1"')

    def answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "text/html", **headers}.items():
            self.send_header(name, value)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def answer_in_chunks(self, body: bytes) -> None:
        self.send_response(200)
        for name, value in (("Content-Type", "text/html"), ("Content-Encoding", "gzip"), ("ETag", '"1"')):
            self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for part in (body[:20], body[20:]):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return a collection of that site, crawled twice, and the URL of the site."""
    folder = tmp_path_factory.mktemp("replay") / "collections" / "site"
    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        request = CrawlRequest(
            (url + "/",),
            politeness=PolitenessSettings(delay=0),
            fetching=HttpSettings(allow_private=True),
            workers=WorkerSettings(workers=1),
        )
        first, second = crawl(folder, request), crawl(folder, request)
        server.shutdown()
    assert (first.fetched, second.not_modified) == (6, 6)
    return folder, url


def load_records(folder: Path) -> list[StoredRecord]:
    found = [
        record
        for path in sorted((folder / "archive").glob("*.warc.gz"))
        for record in iterate_records(path, verify=True)
    ]
    assert not [record for record in found if isinstance(record, DamagedRegion)]
    return [record for record in found if isinstance(record, StoredRecord)]


def test_warcio_check_passes_on_the_whole_archive(collection: tuple[Path, str]) -> None:
    files = [str(path) for path in (collection[0] / "archive").glob("*.warc.gz")]
    command = [sys.executable, "-m", "warcio.cli", "check", "-v", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("digest pass") >= 4 * 2


def test_every_record_type_is_written(collection: tuple[Path, str]) -> None:
    found = load_records(collection[0])
    assert {record.record_type for record in found} == {"warcinfo", "request", "response", "metadata", "revisit"}
    assert not [record.url for record in found if record.is_intact is False]
    profiles = {
        record.get_field("WARC-Profile").rpartition("/")[2] for record in found if record.record_type == "revisit"
    }
    assert profiles == {"identical-payload-digest", "server-not-modified"}


def test_every_index_line_points_to_the_served_body(collection: tuple[Path, str]) -> None:
    folder, url = collection
    entries = [parse_entry(line) for line in (folder / "indexes" / "index.cdxj").read_bytes().splitlines()]
    pages = {record.url.removeprefix(url): record.location for record in entries if record.status == 200}
    assert {path: read_record(folder / "archive", place).body for path, place in pages.items()} == PAGES
    found = {record.url.removeprefix(url) for record in entries}
    assert {path for path in found if not path.startswith(DISCOVERY_PATHS)} == {*PAGES, "/moved", "/none"}


def test_index_has_the_url_of_the_record(collection: tuple[Path, str]) -> None:
    folder, _ = collection
    spelled = {record.url for record in load_records(folder)}
    confirmed = {
        (record.url, record.get_field("WARC-Date")[:19]) for record in load_records(folder) if record.status == 304
    }
    for line in (folder / "indexes" / "index.cdxj").read_bytes().splitlines():
        entry = parse_entry(line)
        record = read_record(folder / "archive", entry.location)
        assert entry.url in spelled
        assert entry.payload_digest == record.get_field("WARC-Payload-Digest")
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(entry.captured_at))
        assert entry.url == record.url or (entry.url, at) in confirmed, "only a 304 refers to another record"


def test_every_visit_has_an_index_line_including_304(collection: tuple[Path, str]) -> None:
    folder, url = collection
    entries = [parse_entry(line) for line in (folder / "indexes" / "index.cdxj").read_bytes().splitlines()]
    for path in PAGES:
        assert len([record for record in entries if record.url == url + path]) == 2, path
    assert not [record for record in entries if record.status == 304]


def test_index_lines_of_errors_and_redirects_have_a_media_type(collection: tuple[Path, str]) -> None:
    folder, _ = collection
    for line in (folder / "indexes" / "index.cdxj").read_bytes().splitlines():
        entry = parse_entry(line)
        if entry.mime != "warc/revisit":
            assert entry.mime == parse_mime_type(
                read_record(folder / "archive", entry.location).get_header("Content-Type")
            )


def test_rebuilt_index_has_the_same_lines(collection: tuple[Path, str], tmp_path: Path) -> None:
    folder, _ = collection
    sizes = {path.name: path.stat().st_size for path in (folder / "archive").glob("*.warc.gz")}
    open_cdxj_index(tmp_path, folder / "archive", sizes).close()
    written, rebuilt = (
        sorted(p.read_bytes().splitlines()) for p in (folder / "indexes" / "index.cdxj", tmp_path / "index.cdxj")
    )
    assert rebuilt == written


def test_every_revisit_refers_to_its_original_by_location(collection: tuple[Path, str]) -> None:
    folder, _ = collection
    for record in load_records(folder):
        if record.record_type == "revisit":
            name, offset = record.get_field("WARC-Refers-To-Filename"), record.get_field("WARC-Refers-To-File-Offset")
            original = read_record(folder / "archive", RecordLocation(name, int(offset), 0))
            assert original.get_field("WARC-Record-ID") == record.get_field("WARC-Refers-To")
            assert original.url == record.get_field("WARC-Refers-To-Target-URI")
            assert original.get_field("WARC-Payload-Digest") == record.get_field("WARC-Payload-Digest")


REPLAY_SCRIPT = """
import json, sys
from gevent import monkey; monkey.patch_all()
from pywb.apps.frontendapp import FrontEndApp
from werkzeug.test import Client
client = Client(FrontEndApp())
for url in sys.argv[1:]:
    answer = client.get(f"/site/2099id_/{url}")
    print("answer:" + json.dumps([url, answer.status_code, answer.data.decode("latin-1")]))
"""


def test_pywb_replays_every_page(collection: tuple[Path, str]) -> None:
    python = os.environ.get("SANDERLING_PYWB")
    if not python:
        pytest.skip("SANDERLING_PYWB names no Python that has pywb")
    folder, url = collection
    done = subprocess.run(
        [python, "-W", "ignore", "-c", REPLAY_SCRIPT, *(url + path for path in PAGES)],
        cwd=folder.parent.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    answers = [json.loads(line[7:]) for line in done.stdout.splitlines() if line.startswith("answer:")]
    assert [(address.removeprefix(url), status, body.encode("latin-1")) for address, status, body in answers] == [
        (path, 200, body) for path, body in PAGES.items()
    ]
