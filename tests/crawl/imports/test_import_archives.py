"""Import of other programs' archives as history, hostile files included."""

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.support.site import Page, Site, html, redirect

from sanderling.cli import main
from sanderling.crawl.imports import import_archives as import_module
from sanderling.crawl.imports.import_archives import ImportSummary, import_archives
from sanderling.crawl.request import CrawlRequest
from sanderling.errors import UsageError
from sanderling.storage import import_queue
from sanderling.storage.collection import StoredCollection, open_collection_read_only
from sanderling.warc.packer import HttpExchange, pack_request, pack_response
from sanderling.warc.record_parser import MAX_HEADER_BYTES
from sanderling.warc.records import OriginalRecord, RecordLocation, pack_revisit
from sanderling.warc.warc_reader import read_record

START = 1_500_000_000.0
DAY = 86_400.0
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
FLAGS = ("--delay", "0", "--allow-private", "--workers", "1", "--quiet", "--no-index")


def pack_page(url: str, at: float, body: bytes, head: bytes = HEAD) -> bytes:
    return pack_response(HttpExchange(url, at, head, body)).member


def write_archive(path: Path, *members: bytes) -> Path:
    path.write_bytes(b"".join(members))
    return path


def run_import(folder: Path, *files: Path) -> ImportSummary:
    return import_archives(folder, files, CrawlRequest(()))


def read_rows(folder: Path, sql: str) -> list[tuple[object, ...]]:
    with open_collection_read_only(folder) as collection:
        return collection.db.execute(sql).fetchall()


SELECT_PAGES = (
    "SELECT h.name || u.path, p.status, p.title, p.digest, p.link_count, p.changes FROM pages AS p"
    " JOIN urls AS u ON u.id = p.url JOIN hosts AS h ON h.id = u.host WHERE u.role = 'page' ORDER BY 1"
)


def test_imported_collection_has_the_pages_and_changes_of_the_crawled_one(tmp_path: Path) -> None:
    crawled, imported = tmp_path / "crawled", tmp_path / "imported"
    pages = {
        "/": html("/a", "/b", "/old", "/none", text="root"),
        "/a": html("/", text="the first words of a page"),
        "/b": html("/", text="same"),
        "/old": redirect("/b", 301),
        "/none": Page(b"no", 404),
    }
    with Site(pages) as site:
        assert main(["crawl", site.root, "-C", str(crawled), *FLAGS]) == 0
        site.pages["/a"] = html("/", text="other words, completely different ones")
        assert main(["crawl", "-C", str(crawled), *FLAGS]) == 0
    for _ in range(2):  # the second import adds nothing
        run_import(imported, *(crawled / "archive").glob("*.warc.gz"))
        assert read_rows(imported, SELECT_PAGES) == read_rows(crawled, SELECT_PAGES)
        changes = "SELECT kinds, significance FROM changes WHERE kinds <> '' ORDER BY 1, 2"
        assert read_rows(imported, changes) == read_rows(crawled, changes) != []
        visits = "SELECT outcome, status FROM visits WHERE length > 0 AND status < 400 ORDER BY at, url"
        assert len(read_rows(imported, visits)) == 8
    assert main(["verify", "-C", str(imported)]) == 0
    with open_collection_read_only(imported) as collection:
        assert [*map(str.strip, load_seeds(collection))] == [site.root + "/"]


def load_seeds(collection: StoredCollection) -> list[str]:
    (text,) = collection.db.execute("SELECT value FROM meta WHERE name = 'seeds'").fetchone()
    return list(json.loads(text))


