"""What both sides remember of a visit."""

import os
import random
from pathlib import Path

from sanderling.workers.migrant.messages import Packer, Unpacker
from sanderling.workers.migrant.shared_dictionary import FILES, LEAST, MOST, Memories, Recall, name_of

NOISE = random.Random(1).randbytes(LEAST)


def test_a_stream_with_a_memory_sends_only_the_difference() -> None:
    first = Packer()
    first.pack(NOISE)
    memory = bytes(first.said)
    again = Packer(memory)
    data = again.pack(NOISE[:-10] + b"0123456789") + again.flush()
    assert len(data) < 200
    (body,) = Unpacker(2**20, memory).unpack(data)
    assert body.endswith(b"0123456789")


def test_both_sides_remember_the_same_and_not_more_than_allowed() -> None:
    packer, unpacker = Packer(), Unpacker(2**25)
    for _ in range(7):
        list(unpacker.unpack(packer.pack(random.Random(2).randbytes(2**22)) + packer.flush()))
    assert bytes(packer.said) == bytes(unpacker.heard)
    assert len(packer.said) == MOST


def test_a_memory_that_was_tampered_with_is_no_memory(tmp_path: Path) -> None:
    memories = Memories(tmp_path)
    memories.keep(NOISE)
    assert memories.find(name_of(NOISE)) == NOISE
    (tmp_path / name_of(NOISE)).write_bytes(b"x" + NOISE[1:])
    assert memories.find(name_of(NOISE)) == b""
    assert memories.find("../" + "a" * 29) == b""


def test_a_host_keeps_so_many_and_forgets_the_longest_unused(tmp_path: Path) -> None:
    memories = Memories(tmp_path)
    for number in range(FILES + 3):
        content = NOISE + bytes([number])
        memories.keep(content)
        os.utime(tmp_path / name_of(content), (number, number))
    memories.keep(NOISE)
    assert len(list(tmp_path.iterdir())) == FILES
    assert memories.find(name_of(NOISE + b"\x00")) == b""


def test_a_crawler_remembers_one_visit_per_site_and_host(tmp_path: Path) -> None:
    recall = Recall(str(tmp_path), "h:1", "http://a")
    recall.keep(b"too short")
    assert recall.content() == b""
    recall.keep(NOISE)
    assert Recall(str(tmp_path), "h:1", "http://a").content() == NOISE
    assert Recall(str(tmp_path), "h:2", "http://a").content() == b""
    assert Recall("", "h:1", "http://a").content() == b""
