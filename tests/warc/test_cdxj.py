"""The index: lines other tools read, found by URL and time, whole again after a crash."""

import gzip
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.warc.archive import OriginalRecord, RecordLocation, open_archive
from sanderling.warc.cdxj import CdxjEntry, build_entry, format_entry, parse_entry, read_captures
from sanderling.warc.cdxj_index import CdxjIndex, find_captures, find_nearest, open_cdxj_index, remove_entries
from sanderling.warc.packer import HttpExchange, PackedRecord, pack_request, pack_response
from sanderling.warc.surt import build_surt
from sanderling.warc.warc_reader import StoredRecord, iterate_records, read_record

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: Text/HTML; charset=utf-8\r\n\r\n"
SVG = b"HTTP/1.1 200 OK\r\nContent-Type: image/svg+xml\r\n\r\n"
DAY = 86_400.0


def entry(url: str, at: float = DAY, offset: int = 0) -> CdxjEntry:
    return CdxjEntry(url, at, "text/html", 200, "sha256:X", RecordLocation("a.warc.gz", offset, 9))


def test_a_line_is_key_time_and_facts() -> None:
    key, stamp, facts = format_entry(entry("http://www.a.test/B")).decode().split(" ", 2)
    assert (key, stamp) == ("test,a)/b", "19700102000000")
    assert json.loads(facts) == {
        "url": "http://www.a.test/B",
        "mime": "text/html",
        "status": "200",
        "digest": "sha256:X",
        "length": "9",
        "offset": "0",
        "filename": "a.warc.gz",
    }


@given(url=st.text(max_size=30), at=st.integers(0, 4_000_000_000), mime=st.text(max_size=9), status=st.integers(0, 999))
def test_a_line_is_read_back_as_it_was(url: str, at: int, mime: str, status: int) -> None:
    one = CdxjEntry("http://a/" + url, float(at), mime, status, "sha1:Y", RecordLocation("f", 1, 2))
    assert format_entry(one).count(b"\n") == 1
    assert parse_entry(format_entry(one)) == one


def test_captures_of_one_url_are_found_among_its_look_alikes(tmp_path: Path) -> None:
    urls = [
        "http://a.test/",
        "http://a.test/x",
        "http://a.test/X",
        "http://www.a.test/x",
        "http://a.test/x?a",
        "http://b.test/",
    ]
    lines = [format_entry(entry(url, DAY * day, day)) for url in urls for day in range(1, 4)]
    (tmp_path / "index.cdxj").write_bytes(b"".join(sorted(lines)))
    for url in urls:
        found = list(read_captures(tmp_path / "index.cdxj", url))
        assert [(one.url, one.captured_at) for one in found] == [(url, DAY * day) for day in range(1, 4)]
    assert list(read_captures(tmp_path / "index.cdxj", "http://a.test/y")) == []


