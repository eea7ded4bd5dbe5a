"""Import of archives with the record shapes of Heritrix, Browsertrix, Common Crawl, wget, and warcit.

Each file is written and counted by warcio. Field by field, the records follow files that these programs wrote, or their
source: see the comments.
"""

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import brotli
import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from sanderling.api.replay.capture_store import CaptureStore
from sanderling.cli import main
from sanderling.crawl.imports.import_archives import ImportSummary, import_archives
from sanderling.crawl.request import CrawlRequest
from sanderling.storage.collection import open_collection_read_only
from sanderling.warc.import_reader import parse_warc_time

REVISIT = "http://netpreserve.org/warc/1.0/revisit/"
Fields = dict[str, str]


def build_page(title: str) -> bytes:
    return f"<title>{title}</title><p>Some words about {title} that a reader looks for.".encode()


class ForeignFile:
    """A WARC file that is written by warcio."""

    def __init__(self, version: str = "1.0") -> None:
        self.buffer = io.BytesIO()
        self._writer: Any = WARCWriter(self.buffer, gzip=True, warc_version=version)
        self._writer._create_temp_file = io.BytesIO  # its own is left open
        self._writer.write_record(self._writer.create_warcinfo_record("x.warc.gz", {"software": "another program"}))

    def add(
        self,
        kind: str,
        url: str,
        date: str,
        body: bytes = b"",
        *,
        status: str = "",
        mime: str = "text/html",
        http: Fields | None = None,
        fields: Fields | None = None,
    ) -> Any:
        """Add a record. With `status`, it has an HTTP head."""
        pairs = [*({"Content-Type": mime} | (http or {})).items()]
        head = StatusAndHeaders(status, pairs, protocol="HTTP/1.1") if status else None
        record = self._writer.create_warc_record(
            url,
            kind,
            payload=io.BytesIO(body),
            http_headers=head,
            warc_content_type="" if status else mime,
            warc_headers_dict={"WARC-Date": date, **(fields or {})},
        )
        self._writer.write_record(record)
        return record.rec_headers


def write_heritrix(file: ForeignFile) -> None:
    """WARCWriterProcessor: DNS, whois, FTP, metadata; revisit records of both profiles, old ones without references."""
    file.add(
        "response",
        "dns:h.test",
        "2019-05-01T00:00:00Z",
        b"20190501000000\nh.test. 300 IN A 10.0.0.1\n",
        mime="text/dns",
    )
    file.add("response", "whois://whois.test/h.test", "2019-05-01T00:00:00Z", b"owner", mime="text/plain")
    file.add("resource", "ftp://h.test/a.txt", "2019-05-01T00:00:00Z", b"text", mime="text/plain")
    file.add(
        "response",
        "http://h.test/robots.txt",
        "2019-05-01T00:00:01Z",
        b"User-agent: *",
        status="200 OK",
        mime="text/plain",
    )
    home = file.add("response", "http://h.test/", "2019-05-01T00:00:02Z", build_page("home"), status="200 OK")
    digest, record_id = home["WARC-Payload-Digest"], home["WARC-Record-ID"]
    outlinks = b"seed: \r\nfetchTimeMs: 60\r\noutlink: http://h.test/a L a/@href\r\n"
    file.add("metadata", "http://h.test/", "2019-05-01T00:00:02Z", outlinks, mime="application/warc-fields")
    file.add("revisit", "http://h.test/", "2019-05-02T00:00:00Z", status="304 Not Modified",
             fields={"WARC-Profile": f"{REVISIT}server-not-modified"})  # fmt: skip
    file.add("revisit", "http://h.test/", "2019-05-03T00:00:00Z", status="200 OK",
             fields={"WARC-Profile": f"{REVISIT}identical-payload-digest", "WARC-Payload-Digest": digest})  # fmt: skip
    file.add("revisit", "http://h.test/home", "2019-05-03T00:00:01Z", status="200 OK", fields={
        "WARC-Profile": f"{REVISIT}identical-payload-digest", "WARC-Payload-Digest": digest,
        "WARC-Refers-To": record_id, "WARC-Refers-To-Target-URI": "http://h.test/",
        "WARC-Refers-To-Date": "2019-05-01T00:00:02Z"})  # fmt: skip
    file.add("response", "http://h.test/", "2019-05-04T00:00:00Z", build_page("another home"), status="200 OK")