def test_versions_are_compared_in_the_order_of_their_dates(tmp_path: Path) -> None:
    texts = [f"<title>{n}</title><p>Version {word}" for n, word in enumerate(("one", "two", "three"))]
    files = [
        write_archive(tmp_path / f"{n}.warc.gz", pack_page("http://a.test/", START + DAY * n, text.encode()))
        for n, text in enumerate(texts)
    ]
    summary = run_import(tmp_path / "c", *reversed(files))
    assert (summary.versions, summary.pages) == (3, 1)
    assert [row[2:6:3] for row in read_rows(tmp_path / "c", SELECT_PAGES)] == [("2", 2)]
    assert read_rows(tmp_path / "c", "SELECT at FROM visits ORDER BY id") == [(START + DAY * n,) for n in range(3)]
    older = write_archive(tmp_path / "x.warc.gz", pack_page("http://a.test/", START - DAY, b"<title>old</title>"))
    assert run_import(tmp_path / "c", older).replay_only == {"older than the stored page": 1}
    index = (tmp_path / "c" / "indexes" / "index.cdxj").read_text()
    assert index.count("http://a.test/") == 4


def test_revisits_of_other_programs_are_resolved_by_url_and_date(tmp_path: Path) -> None:
    original = pack_response(HttpExchange("http://a.test/", START, HEAD, b"<title>one</title>"))
    place = RecordLocation("elsewhere.warc.gz", 0, 1)
    reference = OriginalRecord(original.record_id, "http://a.test/", START, original.payload_digest, place)
    same = pack_revisit(HttpExchange("http://a.test/copy", START + 5, HEAD), reference, "sha256").member
    not_modified = pack_revisit(
        HttpExchange("http://a.test/", START + DAY, b"HTTP/1.1 304 Not Modified\r\n\r\n"), reference, "sha256"
    ).member
    lost = OriginalRecord("urn:x", "http://lost.test/", START, original.payload_digest, place)
    missing = pack_revisit(HttpExchange("http://lost.test/", START, HEAD), lost, "sha256").member
    summary = run_import(
        tmp_path / "c", write_archive(tmp_path / "x.warc.gz", original.member, same, not_modified, missing)
    )
    assert summary.versions == 3
    assert summary.replay_only == {"the original of a revisit record is missing": 1}
    titles = [(row[0], row[2]) for row in read_rows(tmp_path / "c", SELECT_PAGES)]
    assert titles == [("http://a.test/", "one"), ("http://a.test/copy", "one")]
    assert read_rows(tmp_path / "c", "SELECT outcome FROM visits ORDER BY id DESC LIMIT 1") == [("not_modified",)]
    assert main(["show", "http://a.test/copy", "-C", str(tmp_path / "c"), "--quiet"]) == 0


def test_confirmation_is_of_the_version_with_its_digest(tmp_path: Path) -> None:
    """Dates of index entries have whole seconds, in which a page may have several versions."""
    versions = [
        pack_response(HttpExchange("http://a.test/", START + 0.2 * n, HEAD, b"<title>%d</title><p>%d" % (n, n)))
        for n in range(4)
    ]
    place = RecordLocation("elsewhere.warc.gz", 0, 1)
    references = [
        OriginalRecord(packed.record_id, "http://a.test/", START + 0.2 * n, packed.payload_digest, place)
        for n, packed in enumerate(versions)
    ]
    copies = [
        pack_revisit(HttpExchange(f"http://a.test/{n}", START + 5, HEAD), reference, "sha256").member
        for n, reference in enumerate(references)
    ]
    run_import(tmp_path / "c", write_archive(tmp_path / "x.warc.gz", *(one.member for one in versions), *copies))
    titles = [(row[0], row[2]) for row in read_rows(tmp_path / "c", SELECT_PAGES)]
    assert titles == [("http://a.test/", "3"), *((f"http://a.test/{n}", str(n)) for n in range(4))]


