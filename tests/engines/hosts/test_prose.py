"""The first answer about a site, packed by a model of text."""

import random
from collections.abc import Sequence

import msgspec
import pytest

from sanderling.engines.hosts import prose
from sanderling.engines.hosts.letter import Packer
from sanderling.engines.hosts.prose import ProsePacker, ProseUnpacker
from sanderling.engines.hosts.words import MOST_WORDS, Words, choose

DRAW = random.Random(3)
VOCABULARY = ["".join(DRAW.choices("abcdefghijklmnopqrst", k=DRAW.randint(2, 9))) for _ in range(3000)]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """All limits an eighth: the same paths in less time."""
    for name in ("SAMPLE", "SEGMENT", "LONG", "MODEL_BYTES"):
        monkeypatch.setattr(prose, name, getattr(prose, name) // 8)
    monkeypatch.setattr(prose, "MOST", 2**17)


def page(number: int, words: int = 400) -> bytes:
    """Something like a page: a frame, capitals, bytes beyond ASCII and control characters."""
    draw = random.Random(number)
    text = " ".join(w.title() if draw.random() < 0.1 else w for w in draw.choices(VOCABULARY, k=words))
    return f'<html><p class="Main text">Käse {text}\x05a\x06\x0e</p></html>'.encode()


def through(parts: Sequence[object], cut: int = 1000) -> tuple[list[object], ProsePacker, ProseUnpacker, int]:
    packer, unpacker = ProsePacker(), ProseUnpacker(2**24)
    data = b"".join(packer.pack(part) + packer.flush() for part in parts) + packer.end()
    found = [body for at in range(0, len(data), cut) for body in unpacker.unpack(data[at : at + cut])]
    return [msgspec.msgpack.decode(body) for body in found], packer, unpacker, len(data)


@pytest.mark.parametrize("count", [0, 1, 30, 150])
def test_what_goes_in_comes_out_whole_however_it_is_cut(count: int) -> None:
    parts: list[object] = [page(n) for n in range(count)]
    found, packer, unpacker, _ = through(parts)
    assert found == parts
    assert bytes(packer.said) == bytes(unpacker.heard)


def test_prose_costs_far_less_than_with_zstd() -> None:
    parts: list[object] = [page(n) for n in range(200)]
    packer = Packer()
    zstd = sum(len(packer.pack(part)) for part in parts) + len(packer.flush())
    assert through(parts)[3] < 0.85 * zstd


def test_messages_come_out_before_the_end() -> None:
    packer, unpacker = ProsePacker(), ProseUnpacker(2**24)
    parts = [page(n) for n in range(200)]
    found = [body for part in parts for body in unpacker.unpack(packer.pack(part))]
    assert len(found) > 50


def test_many_small_segments_that_hardly_cost_a_byte_go_through() -> None:
    packer, unpacker = ProsePacker(), ProseUnpacker(2**24)
    packer.since = 0.0  # the first moments are over
    parts = [b"the same again " * 40] * 300
    data = [packer.pack(part) + packer.flush() for part in parts] + [packer.end()]
    assert min(map(len, data)) < 8 + 5
    assert [msgspec.msgpack.decode(body) for some in data for body in unpacker.unpack(some)] == parts


@pytest.mark.parametrize("first", [b"", page(1)])
def test_what_is_no_text_goes_as_it_is_and_both_sides_remember_the_same(first: bytes) -> None:
    noise = random.Random(5)
    parts: list[object] = [first, noise.randbytes(50_000), page(2), b"x" * 50_000, noise.randbytes(90_000), page(3)]
    found, packer, unpacker, size = through(parts[first == b"" :])
    assert sorted(map(repr, found)) == sorted(map(repr, parts[first == b"" :]))
    assert found[-1] == parts[-1]
    assert size < 150_000
    assert bytes(packer.said) == bytes(unpacker.heard)
    assert len(packer.said) == 2**17


def test_a_stream_that_was_tampered_with_is_an_error_and_never_more() -> None:
    packer, draw = ProsePacker(), random.Random(9)
    whole = b"".join(packer.pack(page(n, 100)) for n in range(60)) + packer.end()
    for _ in range(40):
        data = bytearray(whole)
        for _ in range(draw.randint(1, 5)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        unpacker = ProseUnpacker(2**20)
        try:
            found = unpacker.unpack(bytes(data))
        except ValueError:
            continue
        assert sum(map(len, found)) <= 2**26


def test_a_segment_that_is_too_large_is_refused_before_it_comes() -> None:
    with pytest.raises(ValueError, match="are allowed"):
        ProseUnpacker(1000).unpack(b"\x7f\xff\xff\xff\x00\x00\x00\x01")


def test_nothing_follows_the_end() -> None:
    unpacker = ProseUnpacker(1000)
    data = ProsePacker().end()
    assert unpacker.unpack(data) == []
    with pytest.raises(ValueError, match="after its end"):
        unpacker.unpack(data)


def test_another_script_is_left_as_it_is() -> None:
    text = "Καλημέρα κόσμε, τι κάνεις σήμερα; ".encode() * 50
    assert choose(text) == ()
    assert Words(()).shorten(text) == text


def test_words_are_restored_whatever_the_bytes() -> None:
    sample = b"".join(page(n) for n in range(50))
    words = Words(choose(sample))
    assert len(words.codes) > 100
    assert len(words.shorten(sample)) < 0.8 * len(sample)
    for text in (sample, bytes(range(256)) * 20, b'\x05a\x06\x06 The THE tHe <p class="Main text">', b""):
        assert words.restore(words.shorten(text), 2**24) == text


def test_a_dictionary_or_a_text_that_grows_too_much_is_refused() -> None:
    with pytest.raises(ValueError, match="too large"):
        Words([b"%d" % n for n in range(MOST_WORDS + 1)])
    with pytest.raises(ValueError, match="grows"):
        Words([b"x" * 64]).restore(b"\x0e" * 5000, 4000)
    with pytest.raises(ValueError, match="without a word"):
        Words([b"word"]).restore(b"\x0f", 4000)