def write_browsertrix(file: ForeignFile) -> None:
    """Dates with milliseconds, page ids, coded bodies, bodies stored decoded, `urn:` resources, interrupted bodies."""
    date, page = "2024-03-01T10:00:00.123Z", {"WARC-Page-ID": "5f3f", "WARC-Resource-Type": "document"}
    home = file.add("response", "https://b.test/", date, build_page("home"), status="200", fields=page)
    file.add("response", "https://b.test/br", date, brotli.compress(build_page("br")), status="200 OK",
             http={"content-encoding": "br"}, fields=page)  # fmt: skip
    for coding in ("br", "zstd", "gzip"):
        file.add("response", f"https://b.test/plain-{coding}", date, build_page(coding), status="200 OK",
                 http={"content-encoding": coding, "transfer-encoding": "chunked"})  # fmt: skip
    file.add("response", "https://b.test/cut", date, build_page("cut"), status="200 OK",
             http={"content-length": "99999"}, fields={"WARC-Truncated": "disconnect"})  # fmt: skip
    file.add("response", "https://b.test/x.js", date, b"1", status="200 OK", mime="application/javascript")
    file.add("revisit", "https://b.test/same", date, status="200 OK", fields={
        "WARC-Profile": "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
        "WARC-Payload-Digest": home["WARC-Payload-Digest"], "WARC-Refers-To-Target-URI": "https://b.test/",
        "WARC-Refers-To-Date": date})  # fmt: skip
    information = json.dumps({"pageid": "5f3f", "urls": {"https://b.test/": {"status": 200, "mime": "text/html"}}})
    file.add("resource", "urn:pageinfo:https://b.test/", date, information.encode(), mime="application/json")
    file.add("resource", "urn:view:https://b.test/", date, b"\x89PNG", mime="image/png")
    file.add("resource", "urn:text:https://b.test/", date, b"home", mime="text/plain")


def write_common_crawl(file: ForeignFile) -> None:
    """Request, response, and metadata of each page; renamed headers; a body cut off at a limit; conversions (WET)."""
    for number in range(4):
        url, date = f"https://c{number}.test/a?x={number}&y=%20", f"2024-02-21T00:00:0{number}Z"
        file.add("request", url, date, b"GET /a HTTP/1.1\r\n\r\n", mime="application/http; msgtype=request")
        file.add("response", url, date, build_page(str(number)), status="200 OK",
                 http={"X-Crawler-Content-Encoding": "gzip", "X-Crawler-Content-Length": "44"},
                 fields={"WARC-Truncated": "length"} if number == 2 else {})  # fmt: skip
        file.add("metadata", url, date, b"fetchTimeMs: 1\r\n", mime="application/warc-fields")
        file.add("conversion", url, date, b"words", mime="text/plain")


def write_wget(file: ForeignFile) -> None:
    """WARC/1.0: `<...>` around URLs; revisit records that name only the id of the original."""
    fields = {"WARC-Target-URI": "<http://w.test/>"}
    home = file.add("response", "<http://w.test/>", "2021-01-01T00:00:00Z", build_page("home"), status="200 OK")
    file.add("response", "<http://w.test/>", "2021-01-03T00:00:00Z", build_page("another home"), status="200 OK")
    file.add("revisit", "<http://w.test/>", "2021-01-02T00:00:00Z", status="200 OK", fields={
        **fields, "WARC-Refers-To": home["WARC-Record-ID"], "WARC-Truncated": "length",
        "WARC-Profile": f"{REVISIT}identical-payload-digest",
        "WARC-Payload-Digest": home["WARC-Payload-Digest"]})  # fmt: skip
    file.add(
        "resource",
        "<metadata://gnu.org/software/wget/warc/wget.log>",
        "2021-01-03T00:00:01Z",
        b"log",
        mime="text/plain",
    )


def write_warcit(file: ForeignFile) -> None:
    """Files of a folder as `resource` records, without HTTP heads."""
    for name, mime, body in (
        ("", "text/html", build_page("home")),
        ("i.png", "image/png", b"\x89PNG"),
        ("a", "text/html", build_page("a")),
    ):
        file.add("resource", f"http://f.test/{name}", "2020-01-02T03:04:05Z", body, mime=mime)


Shape = tuple[Callable[[ForeignFile], None], str, set[str], int, int]
SHAPES: dict[str, Shape] = {  # writer, WARC version, pages, versions, changes
    "heritrix": (write_heritrix, "1.0", {"http://h.test/", "http://h.test/home"}, 5, 1),
    "browsertrix": (
        write_browsertrix, "1.1",
        {f"https://b.test/{name}" for name in ("", "br", "plain-br", "plain-zstd", "plain-gzip", "cut", "same")}, 8, 0,
    ),
    "common crawl": (write_common_crawl, "1.0", {f"https://c{n}.test/a?x={n}&y=%20" for n in range(4)}, 4, 0),
    "wget": (write_wget, "1.0", {"http://w.test/"}, 3, 1),
    "warcit": (write_warcit, "1.0", {"http://f.test/", "http://f.test/a"}, 3, 0),
}  # fmt: skip


@pytest.fixture(params=SHAPES)
def shape(request: pytest.FixtureRequest) -> Shape:
    return SHAPES[request.param]