def test_files_that_support_a_page_are_no_pages(tmp_path: Path) -> None:
    css, png = (HEAD.replace(b"text/html; charset=utf-8", mime) for mime in (b"text/css", b"image/png"))
    summary = run_import(
        tmp_path / "c",
        write_archive(
            tmp_path / "x.warc.gz",
            pack_page("http://a.test/", START, b"<p>page"),
            pack_page("http://a.test/s.css", START, b"p{}", css),
            pack_page("http://a.test/i.png", START, b"png", png),
            pack_page("http://a.test/robots.txt", START, b"User-agent: *"),
            pack_page("http://a.test/busy", START, b"later", HEAD.replace(b"200 OK", b"503 No")),
            pack_request(HttpExchange("http://a.test/", START, b"GET / HTTP/1.1\r\n\r\n"), "urn:x").member,
        ),
    )
    assert (summary.records, summary.versions, summary.pages) == (6, 3, 1)


@pytest.mark.parametrize("kind", ["plain", "whole", "arc", "wacz"])
def test_other_containers_are_split_into_records(tmp_path: Path, kind: str) -> None:
    members = [pack_page(f"http://a.test/{n}", START + n, b"<title>t%d</title>" % n) for n in range(3)]
    plain = b"".join(map(gzip.decompress, members))
    path = tmp_path / {"plain": "x.warc", "whole": "x.warc.gz", "arc": "x.arc", "wacz": "x.wacz"}[kind]
    if kind == "wacz":
        with zipfile.ZipFile(path, "w") as package:
            package.writestr("archive/../../evil.warc.gz", b"".join(members))
            package.writestr("../outside.txt", b"no")
            package.writestr("pages/pages.jsonl", b'{"format": "x"}\n{"url": "http://a.test/2", "seed": true}\n')
    elif kind == "arc":
        body = b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<title>t%d</title>"
        blocks = [(n, body % n) for n in range(3)]
        lines = b"".join(
            b"http://a.test/%d 1.2.3.4 2017071402400%d text/html %d\n%s\n" % (n, n, len(block), block)
            for n, block in blocks
        )
        start = b"filedesc://x.arc 0.0.0.0 20170714024000 text/plain 76\n"
        path.write_bytes(start + b"1 0 x\nURL IP-address Archive-date Content-type Archive-length\n".ljust(76) + lines)
    else:
        path.write_bytes(plain if kind == "plain" else gzip.compress(plain))
    folder = tmp_path / "deep" / "c"
    summary = run_import(folder, path)
    assert (summary.versions, summary.pages) == (3, 3), summary
    assert [row[2] for row in read_rows(folder, SELECT_PAGES)] == ["t0", "t1", "t2"]
    assert main(["verify", "-C", str(folder)]) == 0
    assert {item.name for item in tmp_path.iterdir()} == {path.name, "deep"}
    assert not list(folder.glob(".import-*"))
    if kind == "wacz":
        with open_collection_read_only(folder) as collection:
            assert load_seeds(collection) == ["http://a.test/2"]


