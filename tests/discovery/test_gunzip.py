"""Files packed with gzip."""

import gzip

import pytest

from sanderling.discovery.gunzip import CHUNK_BYTES, MAX_MEMBERS, GzipUnpacker

TEXT = b"a line\n" * 1000


def _unpacked(data: bytes, step: int = 1 << 20) -> tuple[bytes, bool]:
    gunzip = GzipUnpacker()
    pieces = [piece for at in range(0, len(data), step) for piece in gunzip.feed(data[at : at + step])]
    pieces += gunzip.finish()
    return b"".join(pieces), gunzip.is_broken


@pytest.mark.parametrize("step", [1, 5, 1 << 20])
@pytest.mark.parametrize(
    "data",
    [
        TEXT,
        gzip.compress(TEXT),
        gzip.compress(gzip.compress(TEXT)),
        gzip.compress(TEXT[:70]) + gzip.compress(TEXT[70:]),
        gzip.compress(TEXT) + b"rubbish",
    ],
    ids=["plain", "packed", "packed twice", "two members", "with rubbish behind"],
)
def test_packed_or_not_it_is_the_same_file(data: bytes, step: int) -> None:
    assert _unpacked(data, step) == (TEXT, False)


@pytest.mark.parametrize("data", [b"", b"\x1f", b"x"])
def test_a_file_too_short_to_tell_passes_as_it_is(data: bytes) -> None:
    assert _unpacked(data) == (data, False)


def test_of_a_broken_file_the_beginning_is_read() -> None:
    packed = gzip.compress(TEXT)
    unpacked, is_broken = _unpacked(packed[:-10])
    assert is_broken
    assert TEXT.startswith(unpacked)
    assert _unpacked(packed[:20] + b"\xff" * 20)[1]


def test_a_bomb_comes_in_small_pieces() -> None:
    bomb = gzip.compress(bytes(5_000_000))
    assert max(len(piece) for piece in GzipUnpacker().feed(bomb)) <= CHUNK_BYTES


def test_number_of_members_is_bounded() -> None:
    unpack = GzipUnpacker()
    list(unpack.feed(gzip.compress(gzip.compress(b"") * (MAX_MEMBERS + 10))))
    assert unpack.is_broken
