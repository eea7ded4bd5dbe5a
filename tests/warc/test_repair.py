"""Tests of repairing WARC files that a crash left at any length."""

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sanderling.warc.archive import RecordLocation, open_archive
from sanderling.warc.gzip_members import find_intact_members
from sanderling.warc.packer import HttpExchange, pack_response
from sanderling.warc.repair import FileRepair, repair_archive

HEAD = b"HTTP/1.1 200 OK\r\n\r\n"


def write_pages(folder: Path, pages: int, size: int = 40) -> list[RecordLocation]:
    with open_archive(folder, {}) as archive:
        return [
            archive.append(pack_response(HttpExchange(f"http://a/{n}", n, HEAD, os.urandom(size))).member)
            for n in range(pages)
        ]


def list_members(path: Path) -> list[tuple[int, int]]:
    with path.open("rb") as file:
        return list(find_intact_members(file))


def test_uncommitted_file_is_truncated_to_its_last_intact_member(tmp_path: Path) -> None:
    locations = write_pages(tmp_path, 3)
    path = tmp_path / locations[0].file
    whole = path.read_bytes()
    ends = [0, locations[0].offset, *(location.offset + location.length for location in locations)]
    positions = {end + step for end in ends for step in range(-9, 19)}  # trailer, magic number, gzip header
    for cut in sorted({0, *positions, *range(0, len(whole), 23)} & set(range(len(whole) + 1))):
        path.write_bytes(whole[:cut])
        repairs = repair_archive(tmp_path, {})
        new_length = max(end for end in ends if end <= cut)
        assert repairs == ([FileRepair(path.name, cut, new_length)] if new_length != cut else [])
        assert (path.read_bytes() if path.exists() else b"") == whole[:new_length]


def test_uncommitted_tail_is_truncated(tmp_path: Path) -> None:
    locations = write_pages(tmp_path, 3)
    path = tmp_path / locations[0].file
    whole = path.read_bytes()
    committed = locations[1].offset + locations[1].length
    for cut in (committed, committed + 1, committed + locations[2].length - 1, len(whole)):
        path.write_bytes(whole[:cut])
        repair_archive(tmp_path, {path.name: committed})
        assert path.read_bytes() == whole[:committed]


def test_missing_committed_bytes_are_reported(tmp_path: Path) -> None:
    locations = write_pages(tmp_path, 2)
    path = tmp_path / locations[0].file
    whole = path.read_bytes()
    path.write_bytes(whole[: locations[1].offset + 7])
    committed = {path.name: len(whole), "sanderling-20200101000000-00009.warc.gz": 77}
    assert repair_archive(tmp_path, committed) == [
        FileRepair("sanderling-20200101000000-00009.warc.gz", 0, 0, 77),
        FileRepair(path.name, locations[1].offset + 7, locations[1].offset, locations[1].length),
    ]


def test_damage_before_intact_members_is_kept(tmp_path: Path) -> None:
    locations = write_pages(tmp_path, 3)
    path = tmp_path / locations[0].file
    damaged = bytearray(path.read_bytes())
    damaged[locations[1].offset + 60] ^= 0xFF
    path.write_bytes(damaged)
    assert repair_archive(tmp_path, {}) == []
    assert [offset for offset, _ in list_members(path)] == [0, locations[0].offset, locations[2].offset]


def test_files_with_other_names_are_not_modified(tmp_path: Path) -> None:
    for name in ("theirs.warc.gz", "sanderling.txt"):
        (tmp_path / name).write_bytes(b"\x1f\x8b\x08 not whole")
    assert repair_archive(tmp_path, {}) == []
    assert len(list(tmp_path.iterdir())) == 2


def test_gzipped_body_in_a_damaged_record_is_not_taken_for_a_record(tmp_path: Path) -> None:
    with open_archive(tmp_path, {}) as archive:
        inner = gzip.compress(b"a page")
        record = gzip.decompress(pack_response(HttpExchange("http://a/", 0, HEAD, inner)).member)
        location = archive.append(gzip.compress(record, compresslevel=0))
    path = tmp_path / location.file
    path.write_bytes(path.read_bytes()[:-4])
    assert inner in path.read_bytes()
    assert list_members(path) == [(0, location.offset)]


WRITER_SCRIPT = """
import os, sys
from pathlib import Path
from sanderling.warc.packer import HttpExchange, pack_response
from sanderling.warc.archive import open_archive
archive = open_archive(Path(sys.argv[1]), {})
print(*archive.get_flushed_lengths().items(), flush=True)
number = 0
while True:
    for _ in range(20):
        seen = HttpExchange(f"http://a/{number}", 0, b"HTTP/1.1 200 OK\\r\\n\\r\\n", os.urandom(900))
        archive.append(pack_response(seen).member)
        number += 1
    print(number, *archive.flush().values(), flush=True)
"""


@pytest.mark.parametrize("batches", [1, 4])
def test_killed_writer_loses_no_committed_record(tmp_path: Path, batches: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WRITER_SCRIPT, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        number, length = [writer.stdout.readline().split() for _ in range(batches)][-1]
        writer.kill()
        writer.stdout.read()
    [path] = tmp_path.iterdir()
    repair_archive(tmp_path, {path.name: int(length)})
    assert path.stat().st_size == int(length)
    assert len(list_members(path)) == int(number) + 1
    assert sum(length for _, length in list_members(path)) == int(length)
