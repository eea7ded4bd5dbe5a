"""Tests of writing WARC files: locations, flushes, rotation, and full disks."""

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
from tests.support.simulated_clock import SimulatedClock
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from sanderling.errors import DiskFull
from sanderling.warc.archive import Archive, OriginalRecord, open_archive
from sanderling.warc.packer import HttpExchange, PackedRecord, pack_response

NOW = 1_700_000_000.25  # 2023-11-14 22:13:20 UTC
HEAD = b'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: "x"\r\n\r\n'


def open_test_archive(
    folder: Path, committed: dict[str, int] | None = None, max_file_bytes: int = 1_000_000_000
) -> Archive:
    return open_archive(folder, committed or {}, [("operator", "Example Org")], SimulatedClock(NOW), max_file_bytes)


def pack_page(number: int, size: int = 500) -> PackedRecord:
    return pack_response(HttpExchange(f"http://a.test/{number}", NOW, HEAD, os.urandom(size)))


def list_records(path: Path) -> list[tuple[str, str]]:
    with path.open("rb") as file:
        return [(record.rec_type, record.rec_headers["WARC-Target-URI"]) for record in ArchiveIterator(file)]


def is_valid_for_warcio(*paths: Path) -> bool:
    code: int = Checker(SimpleNamespace(inputs=[str(path) for path in paths], verbose=False)).process_all()
    return code == 0


def test_file_starts_with_warcinfo_and_is_named_by_time_and_number(tmp_path: Path) -> None:
    with open_test_archive(tmp_path) as archive:
        assert archive.get_flushed_lengths() == {
            "sanderling-20231114221320-00001.warc.gz": (tmp_path / archive._file_name).stat().st_size
        }
    [path] = tmp_path.iterdir()
    with path.open("rb") as file:
        first = next(iter(ArchiveIterator(file)))
        assert first.rec_type == "warcinfo"
        assert first.rec_headers["WARC-Filename"] == path.name
        text = first.content_stream().read().decode()
    assert "operator: Example Org\r\n" in text
    assert "software: sanderling/" in text


def test_location_points_to_the_record(tmp_path: Path) -> None:
    with open_test_archive(tmp_path) as archive:
        packed = [pack_page(n) for n in range(5)]
        locations = [archive.append(record.member) for record in packed]
        assert archive.flush() == {locations[0].file: locations[-1].offset + locations[-1].length}
    whole = (tmp_path / locations[0].file).read_bytes()
    for record, location in zip(packed, locations, strict=True):
        assert whole[location.offset : location.offset + location.length] == record.member
    assert is_valid_for_warcio(tmp_path / locations[0].file)


def test_flush_without_records_returns_no_lengths(tmp_path: Path) -> None:
    with open_test_archive(tmp_path) as archive:
        assert archive.flush() == {}


def test_archive_resumes_at_its_committed_length(tmp_path: Path) -> None:
    with open_test_archive(tmp_path) as archive:
        archive.append(pack_page(1).member)
        committed = archive.flush()
    with open_test_archive(tmp_path, committed) as archive:
        archive.append(pack_page(2).member)
    [path] = tmp_path.iterdir()
    assert [uri for _, uri in list_records(path)] == [None, "http://a.test/1", "http://a.test/2"]


def test_rotation_returns_the_lengths_of_both_files(tmp_path: Path) -> None:
    with open_test_archive(tmp_path, max_file_bytes=2000) as archive:
        archive.append(pack_page(1, 3000).member)
        lengths = archive.flush()
        assert sorted(lengths) == [f"sanderling-20231114221320-0000{n}.warc.gz" for n in (1, 2)]
        second = archive.append(pack_page(2).member)
    assert second.file.endswith("-00002.warc.gz")
    assert is_valid_for_warcio(*tmp_path.iterdir())
    assert open_test_archive(tmp_path, lengths, max_file_bytes=2000).get_flushed_lengths() == {
        second.file: lengths[second.file]
    }


def test_batch_larger_than_the_write_buffer_is_written_completely(tmp_path: Path) -> None:
    with open_test_archive(tmp_path) as archive:
        for number in range(5):
            archive.append(pack_page(number, 3_000_000).member)
        archive.flush()
    [path] = tmp_path.iterdir()
    assert len(list_records(path)) == 6


