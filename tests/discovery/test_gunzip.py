"""Incremental gzip decompression."""

import gzip
import random

import pytest

from sanderling.discovery.gunzip import CHUNK_BYTES, MAX_MEMBERS, GzipUnpacker

TEXT = b"a line\n" * 1000


def _decompress(data: bytes, step: int = 1 << 20) -> tuple[bytes, bool]:
    gunzip = GzipUnpacker()
    chunks = [chunk for at in range(0, len(data), step) for chunk in gunzip.feed(data[at : at + step])]
    chunks += gunzip.finish()
    return b"".join(chunks), gunzip.is_broken


@pytest.mark.parametrize("step", [1, 5, 1 << 20])
@pytest.mark.parametrize(
    "data",
    [
        TEXT,
        gzip.compress(TEXT),
        gzip.compress(gzip.compress(TEXT)),
        gzip.compress(TEXT[:70]) + gzip.compress(TEXT[70:]),
        gzip.compress(TEXT) + b"garbage",
    ],
    ids=["plain", "compressed", "compressed twice", "two members", "trailing garbage"],
)
def test_compressed_and_plain_files_give_the_same_bytes(data: bytes, step: int) -> None:
    assert _decompress(data, step) == (TEXT, False)


@pytest.mark.parametrize("data", [b"", b"\x1f", b"x"])
def test_file_too_short_to_detect_passes_through(data: bytes) -> None:
    assert _decompress(data) == (data, False)


def test_start_of_a_broken_file_is_decompressed() -> None:
    compressed = gzip.compress(TEXT)
    decompressed, is_broken = _decompress(compressed[:-10])
    assert is_broken
    assert TEXT.startswith(decompressed)
    assert _decompress(compressed[:20] + b"\xff" * 20)[1]


def test_decompression_bomb_is_decompressed_in_small_chunks() -> None:
    bomb = gzip.compress(bytes(5_000_000))
    assert max(len(chunk) for chunk in GzipUnpacker().feed(bomb)) <= CHUNK_BYTES


def test_number_of_members_is_bounded() -> None:
    unpacker = GzipUnpacker()
    list(unpacker.feed(gzip.compress(gzip.compress(b"") * (MAX_MEMBERS + 10))))
    assert unpacker.is_broken


@pytest.mark.parametrize("is_nested", [False, True])
def test_file_of_empty_blocks_is_not_unpacked_to_its_end(is_nested: bool) -> None:
    data = gzip.compress(b"")[:10] + b"\x02\x08\x20\x80\x00" * 200_000
    gunzip = GzipUnpacker()
    data = gzip.compress(data) if is_nested else data
    unpacked = [chunk for at in range(0, len(data), CHUNK_BYTES) for chunk in gunzip.feed(data[at : at + CHUNK_BYTES])]
    assert not unpacked
    assert (gunzip._inner if is_nested else gunzip)._is_damaged  # type: ignore[union-attr]


@pytest.mark.parametrize("step", [1000, 1 << 20])
def test_incompressible_file_is_unpacked(step: int) -> None:
    data = random.Random(1).randbytes(1_000_000)
    assert _decompress(gzip.compress(data), step) == (data, False)
