"""What both sides remember of a visit."""

import os
import random
from pathlib import Path

from sanderling.workers.migrant.messages import MessageCompressor, MessageDecompressor
from sanderling.workers.migrant.shared_dictionary import (
    MAX_DICTIONARIES,
    MAX_DICTIONARY_BYTES,
    MIN_DICTIONARY_BYTES,
    DictionaryStore,
    SiteDictionary,
    compute_dictionary_id,
)

NOISE = random.Random(1).randbytes(MIN_DICTIONARY_BYTES)


def test_a_stream_with_a_memory_sends_only_the_difference() -> None:
    first = MessageCompressor()
    first.compress(NOISE)
    memory = bytes(first.dictionary_bytes)
    again = MessageCompressor(memory)
    data = again.compress(NOISE[:-10] + b"0123456789") + again.flush()
    assert len(data) < 200
    (body,) = MessageDecompressor(2**20, memory).decompress(data)
    assert body.endswith(b"0123456789")


def test_both_sides_remember_the_same_and_not_more_than_allowed() -> None:
    packer, unpacker = MessageCompressor(), MessageDecompressor(2**25)
    for _ in range(7):
        list(unpacker.decompress(packer.compress(random.Random(2).randbytes(2**22)) + packer.flush()))
    assert bytes(packer.dictionary_bytes) == bytes(unpacker.dictionary_bytes)
    assert len(packer.dictionary_bytes) == MAX_DICTIONARY_BYTES


def test_a_memory_that_was_tampered_with_is_no_memory(tmp_path: Path) -> None:
    memories = DictionaryStore(tmp_path)
    memories.put(NOISE)
    assert memories.get(compute_dictionary_id(NOISE)) == NOISE
    (tmp_path / compute_dictionary_id(NOISE)).write_bytes(b"x" + NOISE[1:])
    assert memories.get(compute_dictionary_id(NOISE)) == b""
    assert memories.get("../" + "a" * 29) == b""


def test_a_host_keeps_so_many_and_forgets_the_longest_unused(tmp_path: Path) -> None:
    memories = DictionaryStore(tmp_path)
    for number in range(MAX_DICTIONARIES + 3):
        content = NOISE + bytes([number])
        memories.put(content)
        os.utime(tmp_path / compute_dictionary_id(content), (number, number))
    memories.put(NOISE)
    assert len(list(tmp_path.iterdir())) == MAX_DICTIONARIES
    assert memories.get(compute_dictionary_id(NOISE + b"\x00")) == b""


def test_a_crawler_remembers_one_visit_per_site_and_host(tmp_path: Path) -> None:
    recall = SiteDictionary(str(tmp_path), "h:1", "http://a")
    recall.save(b"too short")
    assert recall.load() == b""
    recall.save(NOISE)
    assert SiteDictionary(str(tmp_path), "h:1", "http://a").load() == NOISE
    assert SiteDictionary(str(tmp_path), "h:2", "http://a").load() == b""
    assert SiteDictionary("", "h:1", "http://a").load() == b""