def test_revisits_refer_to_their_original_in_both_profiles(tmp_path: Path) -> None:
    first = pack_response(HttpExchange("http://a.test/", NOW, HEAD, b"same"))
    with open_test_archive(tmp_path) as archive:
        location = archive.append(first.member)
        original = OriginalRecord(first.record_id, "http://a.test/", NOW, first.payload_digest, location)
        archive.append_revisit(HttpExchange("http://a.test/copy", NOW + 1, HEAD, address="192.0.2.1"), original)
        archive.append_revisit(HttpExchange("http://a.test/", NOW + 2, b'HTTP/2 304\r\netag: "x"\r\n\r\n'), original)
    path = tmp_path / location.file
    revisits: list[Any] = []
    with path.open("rb") as file:
        revisits = [record.rec_headers for record in ArchiveIterator(file) if record.rec_type == "revisit"]
    assert [headers["WARC-Profile"].rpartition("/")[2] for headers in revisits] == [
        "identical-payload-digest",
        "server-not-modified",
    ]
    for headers in revisits:
        assert headers["WARC-Refers-To"] == f"<{first.record_id}>"
        assert headers["WARC-Refers-To-Target-URI"] == "http://a.test/"
        assert headers["WARC-Refers-To-Date"] == "2023-11-14T22:13:20.250000Z"
        assert headers["WARC-Payload-Digest"] == first.payload_digest
        assert int(headers["WARC-Refers-To-File-Offset"]) == location.offset
    assert is_valid_for_warcio(path)


def test_revisit_takes_the_record_id_of_the_response_it_replaces(tmp_path: Path) -> None:
    first, again = pack_page(1), pack_page(2)
    with open_test_archive(tmp_path) as archive:
        original = OriginalRecord(
            first.record_id, "http://a.test/1", NOW, first.payload_digest, archive.append(first.member)
        )
        packed, _ = archive.append_revisit(
            HttpExchange("http://a.test/2", NOW, HEAD), original, record_id=again.record_id
        )
    assert packed.record_id == again.record_id


def test_error_during_a_batch_discards_unflushed_records(tmp_path: Path) -> None:
    def fail_after_a_batch() -> None:
        with open_test_archive(tmp_path) as archive:
            archive.append(pack_page(1).member)
            lengths.update(archive.flush())
            archive.append(pack_page(2, 9_000_000).member)
            raise RuntimeError("unrelated")

    lengths: dict[str, int] = {}
    with pytest.raises(RuntimeError):
        fail_after_a_batch()
    [path] = tmp_path.iterdir()
    assert {path.name: path.stat().st_size} == lengths


@contextmanager
def limit_file_size(size: int) -> Iterator[None]:
    """Make the kernel refuse writes beyond this file size."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)


def test_full_disk_discards_the_batch_and_keeps_flushed_records(tmp_path: Path) -> None:
    with open_test_archive(tmp_path) as archive:
        archive.append(pack_page(1).member)
        lengths = archive.flush()
        [path] = tmp_path.iterdir()
        archive.append(pack_page(2, 100_000).member)
        with limit_file_size(path.stat().st_size + 5000), pytest.raises(DiskFull, match="resume"):
            archive.flush()
        assert {path.name: path.stat().st_size} == lengths
        archive.append(pack_page(3).member)  # there is space again
    assert [uri for _, uri in list_records(path)] == [None, "http://a.test/1", "http://a.test/3"]


def test_full_disk_during_rotation_creates_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = open_test_archive(tmp_path, max_file_bytes=2000)
    archive.append(pack_page(1, 3000).member)
    real_open = os.open

    def refuse(path: Any, flags: int, *rest: Any) -> int:
        if flags & os.O_CREAT:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real_open(path, flags, *rest)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(DiskFull):
        archive.flush()
    [path] = tmp_path.iterdir()
    assert is_valid_for_warcio(path)


def test_full_disk_at_start_leaves_no_empty_file(tmp_path: Path) -> None:
    with limit_file_size(10), pytest.raises(DiskFull):
        open_test_archive(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_io_error_is_not_reported_as_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = open_test_archive(tmp_path)
    lengths = archive.get_flushed_lengths()
    archive.append(pack_page(1).member)

    def broken(fd: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fdatasync", broken)
    with pytest.raises(OSError, match="Input/output"):
        archive.flush()
    [path] = tmp_path.iterdir()
    assert {path.name: path.stat().st_size} == lengths


def test_flushed_lengths_change_only_after_finish_flush(tmp_path: Path) -> None:
    with open_test_archive(tmp_path) as archive:
        before = archive.get_flushed_lengths()
        archive.append(pack_page(1).member)
        pending = archive.start_flush()
        assert archive.get_flushed_lengths() == before
        archive.append(pack_page(2).member)  # of the next batch
        archive.finish_flush()
        assert archive.get_flushed_lengths() == pending


def test_failed_sync_is_raised_by_finish_flush(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(fd: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with open_test_archive(tmp_path) as archive:
        before = archive.get_flushed_lengths()
        archive.append(pack_page(1).member)
        with monkeypatch.context() as disk:
            disk.setattr(os, "fdatasync", full)
            archive.start_flush()
            with pytest.raises(DiskFull):
                archive.finish_flush()
        assert (
            archive.get_flushed_lengths() == before == {path.name: path.stat().st_size for path in tmp_path.iterdir()}
        )
