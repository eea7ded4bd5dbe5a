"""The archive: places that hold, one flush per batch, nothing half written."""

import errno
import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from sanderling.clock import SimulatedClock
from sanderling.errors import DiskFull
from sanderling.warc.archive import Archive, OriginalRecord, open_archive
from sanderling.warc.packer import HttpExchange, PackedRecord, pack_response

NOW = 1_700_000_000.25  # 2023-11-14 22:13:20 UTC
HEAD = b'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: "x"\r\n\r\n'


def archive_in(folder: Path, committed: dict[str, int] | None = None, roll: int = 1_000_000_000) -> Archive:
    return open_archive(folder, committed or {}, [("operator", "somebody")], SimulatedClock(NOW), roll)


def page(number: int, size: int = 500) -> PackedRecord:
    return pack_response(HttpExchange(f"http://a.test/{number}", NOW, HEAD, os.urandom(size)))


def records(path: Path) -> list[tuple[str, str]]:
    with path.open("rb") as file:
        return [(one.rec_type, one.rec_headers["WARC-Target-URI"]) for one in ArchiveIterator(file)]


def warcio_accepts(*paths: Path) -> bool:
    code: int = Checker(SimpleNamespace(inputs=[str(path) for path in paths], verbose=False)).process_all()
    return code == 0


def test_a_file_begins_with_warcinfo_and_is_named_by_time_and_number(tmp_path: Path) -> None:
    with archive_in(tmp_path) as archive:
        assert archive.get_flushed_lengths() == {
            "sanderling-20231114221320-00001.warc.gz": (tmp_path / archive._file_name).stat().st_size
        }
    [path] = tmp_path.iterdir()
    with path.open("rb") as file:
        first = next(iter(ArchiveIterator(file)))
        assert first.rec_type == "warcinfo"
        assert first.rec_headers["WARC-Filename"] == path.name
        text = first.content_stream().read().decode()
    assert "operator: somebody\r\n" in text
    assert "software: sanderling/" in text


def test_a_place_leads_to_its_record(tmp_path: Path) -> None:
    with archive_in(tmp_path) as archive:
        packed = [page(n) for n in range(5)]
        places = [archive.append(one.member) for one in packed]
        assert archive.flush() == {places[0].file: places[-1].offset + places[-1].length}
    whole = (tmp_path / places[0].file).read_bytes()
    for one, place in zip(packed, places, strict=True):
        assert whole[place.offset : place.offset + place.length] == one.member
    assert warcio_accepts(tmp_path / places[0].file)


def test_nothing_to_flush_changes_nothing(tmp_path: Path) -> None:
    with archive_in(tmp_path) as archive:
        assert archive.flush() == {}


def test_an_archive_goes_on_where_it_was_committed(tmp_path: Path) -> None:
    with archive_in(tmp_path) as archive:
        archive.append(page(1).member)
        committed = archive.flush()
    with archive_in(tmp_path, committed) as archive:
        archive.append(page(2).member)
    [path] = tmp_path.iterdir()
    assert [uri for _, uri in records(path)] == [None, "http://a.test/1", "http://a.test/2"]


def test_a_full_file_is_followed_by_the_next_and_both_are_committed(tmp_path: Path) -> None:
    with archive_in(tmp_path, roll=2000) as archive:
        archive.append(page(1, 3000).member)
        lengths = archive.flush()
        assert sorted(lengths) == [f"sanderling-20231114221320-0000{n}.warc.gz" for n in (1, 2)]
        second = archive.append(page(2).member)
    assert second.file.endswith("-00002.warc.gz")
    assert warcio_accepts(*tmp_path.iterdir())
    assert archive_in(tmp_path, lengths, roll=2000).get_flushed_lengths() == {second.file: lengths[second.file]}


def test_a_batch_larger_than_the_buffer_arrives_whole(tmp_path: Path) -> None:
    with archive_in(tmp_path) as archive:
        for number in range(5):
            archive.append(page(number, 3_000_000).member)
        archive.flush()
    [path] = tmp_path.iterdir()
    assert len(records(path)) == 6


