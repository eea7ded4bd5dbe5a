"""After a crash at any byte, the archive holds what was committed and nothing dangles."""

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


def build(folder: Path, pages: int, size: int = 40) -> list[RecordLocation]:
    with open_archive(folder, {}) as archive:
        return [
            archive.append(pack_response(HttpExchange(f"http://a/{n}", n, HEAD, os.urandom(size))).member)
            for n in range(pages)
        ]


def members(path: Path) -> list[tuple[int, int]]:
    with path.open("rb") as file:
        return list(find_intact_members(file))


def test_a_file_cut_at_any_byte_is_restored_to_its_last_whole_member(tmp_path: Path) -> None:
    places = build(tmp_path, 3)
    path = tmp_path / places[0].file
    whole = path.read_bytes()
    ends = [0, places[0].offset, *(place.offset + place.length for place in places)]
    near = {end + step for end in ends for step in range(-9, 19)}  # trailer, magic number, gzip header
    for cut in sorted({0, *near, *range(0, len(whole), 23)} & set(range(len(whole) + 1))):
        path.write_bytes(whole[:cut])
        done = repair_archive(tmp_path, {})
        keep = max(end for end in ends if end <= cut)
        assert done == ([FileRepair(path.name, cut, keep)] if keep != cut else [])
        assert (path.read_bytes() if path.exists() else b"") == whole[:keep]


def test_a_tail_that_was_never_committed_goes(tmp_path: Path) -> None:
    places = build(tmp_path, 3)
    path = tmp_path / places[0].file
    whole = path.read_bytes()
    committed = places[1].offset + places[1].length
    for cut in (committed, committed + 1, committed + places[2].length - 1, len(whole)):
        path.write_bytes(whole[:cut])
        repair_archive(tmp_path, {path.name: committed})
        assert path.read_bytes() == whole[:committed]


def test_committed_bytes_that_are_not_there_are_reported(tmp_path: Path) -> None:
    places = build(tmp_path, 2)
    path = tmp_path / places[0].file
    whole = path.read_bytes()
    path.write_bytes(whole[: places[1].offset + 7])
    committed = {path.name: len(whole), "sanderling-20200101000000-00009.warc.gz": 77}
    assert repair_archive(tmp_path, committed) == [
        FileRepair("sanderling-20200101000000-00009.warc.gz", 0, 0, 77),
        FileRepair(path.name, places[1].offset + 7, places[1].offset, places[1].length),
    ]


def test_damage_in_the_middle_is_not_taken_for_a_tail(tmp_path: Path) -> None:
    places = build(tmp_path, 3)
    path = tmp_path / places[0].file
    spoilt = bytearray(path.read_bytes())
    spoilt[places[1].offset + 60] ^= 0xFF
    path.write_bytes(spoilt)
    assert repair_archive(tmp_path, {}) == []
    assert [offset for offset, _ in members(path)] == [0, places[0].offset, places[2].offset]


def test_a_file_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    for name in ("theirs.warc.gz", "sanderling.txt"):
        (tmp_path / name).write_bytes(b"\x1f\x8b\x08 not whole")
    assert repair_archive(tmp_path, {}) == []
    assert len(list(tmp_path.iterdir())) == 2


def test_a_gzipped_page_inside_a_damaged_record_is_not_a_record(tmp_path: Path) -> None:
    with open_archive(tmp_path, {}) as archive:
        inner = gzip.compress(b"a page")
        record = gzip.decompress(pack_response(HttpExchange("http://a/", 0, HEAD, inner)).member)
        place = archive.append(gzip.compress(record, compresslevel=0))
    path = tmp_path / place.file
    path.write_bytes(path.read_bytes()[:-4])
    assert inner in path.read_bytes()
    assert members(path) == [(0, place.offset)]


KILLED = """
import os, sys
from pathlib import Path
from sanderling.warc.packer import HttpExchange, pack_response
from sanderling.warc.archive import open_archive
archive = open_archive(Path(sys.argv[1]), {})
print(*archive.lengths().items(), flush=True)
number = 0
while True:
    for _ in range(20):
        seen = HttpExchange(f"http://a/{number}", 0, b"HTTP/1.1 200 OK\\r\\n\\r\\n", os.urandom(900))
        archive.append(pack_response(seen).member)
        number += 1
    print(number, *archive.flush().values(), flush=True)
"""


@pytest.mark.parametrize("batches", [1, 4])
def test_kill_9_loses_nothing_that_was_committed(tmp_path: Path, batches: int) -> None:
    with subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        number, length = [writer.stdout.readline().split() for _ in range(batches)][-1]
        writer.kill()
        writer.stdout.read()
    [path] = tmp_path.iterdir()
    repair_archive(tmp_path, {path.name: int(length)})
    assert path.stat().st_size == int(length)
    assert len(members(path)) == int(number) + 1
    assert sum(length for _, length in members(path)) == int(length)