def iterate_reference(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield type, URL, and date of the records that warcio reads."""
    with path.open("rb") as file:
        for record in ArchiveIterator(file):
            headers = record.rec_headers
            yield record.rec_type, headers.get_header("WARC-Target-URI") or "", headers.get_header("WARC-Date") or ""


def run_import(folder: Path, *files: Path) -> ImportSummary:
    return import_archives(folder, files, CrawlRequest(()))


def test_records_become_pages_versions_and_changes(shape: Shape, tmp_path: Path) -> None:
    write, version, pages, versions, changes = shape
    foreign, path, folder = ForeignFile(version), tmp_path / "x.warc.gz", tmp_path / "c"
    write(foreign)
    path.write_bytes(foreign.buffer.getvalue())
    summary = run_import(folder, path)
    reference = list(iterate_reference(path))
    assert (summary.records, summary.rejected, summary.replay_only) == (len(reference), 0, {})
    assert (summary.versions, summary.changed) == (versions, changes)
    captures = [
        (url, date)
        for kind, url, date in reference
        if kind in ("response", "revisit", "resource") and url.startswith("http") and "robots" not in url
    ]
    assert summary.versions == len(captures) == summary.records - sum(summary.other_records.values())
    with open_collection_read_only(folder) as collection:
        sql = ("SELECT h.name || u.path FROM pages AS p JOIN urls AS u ON u.id = p.url JOIN hosts AS h ON h.id = u.host"
               " WHERE u.role = 'page'")  # fmt: skip
        assert {url for (url,) in collection.db.execute(sql)} == pages
        dates = [at for (at,) in collection.db.execute("SELECT at FROM visits")]
    assert sorted(dates) == sorted(parse_warc_time(date) for _, date in captures)
    assert main(["verify", "-C", str(folder)]) == 0
    store = CaptureStore(folder)
    assert all(store.load_nearest(url, parse_warc_time(date)) for url, date in captures)


@pytest.mark.parametrize("name", ["heritrix", "wget"])
def test_revisit_without_references_has_the_body_with_its_digest(name: str, tmp_path: Path) -> None:
    """The version after it is nearer in time than the original, but has another body."""
    foreign = ForeignFile()
    SHAPES[name][0](foreign)
    (tmp_path / "x.warc.gz").write_bytes(foreign.buffer.getvalue())
    run_import(tmp_path / "c", tmp_path / "x.warc.gz")
    (url,) = {url for url in SHAPES[name][2] if url.endswith(".test/")}
    store = CaptureStore(tmp_path / "c")
    bodies = [
        capture.record.body
        for entry in store.list_captures(url)
        if (capture := store.load_nearest(url, entry.captured_at))
    ]
    assert bodies[-2:] == [build_page("home"), build_page("another home")]


def test_revisit_whose_original_is_missing_gets_no_other_body(tmp_path: Path) -> None:
    foreign = ForeignFile()
    foreign.add("response", "http://w.test/", "2021-01-01T00:00:00Z", build_page("one"), status="200 OK")
    foreign.add("revisit", "http://w.test/", "2021-01-02T00:00:00Z", status="200 OK", fields={
        "WARC-Profile": f"{REVISIT}identical-payload-digest",
        "WARC-Payload-Digest": "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"})  # fmt: skip
    (tmp_path / "x.warc.gz").write_bytes(foreign.buffer.getvalue())
    assert run_import(tmp_path / "c", tmp_path / "x.warc.gz").replay_only == {
        "the original of a revisit record is missing": 1
    }


def test_wacz_file_of_browsertrix(tmp_path: Path) -> None:
    """Two WARC files, of which one has screenshots, pages in two lists, an empty index, and logs."""
    pages, screenshots, path = ForeignFile("1.1"), ForeignFile("1.1"), tmp_path / "x.wacz"
    write_browsertrix(pages)
    screenshots.add("resource", "urn:view:https://b.test/", "2024-03-01T10:00:00.123Z", b"\x89PNG", mime="image/png")
    start = '{"format": "json-pages-1.0", "id": "pages", "title": "Seed Pages", "hasText": "true"}\n'
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("archive/rec-0.warc.gz", pages.buffer.getvalue())
        package.writestr("archive/screenshots-0.warc.gz", screenshots.buffer.getvalue())
        package.writestr("indexes/index.cdxj", b"")
        package.writestr("pages/pages.jsonl", start + '{"url": "https://b.test/", "seed": true, "loadState": 4}\n')
        package.writestr("pages/extraPages.jsonl", start + '{"url": "https://b.test/br", "depth": 1}\n')
        package.writestr("logs/crawl.log", '{"context": "general"}\n')
    summary = run_import(tmp_path / "c", path)
    assert (summary.files, summary.versions, summary.other_records) == (2, 8, {"resource of urn:": 4, "warcinfo": 2})
    with open_collection_read_only(tmp_path / "c") as collection:
        (seeds,) = collection.db.execute("SELECT value FROM meta WHERE name = 'seeds'").fetchone()
    assert json.loads(seeds) == ["https://b.test/"]