def test_damaged_records_are_rejected_and_named(tmp_path: Path) -> None:
    good = pack_page("http://a.test/", START, b"<title>good</title>")
    plain = gzip.decompress(pack_page("http://a.test/x", START, b"some words of a page"))
    lying = gzip.compress(plain.replace(b"Content-Length: ", b"Content-Length: 9"))
    forged = gzip.compress(plain.replace(b"some words", b"fake words"))
    long_header = gzip.compress(b"WARC/1.1\r\n" + b"x: y\r\n" * (MAX_HEADER_BYTES // 6 + 9) + b"\r\n")
    undated = gzip.compress(plain.replace(b"WARC-Date: 20", b"WARC-Date: nn"))
    future = pack_page("http://a.test/future", time.time() + 10 * DAY, b"<p>later")
    members = [lying, forged, long_header, b"\x1f\x8b\x08garbage", undated, future, good, good[:-40]]
    summary = run_import(tmp_path / "c", write_archive(tmp_path / "x.warc.gz", *members))
    assert (summary.versions, summary.pages) == (1, 1)
    assert summary.rejected == 4, summary.rejections  # damage without a record between counts once
    assert any("digest of http://a.test/x does not match" in text for text in summary.rejections)
    assert main(["verify", "-C", str(tmp_path / "c")]) == 0


def test_decompression_bombs_are_rejected_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sanderling.warc.import_reader.MAX_INFLATED_BYTES", 5_000_000)
    good = pack_page("http://a.test/", START, b"<title>good</title>")
    size = 50_000_000
    header = b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.test/b\r\nContent-Length: %d\r\n\r\n" % size
    bomb = gzip.compress(header + bytes(size), 9)
    summary = run_import(tmp_path / "c", write_archive(tmp_path / "x.warc.gz", bomb, good))
    assert (summary.rejected, summary.versions) == (1, 1)
    with zipfile.ZipFile(tmp_path / "x.wacz", "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("archive/x.warc", bytes(size))
    with pytest.raises(UsageError, match="expands more than"):
        run_import(tmp_path / "c", tmp_path / "x.wacz")
    for name, content in (("x.zip", b"PK\x03\x04nonsense"), ("x.txt", b"hello"), ("empty.warc.gz", b"")):
        (tmp_path / name).write_bytes(content)
        if name == "empty.warc.gz":
            assert run_import(tmp_path / "c", tmp_path / name).records == 0
        else:
            with pytest.raises(UsageError):
                run_import(tmp_path / "new", tmp_path / name)
            assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "damage",
    [
        b"\x1f\x8b\x08\x00" * 300_000,  # each may be a member
        gzip.compress(b"WARC/1.0\r\nContent-Length: " + b"9" * 5_000 + b"\r\n\r\n"),
        gzip.compress(b"WARC/1.0\r\nContent-Length: " + "٣".encode() + b"\r\n\r\n"),
        gzip.compress(b"WARC/1.0\r\nContent-Length: " + b"9" * 15 + b"\r\n\r\n"),
        b"\x1f\x8b\x08\x08" + bytes(6) + b"name" * 200_000,  # a name without an end
    ],
    ids=["magic numbers", "5,000 digits", "foreign digit", "petabyte", "name"],
)
def test_records_after_damage_are_found(tmp_path: Path, damage: bytes) -> None:
    good = [pack_page(f"http://a.test/{number}", START, b"<title>good</title>") for number in range(2)]
    summary = run_import(tmp_path / "c", write_archive(tmp_path / "x.warc.gz", good[0], damage, good[1]))
    assert (summary.versions, summary.rejected) == (2, 1), summary.rejections


def test_hostile_references_are_no_places_of_records(tmp_path: Path) -> None:
    """Offsets that no file can have, in an index and in revisit records, and names that lead out of the archive."""
    fields = [("../../x", "0"), ("x.warc.gz", "9" * 20), ("x.warc.gz", "9" * 5_000), ("x.warc.gz", "-1")]
    original = pack_response(HttpExchange("http://lost.test/", START, HEAD, b"<title>one</title>"))
    members = [pack_page("http://a.test/", START, b"<title>good</title>")]
    for number, (name, offset) in enumerate(fields):
        place = RecordLocation("PLACE", 77_777, 1)
        reference = OriginalRecord(original.record_id, "http://lost.test/", START, original.payload_digest, place)
        status = b"HTTP/1.1 304 Not Modified\r\n\r\n" if number % 2 else HEAD
        packed = pack_revisit(HttpExchange(f"http://a.test/{number}", START + number, status), reference, "sha256")
        plain = gzip.decompress(packed.member).replace(b"PLACE", name.encode()).replace(b"77777", offset.encode())
        members.append(gzip.compress(plain))
    run_import(tmp_path / "c", write_archive(tmp_path / "x.warc.gz", *members))
    shutil.rmtree(tmp_path / "c" / "indexes")
    assert main(["verify", "-C", str(tmp_path / "c")]) == 0
    assert (
        main(["delete", "http://a.test/", "-C", str(tmp_path / "c"), "--yes", "--quiet"]) == 0
    )  # builds the index anew
    for name, offset in fields:
        (tmp_path / "x.cdxj").write_text(f'test,a)/ 2017 {{"filename": "{name}", "offset": "{offset}"}}\n')
        with pytest.raises(UsageError):
            run_import(tmp_path / "d", tmp_path / "x.cdxj")


def test_deleted_urls_stay_out(tmp_path: Path) -> None:
    path = write_archive(
        tmp_path / "x.warc.gz",
        pack_page("http://a.test/", START, b"<p>page"),
        pack_page("http://a.test/secret", START, b"<p>secret"),
    )
    run_import(tmp_path / "c", path)
    assert main(["delete", "http://a.test/secret", "-C", str(tmp_path / "c"), "--yes", "--quiet"]) == 0
    again = write_archive(tmp_path / "y.warc.gz", pack_page("http://a.test/secret", START + DAY, b"<p>secret again"))
    summary = run_import(tmp_path / "c", again)
    assert (summary.rejected, summary.records) == (1, 0)


@pytest.mark.parametrize("deleted", ["http://a.test/", "http://a.test/copy"])
def test_deleting_one_of_two_pages_with_a_shared_record_keeps_the_other(tmp_path: Path, deleted: str) -> None:
    original = pack_response(HttpExchange("http://a.test/", START, HEAD, b"<title>one</title>"))
    reference = OriginalRecord(
        original.record_id, "http://a.test/", START, original.payload_digest, RecordLocation("x", 0, 1)
    )
    copy = pack_revisit(HttpExchange("http://a.test/copy", START + 5, HEAD), reference, "sha256").member
    busy = pack_page(deleted, START + 9, b"secret", HEAD.replace(b"200 OK", b"503 No"))
    folder, file = tmp_path / "c", write_archive(tmp_path / "x.warc.gz", original.member, copy, busy)
    run_import(folder, file)
    assert main(["delete", deleted, "-C", str(folder), "--yes", "--quiet"]) == 0
    (kept,) = {"http://a.test/", "http://a.test/copy"} - {deleted}
    with open_collection_read_only(folder) as collection:
        sql = "SELECT f.name, v.start, v.length FROM visits AS v JOIN files AS f ON f.id = v.file WHERE v.length > 0"
        rows = collection.db.execute(sql).fetchall()
        (record,) = [read_record(collection.archive_folder, RecordLocation(*row)) for row in rows]
    assert (record.url, record.body) == (kept, b"<title>one</title>")
    stored = b"".join(gzip.decompress(path.read_bytes()) for path in (folder / "archive").glob("*.gz"))
    assert b"WARC-Target-URI: %s\r\n" % deleted.encode() not in stored
    assert b"secret" not in stored
    assert main(["verify", "-C", str(folder)]) == 0


def import_in_child(folder: Path, files: Sequence[Path]) -> subprocess.Popen[bytes]:
    code = "import sys; from sanderling.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "import", *map(str, files), "-C", str(folder), "--quiet", "--no-index"]
    return subprocess.Popen(command)


def test_killed_import_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    members = [
        pack_page(f"http://a.test/{n % 500}", START + n, b"<title>%d</title>%s" % (n, os.urandom(600).hex().encode()))
        for n in range(4000)
    ]
    files = [write_archive(tmp_path / f"{n}.warc.gz", *members[n::2]) for n in range(2)]
    for seconds in (0.5, 0.8, 1.1, 1.4):
        process = import_in_child(tmp_path / "c", files)
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()
    monkeypatch.setattr(import_queue, "BATCH_RECORDS", 100)
    monkeypatch.setattr(import_module, "BATCH_RECORDS", 100)
    summary = run_import(tmp_path / "c", *files)
    assert summary.pages == 500
    assert read_rows(tmp_path / "c", "SELECT count(*), count(DISTINCT at) FROM visits") == [(4000, 4000)]
    assert read_rows(tmp_path / "c", "SELECT count(*) FROM leases") == [(0,)]
    assert len((tmp_path / "c" / "indexes" / "index.cdxj").read_bytes().splitlines()) == 4000
    assert main(["verify", "-C", str(tmp_path / "c")]) == 0