def test_revisits_name_what_they_repeat_in_both_profiles(tmp_path: Path) -> None:
    first = pack_response(HttpExchange("http://a.test/", NOW, HEAD, b"same"))
    with archive_in(tmp_path) as archive:
        place = archive.append(first.member)
        original = OriginalRecord(first.record_id, "http://a.test/", NOW, first.payload_digest, place)
        archive.append_revisit(HttpExchange("http://a.test/copy", NOW + 1, HEAD, address="192.0.2.1"), original)
        archive.append_revisit(HttpExchange("http://a.test/", NOW + 2, b'HTTP/2 304\r\netag: "x"\r\n\r\n'), original)
    path = tmp_path / place.file
    found: list[Any] = []
    with path.open("rb") as file:
        found = [one.rec_headers for one in ArchiveIterator(file) if one.rec_type == "revisit"]
    assert [one["WARC-Profile"].rpartition("/")[2] for one in found] == [
        "identical-payload-digest",
        "server-not-modified",
    ]
    for headers in found:
        assert headers["WARC-Refers-To"] == f"<{first.record_id}>"
        assert headers["WARC-Refers-To-Target-URI"] == "http://a.test/"
        assert headers["WARC-Refers-To-Date"] == "2023-11-14T22:13:20.250000Z"
        assert headers["WARC-Payload-Digest"] == first.payload_digest
        assert int(headers["WARC-Refers-To-File-Offset"]) == place.offset
    assert warcio_accepts(path)


def test_a_revisit_takes_the_name_of_the_answer_it_stands_for(tmp_path: Path) -> None:
    first, again = page(1), page(2)
    with archive_in(tmp_path) as archive:
        original = OriginalRecord(
            first.record_id, "http://a.test/1", NOW, first.payload_digest, archive.append(first.member)
        )
        packed, _ = archive.append_revisit(
            HttpExchange("http://a.test/2", NOW, HEAD), original, record_id=again.record_id
        )
    assert packed.record_id == again.record_id


def test_an_error_in_the_middle_of_a_batch_leaves_only_what_was_flushed(tmp_path: Path) -> None:
    def fail_after_a_batch() -> None:
        with archive_in(tmp_path) as archive:
            archive.append(page(1).member)
            lengths.update(archive.flush())
            archive.append(page(2, 9_000_000).member)
            raise RuntimeError("elsewhere")

    lengths: dict[str, int] = {}
    with pytest.raises(RuntimeError):
        fail_after_a_batch()
    [path] = tmp_path.iterdir()
    assert {path.name: path.stat().st_size} == lengths


@contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """Let the kernel refuse a write past this size, in the middle of it if need be."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)


def test_a_disk_without_room_takes_back_the_batch_and_keeps_the_rest(tmp_path: Path) -> None:
    with archive_in(tmp_path) as archive:
        archive.append(page(1).member)
        lengths = archive.flush()
        [path] = tmp_path.iterdir()
        archive.append(page(2, 100_000).member)
        with files_no_larger_than(path.stat().st_size + 5000), pytest.raises(DiskFull, match="resumes"):
            archive.flush()
        assert {path.name: path.stat().st_size} == lengths
        archive.append(page(3).member)  # room again
    assert [uri for _, uri in records(path)] == [None, "http://a.test/1", "http://a.test/3"]


def test_a_disk_without_room_for_the_next_file_leaves_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = archive_in(tmp_path, roll=2000)
    archive.append(page(1, 3000).member)
    real_open = os.open

    def refuse(path: Any, flags: int, *rest: Any) -> int:
        if flags & os.O_CREAT:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real_open(path, flags, *rest)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(DiskFull):
        archive.flush()
    [path] = tmp_path.iterdir()
    assert warcio_accepts(path)


def test_no_room_at_all_leaves_no_empty_file(tmp_path: Path) -> None:
    with files_no_larger_than(10), pytest.raises(DiskFull):
        archive_in(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_fault_of_the_disk_is_not_called_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = archive_in(tmp_path)
    lengths = archive.get_flushed_lengths()
    archive.append(page(1).member)

    def broken(fd: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fdatasync", broken)
    with pytest.raises(OSError, match="Input/output"):
        archive.flush()
    [path] = tmp_path.iterdir()
    assert {path.name: path.stat().st_size} == lengths


def test_what_was_handed_over_counts_once_it_settled(tmp_path: Path) -> None:
    with archive_in(tmp_path) as archive:
        before = archive.get_flushed_lengths()
        archive.append(page(1).member)
        promised = archive.start_flush()
        assert archive.get_flushed_lengths() == before
        archive.append(page(2).member)  # of the next batch
        archive.finish_flush()
        assert archive.get_flushed_lengths() == promised


def test_a_disk_that_fails_meanwhile_is_noticed_before_the_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(fd: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with archive_in(tmp_path) as archive:
        before = archive.get_flushed_lengths()
        archive.append(page(1).member)
        with monkeypatch.context() as disk:
            disk.setattr(os, "fdatasync", full)
            archive.start_flush()
            with pytest.raises(DiskFull):
                archive.finish_flush()
        assert (
            archive.get_flushed_lengths() == before == {path.name: path.stat().st_size for path in tmp_path.iterdir()}
        )