@given(
    words=st.sets(st.text("abc", min_size=1, max_size=4), max_size=40), wanted=st.text("abc", min_size=1, max_size=4)
)
def test_bisection_finds_what_reading_everything_finds(
    words: set[str], wanted: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("cdxj") / "index.cdxj"
    path.write_bytes(b"".join(sorted(format_entry(entry(f"http://a.test/{word}" * (1 + len(word)))) for word in words)))
    url = f"http://a.test/{wanted}" * (1 + len(wanted))
    assert [one.url for one in read_captures(path, url)] == ([url] if wanted in words else [])


def test_the_nearest_in_time_is_found() -> None:
    entries = [entry("http://a/", DAY * day) for day in (1, 3, 9)]
    assert find_nearest(entries, DAY * 5) == entries[1]
    assert find_nearest([], 0) is None


def batch(folder: Path, committed: dict[str, int], numbers: range) -> tuple[list[CdxjEntry], dict[str, int]]:
    """Store pages; return what the index would be told."""
    with open_archive(folder, committed) as archive:
        entries = []
        for number in numbers:
            url = f"http://a.test/{number}"
            packed = pack_response(HttpExchange(url, DAY + number, HEAD, os.urandom(50)))
            place = archive.append(packed.member)
            asked = HttpExchange(url, DAY, b"GET / HTTP/1.1\r\n\r\n")
            archive.append(pack_request(asked, packed.record_id).member)
            entries.append(CdxjEntry(url, DAY + number, "text/html", 200, packed.payload_digest, place))
        return entries, committed | archive.flush()


def all_entries(folder: Path) -> list[CdxjEntry]:
    return [parse_entry(line) for line in (folder / "index.cdxj").read_bytes().splitlines(keepends=True)]


def by_key(entries: list[CdxjEntry]) -> list[CdxjEntry]:
    return sorted(entries, key=lambda one: format_entry(one))


def test_runs_are_merged_into_one_sorted_file(tmp_path: Path) -> None:
    index = CdxjIndex(tmp_path, run_lines=10)
    given_entries = [entry(f"http://a.test/{n * 7 % 50}", DAY, n) for n in range(50)]
    for start in range(0, 50, 5):
        index.add(given_entries[start : start + 5], {"a.warc.gz": start + 5})
    assert len(list(tmp_path.glob("run-*"))) == 5
    assert len(index.find_captures("http://a.test/7")) == 1
    index.close()
    assert all_entries(tmp_path) == by_key(given_entries)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["covered.json", "index.cdxj"]


def test_a_second_crawl_adds_to_the_index(tmp_path: Path) -> None:
    for day in (1, 2):
        index = CdxjIndex(tmp_path)
        index.add([entry("http://a.test/", DAY * day, day)], {"a.warc.gz": day})
        index.close()
    assert [one.captured_at for one in find_captures(tmp_path, "http://a.test/")] == [DAY, 2 * DAY]


def test_an_index_is_rebuilt_from_the_archive_alone(tmp_path: Path) -> None:
    entries, committed = batch(tmp_path / "archive", {}, range(30))
    open_cdxj_index(tmp_path / "indexes", tmp_path / "archive", committed).close()
    assert all_entries(tmp_path / "indexes") == by_key(entries)


@pytest.mark.parametrize("run_lines", [1, 7, 1000])
def test_what_a_crash_loses_is_read_again(tmp_path: Path, run_lines: int) -> None:
    archive, indexes = tmp_path / "archive", tmp_path / "indexes"
    index = open_cdxj_index(indexes, archive, {}, run_lines)
    first, committed = batch(archive, {}, range(20))
    index.add(first, committed)
    second, committed = batch(archive, committed, range(20, 40))  # committed, but the index never heard of it
    del index
    open_cdxj_index(indexes, archive, committed, run_lines).close()
    assert all_entries(indexes) == by_key(first + second)


def test_a_run_written_twice_counts_once(tmp_path: Path) -> None:
    entries, committed = batch(tmp_path / "archive", {}, range(9))
    index = CdxjIndex(tmp_path / "indexes")
    index.folder.mkdir()
    index.add(entries, committed)
    index.write_run()
    (index.folder / "covered.json").unlink()
    open_cdxj_index(index.folder, tmp_path / "archive", committed).close()
    assert all_entries(index.folder) == by_key(entries)


def test_captures_that_were_taken_back_leave_the_index(tmp_path: Path) -> None:
    archive, indexes = tmp_path / "archive", tmp_path / "indexes"
    first, kept = batch(archive, {}, range(5))
    second, committed = batch(archive, kept, range(5, 9))
    index = open_cdxj_index(indexes, archive, committed)
    index.close()
    assert len(all_entries(indexes)) == len(first + second)
    with open_archive(archive, kept):
        open_cdxj_index(indexes, archive, kept).close()
    assert all_entries(indexes) == by_key(first)


def test_an_index_somebody_deleted_comes_back(tmp_path: Path) -> None:
    entries, committed = batch(tmp_path / "archive", {}, range(5))
    open_cdxj_index(tmp_path / "indexes", tmp_path / "archive", committed).close()
    (tmp_path / "indexes" / "index.cdxj").unlink()
    open_cdxj_index(tmp_path / "indexes", tmp_path / "archive", committed).close()
    assert all_entries(tmp_path / "indexes") == by_key(entries)


def with_strangers(data: bytes) -> bytes:
    """Two lines of another fashion in the middle, the same twice."""
    lines = data.splitlines(keepends=True)
    return b"".join([*lines[:9], b"test,a)/1 x\n" * 2, *lines[9:]])


DAMAGES: list[Callable[[bytes], bytes]] = [
    lambda data: data[:-9],
    lambda data: data + b"x",
    lambda data: b"\0" * len(data),
    lambda data: b"",
    lambda data: b"".join(data.splitlines(keepends=True)[:11]),
    lambda data: data[:-90] + b"?" * 89 + b"\n",
    with_strangers,
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_an_index_that_was_damaged_is_read_again(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    indexes, archive = tmp_path / "indexes", tmp_path / "archive"
    entries, committed = batch(archive, {}, range(20))
    open_cdxj_index(indexes, archive, committed).close()
    (indexes / "index.cdxj").write_bytes(damage((indexes / "index.cdxj").read_bytes()))
    open_cdxj_index(indexes, archive, committed).close()
    assert all_entries(indexes) == by_key(entries)


@pytest.mark.parametrize("damage", DAMAGES)
def test_lines_are_taken_out_of_a_damaged_index_too(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    indexes, archive = tmp_path / "indexes", tmp_path / "archive"
    entries, committed = batch(archive, {}, range(20))
    open_cdxj_index(indexes, archive, committed).close()
    (indexes / "index.cdxj").write_bytes(damage((indexes / "index.cdxj").read_bytes()))
    remove_entries(indexes, lambda one: False)
    open_cdxj_index(indexes, archive, committed).close()
    assert all_entries(indexes) == by_key(entries)


def test_lines_that_were_taken_out_stay_out(tmp_path: Path) -> None:
    entries, committed = batch(tmp_path / "archive", {}, range(9))
    open_cdxj_index(tmp_path / "indexes", tmp_path / "archive", committed).close()
    remove_entries(tmp_path / "indexes", lambda one: one.url.endswith("/3"))
    open_cdxj_index(tmp_path / "indexes", tmp_path / "archive", committed).close()
    assert all_entries(tmp_path / "indexes") == by_key([one for one in entries if not one.url.endswith("/3")])


class Killed(BaseException):
    """Nothing runs after it."""


@pytest.mark.parametrize(("kind", "number"), [*(("replace", number) for number in range(1, 9)), ("unlink", 1)])
def test_an_index_stopped_at_any_step_is_whole_after_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, number: int
) -> None:
    archive, indexes = tmp_path / "archive", tmp_path / "indexes"
    first, committed = batch(archive, {}, range(8))
    open_cdxj_index(indexes, archive, committed).close()
    second, committed = batch(archive, committed, range(8, 20))
    left, do = [number], getattr(Path, kind)

    def until_killed(path: Path, *args: Path) -> object:
        left[0] -= 1
        if not left[0]:
            raise Killed
        return do(path, *args)

    def work() -> None:
        index = open_cdxj_index(indexes, archive, committed, run_lines=5)
        index.write_run()
        index.close()
        remove_entries(indexes, lambda one: False)

    with monkeypatch.context() as patched:
        patched.setattr(Path, kind, until_killed)
        with pytest.raises(Killed):
            work()
    open_cdxj_index(indexes, archive, committed).close()
    assert all_entries(indexes) == by_key(first + second)


@pytest.mark.parametrize("left", [1, 2, 3])
def test_no_archive_is_read_again_for_a_merge_that_was_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: int
) -> None:
    archive, indexes = tmp_path / "archive", tmp_path / "indexes"
    first, committed = batch(archive, {}, range(8))
    open_cdxj_index(indexes, archive, committed).close()
    second, committed = batch(archive, committed, range(8, 20))
    index = open_cdxj_index(indexes, archive, committed)
    index.write_run()
    steps, do = iter(range(left - 1)), Path.replace

    def until_killed(path: Path, target: Path) -> Path:
        if next(steps, None) is None:
            raise Killed
        return do(path, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", until_killed)
        with pytest.raises(Killed):
            index.close()
    shutil.rmtree(archive)
    open_cdxj_index(indexes, archive, committed).close()
    assert all_entries(indexes) == by_key(first + second)


def test_a_place_in_the_index_leads_to_the_page(tmp_path: Path) -> None:
    _, committed = batch(tmp_path / "archive", {}, range(5))
    open_cdxj_index(tmp_path / "indexes", tmp_path / "archive", committed).close()
    [found] = find_captures(tmp_path / "indexes", "http://a.test/3")
    assert read_record(tmp_path / "archive", found.location).url == "http://a.test/3"


def test_only_what_can_be_replayed_is_indexed(tmp_path: Path) -> None:
    entries, _ = batch(tmp_path, {}, range(1))
    [path] = tmp_path.glob("*.warc.gz")
    found = [build_entry(one) for one in iterate_records(path) if isinstance(one, StoredRecord)]
    assert found == [None, entries[0], None]  # warcinfo, response, request


def test_a_304_without_its_original_is_not_indexed(tmp_path: Path) -> None:
    index = CdxjIndex(tmp_path)
    index.add([CdxjEntry("http://a.test/", DAY, "warc/revisit", 304, "sha256:X", RecordLocation("a", 0, 9))], {"a": 9})
    index.close()
    assert find_captures(tmp_path, "http://a.test/") == []


def test_a_304_leads_to_the_record_that_was_valid_then(tmp_path: Path) -> None:
    store_a_site(tmp_path)
    first, confirmed, later = find_captures(tmp_path / "indexes", "http://a.test/")
    assert [one.captured_at / DAY for one in (first, confirmed, later)] == [1, 3, 5]
    assert confirmed == CdxjEntry("http://a.test/", 3 * DAY, first.mime, 200, first.payload_digest, first.location)
    assert later.location != first.location


def store_a_site(folder: Path) -> dict[str, bytes]:
    """A small collection with what replay finds hard; what each address must show."""
    page = b"<html>one</html>"
    coded = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    with open_archive(folder / "archive", {}) as archive:

        def keep(url: str, at: float, head: bytes, body: bytes) -> tuple[PackedRecord, RecordLocation]:
            one = pack_response(HttpExchange(url, at, head, body))
            return one, archive.append(one.member)

        packed, place = keep("http://a.test/", DAY, HEAD, page)
        keep("http://a.test/coded?b=2&a=1", DAY, coded, gzip.compress(b"<html>coded</html>"))
        keep("http://a.test/two", DAY, b"HTTP/2 200\r\ncontent-type: text/html\r\n\r\n", b"<html>two</html>")
        original = OriginalRecord(packed.record_id, "http://a.test/", DAY, packed.payload_digest, place)
        archive.append_revisit(HttpExchange("http://a.test/copy", 2 * DAY, HEAD), original)
        archive.append_revisit(HttpExchange("http://a.test/", 3 * DAY, b"HTTP/1.1 304 Not Modified\r\n\r\n"), original)
        keep("http://a.test/", 5 * DAY, HEAD, b"<html>later</html>")
        keep("http://a.test/page", 3 * DAY, HEAD, b"<img src=i.svg>")
        image, place = keep("http://a.test/i.svg", DAY, SVG, b"<svg/>")
        original = OriginalRecord(image.record_id, "http://a.test/i.svg", DAY, image.payload_digest, place)
        archive.append_revisit(
            HttpExchange("http://a.test/i.svg", 3 * DAY, b"HTTP/1.1 304 Not Modified\r\n\r\n"), original
        )
        keep("http://a.test/i.svg", 4 * DAY, SVG, b"<svg>later</svg>")  # nearer to day 3 than the image of then
        committed = archive.flush()
    open_cdxj_index(folder / "indexes", folder / "archive", committed).close()
    return {
        "19700102/http://a.test/": page,
        "19700102/http://a.test/coded?b=2&a=1": b"<html>coded</html>",
        "19700102/http://a.test/two": b"<html>two</html>",
        "19700103/http://a.test/copy": page,
        "19700104/http://a.test/": page,
        "19700106/http://a.test/": b"<html>later</html>",
        "19700104000000/http://a.test/page": b"<img src=i.svg>",
        "19700104000000/http://a.test/i.svg": b"<svg/>",
    }


REPLAY = """
import json, sys
from gevent import monkey; monkey.patch_all()
from pywb.apps.frontendapp import FrontEndApp
from werkzeug.test import Client
client = Client(FrontEndApp())
for address in json.loads(sys.argv[1]):
    stamp, url = address.split("/", 1)
    answer = client.get(f"/site/{stamp}id_/{url}")
    seen = [address, answer.status_code, answer.headers.get("Memento-Datetime"), answer.data.decode("latin-1")]
    print("answer:" + json.dumps(seen))
"""


def test_pywb_replays_every_page(tmp_path: Path) -> None:
    python = os.environ.get("SANDERLING_PYWB")
    if not python:
        pytest.skip("SANDERLING_PYWB names no Python that has pywb")
    expected = store_a_site(tmp_path / "collections" / "site")
    done = subprocess.run(
        [python, "-W", "ignore", "-c", REPLAY, json.dumps(list(expected))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    answers = [json.loads(line[7:]) for line in done.stdout.splitlines() if line.startswith("answer:")]
    assert [(address, status, body.encode("latin-1")) for address, status, _, body in answers] == [
        (address, 200, body) for address, body in expected.items()
    ]
    # a 304 of the fourth of January is answered by the capture that it confirmed
    assert [when for _, _, when, _ in answers][4] == "Fri, 02 Jan 1970 00:00:00 GMT"


def test_cdxj_indexer_writes_the_same_lines(tmp_path: Path) -> None:
    python = os.environ.get("SANDERLING_PYWB")
    if not python:
        pytest.skip("SANDERLING_PYWB names no Python that has cdxj-indexer")
    store_a_site(tmp_path)
    [path] = (tmp_path / "archive").glob("*.warc.gz")
    done = subprocess.run(
        [python, "-W", "ignore", "-m", "cdxj_indexer.main", "-s", str(path)], capture_output=True, text=True, check=True
    )
    theirs = [line.replace("Text/HTML", "text/html").split(" ", 2) for line in done.stdout.splitlines()]
    theirs = [line for line in theirs if json.loads(line[2])["status"] != "304"]
    ours = [line.split(" ", 2) for line in (tmp_path / "indexes" / "index.cdxj").read_text().splitlines()]
    confirmed = [["test,a)/", "19700104000000"], ["test,a)/i.svg", "19700104000000"]]
    ours = [line for line in ours if line[:2] not in confirmed]  # theirs of a 304 lead to a record without a body
    assert [(key, stamp, json.loads(facts)) for key, stamp, facts in ours] == [
        (key, stamp, json.loads(facts)) for key, stamp, facts in theirs
    ]
    assert {key for key, _, _ in ours} == {
        build_surt("http://a.test" + path) for path in ("/", "/coded?a=1&b=2", "/copy", "/two", "/page", "/i.svg")
    }
