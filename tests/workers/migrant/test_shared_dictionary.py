"""Dictionaries that a crawler and a migrant store after the first visit."""

import os
import random
from pathlib import Path

import msgspec

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


def test_stream_with_a_dictionary_sends_only_the_difference() -> None:
    first = MessageCompressor()
    first.compress(NOISE)
    dictionary = bytes(first.dictionary_bytes)
    second = MessageCompressor(dictionary)
    data = second.compress(NOISE[:-10] + b"0123456789") + second.flush()
    assert len(data) < 200
    (body,) = MessageDecompressor(2**20, dictionary).decompress(data)
    assert body.endswith(b"0123456789")


def test_both_sides_store_the_same_dictionary_of_limited_size() -> None:
    compressor, decompressor = MessageCompressor(), MessageDecompressor(2**25)
    for _ in range(7):
        list(decompressor.decompress(compressor.compress(random.Random(2).randbytes(2**22)) + compressor.flush()))
    assert bytes(compressor.dictionary_bytes) == bytes(decompressor.dictionary_bytes)
    assert len(compressor.dictionary_bytes) == MAX_DICTIONARY_BYTES


def test_small_stream_is_smaller_and_read_by_the_same_decompressor() -> None:
    rng = random.Random(3)
    words = [rng.randbytes(4).hex() for _ in range(2000)]
    messages = [" ".join(rng.choices(words, k=3000)) for _ in range(20)]
    sizes = dict[bool, int]()
    for is_small in (False, True):
        compressor = MessageCompressor(is_small=is_small)
        data = b"".join(map(compressor.compress, messages)) + compressor.flush()
        received = [msgspec.msgpack.decode(body) for body in MessageDecompressor(2**20).decompress(data)]
        assert received == messages
        sizes[is_small] = len(data)
    assert sizes[True] < 0.95 * sizes[False]


def test_damaged_dictionary_is_not_used(tmp_path: Path) -> None:
    store = DictionaryStore(tmp_path)
    store.put(NOISE)
    assert store.get(compute_dictionary_id(NOISE)) == NOISE
    (tmp_path / compute_dictionary_id(NOISE)).write_bytes(b"x" + NOISE[1:])
    assert store.get(compute_dictionary_id(NOISE)) == b""
    assert store.get("../" + "a" * 29) == b""


def test_least_recently_used_dictionary_is_deleted(tmp_path: Path) -> None:
    store = DictionaryStore(tmp_path)
    for number in range(MAX_DICTIONARIES + 3):
        content = NOISE + bytes([number])
        store.put(content)
        os.utime(tmp_path / compute_dictionary_id(content), (number, number))
    store.put(NOISE)
    assert len(list(tmp_path.iterdir())) == MAX_DICTIONARIES
    assert store.get(compute_dictionary_id(NOISE + b"\x00")) == b""


def test_crawler_stores_a_dictionary_per_site_and_migrant(tmp_path: Path) -> None:
    site_dictionary = SiteDictionary(str(tmp_path), "h:1", "http://a")
    site_dictionary.save(b"too short")
    assert site_dictionary.load() == b""
    site_dictionary.save(NOISE)
    assert SiteDictionary(str(tmp_path), "h:1", "http://a").load() == NOISE
    assert SiteDictionary(str(tmp_path), "h:2", "http://a").load() == b""
    assert SiteDictionary("", "h:1", "http://a").load() == b""
