"""The first answer about a site, packed by a model of text."""

import random
import signal
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from sanderling.models import Outcome, Reason
from sanderling.workers.migrant import coder, prose, reader
from sanderling.workers.migrant.messages import (
    MESSAGE_DECODER,
    EndMessage,
    MessageCompressor,
    MigrantMessage,
    MissedMessage,
    PageMessage,
    compress_bytes,
)
from sanderling.workers.migrant.prose import ProsePacker
from sanderling.workers.migrant.reader import ProseUnpacker

DRAW = random.Random(3)
VOCABULARY = ["".join(DRAW.choices("abcdefghijklmnopqrst", k=DRAW.randint(2, 9))) for _ in range(3000)]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """All limits smaller: the same paths in less time."""
    for name in ("SAMPLE", "SEGMENT", "SHORT"):
        monkeypatch.setattr(prose, name, getattr(prose, name) // 8)
    monkeypatch.setattr(coder, "MODEL_BYTES", 2**24)
    for module in (prose, reader):
        monkeypatch.setattr(module, "MOST", 2**17)


def page(number: int, words: int = 400) -> PageMessage:
    """Something like a page: a frame, capitals, wrapped lines, bytes beyond ASCII and control characters."""
    draw = random.Random(number)
    text = " ".join(w.title() if draw.random() < 0.1 else w for w in draw.choices(VOCABULARY, k=words))
    wrapped = "\n  ".join(text[at : at + 70] for at in range(0, len(text), 70))
    return holding(number, f'<html><p class="Main text">Käse {wrapped}\x05a\x06\x0e</p></html>'.encode())


def holding(number: int, body: bytes) -> PageMessage:
    head = b'HTTP/1.1 200 OK\r\nContent-Length: %d\r\nETag: "6af6f084-%x"\r\n\r\n' % (len(body), len(body))
    return PageMessage(f"/page/{number}.html", 100 + number, 3, head, body, b"1234")


def through(
    parts: Sequence[MigrantMessage], cut: int = 1000
) -> tuple[list[MigrantMessage], ProsePacker, ProseUnpacker, int]:
    packer, unpacker = ProsePacker(), ProseUnpacker(2**24)
    data = b"".join(packer.compress(part) + packer.flush() for part in parts) + b"".join(packer.finish())
    found = [body for at in range(0, len(data), cut) for body in unpacker.decompress(data[at : at + cut])]
    return [MESSAGE_DECODER.decode(body) for body in found], packer, unpacker, len(data)


@pytest.mark.parametrize("count", [0, 1, 30, 150])
def test_what_goes_in_comes_out_whole_however_it_is_cut(count: int) -> None:
    parts: list[MigrantMessage] = [
        *(page(n) for n in range(count)),
        MissedMessage("/x", Outcome.RETRY, Reason.TIMEOUT),
        EndMessage(count),
    ]
    found, packer, unpacker, _ = through(parts)
    assert found == parts
    assert bytes(packer.dictionary_bytes) == bytes(unpacker.dictionary_bytes)


def test_prose_costs_far_less_than_with_zstd() -> None:
    parts = [page(n) for n in range(200)]
    packer = MessageCompressor()
    zstd = sum(len(packer.compress(part)) for part in parts) + len(packer.flush())
    assert through(parts)[3] < 0.8 * zstd


def test_messages_come_out_before_the_end() -> None:
    with closing(ProsePacker()) as packer, closing(ProseUnpacker(2**24)) as unpacker:
        found = [body for n in range(300) for body in unpacker.decompress(packer.compress(page(n)))]
        found += list(unpacker.finish())
    assert len(found) > 50


def test_what_is_read_while_more_comes_is_handed_out_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "AHEAD", 0)  # everything is waited for
    with closing(ProsePacker()) as packer, closing(ProseUnpacker(2**24)) as unpacker:
        found = [len(list(unpacker.decompress(packer.compress(page(n))))) for n in range(300)]
        assert list(unpacker.finish()) == []
    assert sum(found) > 50
    assert max(found) < 100


def test_a_coder_that_dies_is_an_error_and_no_endless_wait() -> None:
    with closing(ProsePacker()) as packer:
        packer.compress(page(1))
        packer.coder.kill()
        with pytest.raises(OSError, match="the process that codes is gone"):
            b"".join(packer.finish())


def test_a_decoder_that_dies_is_a_broken_stream_and_no_endless_wait() -> None:
    with closing(ProsePacker()) as packer, closing(ProseUnpacker(2**24)) as unpacker:
        data = packer.compress(page(1)) + b"".join(packer.finish())
        unpacker.decoder.kill()
        with pytest.raises(ValueError, match="the process that codes is gone"):
            list(unpacker.decompress(data))


def test_a_decoder_that_hangs_is_a_broken_stream_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "PATIENCE", 0.01)
    with closing(ProsePacker()) as packer, closing(ProseUnpacker(2**24)) as unpacker:
        data = packer.compress(page(1)) + b"".join(packer.finish())
        unpacker.decoder.process.send_signal(signal.SIGSTOP)
        with pytest.raises(ValueError, match="hangs"):
            list(unpacker.decompress(data))


def test_after_the_words_were_chosen_what_waits_comes_in_small_parts() -> None:
    with closing(ProsePacker()) as packer:
        parts = [packer.compress(page(n)) for n in range(300)]
    assert max(map(len, parts)) < sum(map(len, parts)) / 3


def test_the_first_segments_are_short_so_that_reading_begins_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prose, "SEGMENT", 4 * prose.FIRST_SEGMENT)
    packer = ProsePacker()
    data = b"".join([packer.compress(page(n)) for n in range(300)]) + b"".join(packer.finish())
    lengths, at = list[int](), 0
    while at < len(data):
        length, coded = prose.HEADER.unpack_from(data, at)
        lengths.append(length)
        at += prose.HEADER.size + coded
    _, first, second, third, fourth, *_ = lengths  # the words come before all
    assert 1.5 * first < second < 3 * first
    assert 1.5 * second < third < 3 * second
    assert fourth < 1.5 * third


def test_the_process_that_codes_asks_for_large_pages_beside_what_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.arena_max=1")
    with closing(coder.FarCoder()) as far:
        far.encode(b"x")  # it is there
        told = Path(f"/proc/{far.process.pid}/environ").read_bytes()  # in parts, once they were read
    assert b"arena_max=1" in told
    assert b"glibc.malloc.hugetlb=1" in told


def test_many_small_segments_that_hardly_cost_a_byte_go_through() -> None:
    packer, unpacker = ProsePacker(), ProseUnpacker(2**24)
    packer.since = 0.0  # the first moments are over
    parts = [holding(1, b"the same again " * 40)] * 300
    data = [packer.compress(part) + packer.flush() for part in parts] + [b"".join(packer.finish())]
    assert min(map(len, data)) < 8 + 5
    assert [MESSAGE_DECODER.decode(body) for some in data for body in unpacker.decompress(some)] == parts


@pytest.mark.parametrize("first", [True, False])
def test_what_is_no_text_goes_apart_and_both_sides_remember_the_same(first: bool) -> None:
    noise = random.Random(5)
    bodies = [noise.randbytes(50_000), b"x" * 50_000, noise.randbytes(90_000)]
    parts = [page(1), *(holding(n, body) for n, body in enumerate(bodies)), page(3)][not first :]
    found, packer, unpacker, size = through(parts)
    assert sorted(map(repr, found)) == sorted(map(repr, parts))
    assert found[-1] == parts[-1]
    assert size < 150_000
    assert bytes(packer.dictionary_bytes) == bytes(unpacker.dictionary_bytes)
    assert len(packer.dictionary_bytes) == 2**17


def test_a_head_with_our_own_marks_comes_out_as_it_was() -> None:
    odd = PageMessage("/", 1, 1, b"HTTP/1.1 200 OK\r\nX: \x01\x02 5\r\n\r\n", b"hello", b"1234")
    assert through([odd, EndMessage()])[0] == [odd, EndMessage()]


def test_a_stream_that_was_tampered_with_is_an_error_and_never_more() -> None:
    packer, draw = ProsePacker(), random.Random(9)
    whole = b"".join(packer.compress(page(n, 100)) for n in range(60)) + b"".join(packer.finish())
    for _ in range(40):
        data = bytearray(whole)
        for _ in range(draw.randint(1, 5)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        with closing(ProseUnpacker(2**20)) as unpacker:
            try:
                found = [*unpacker.decompress(bytes(data)), *unpacker.finish()]
            except (ValueError, msgspec.DecodeError):
                continue
        assert sum(map(len, found)) <= 2**26


def test_a_segment_that_is_too_large_is_refused_before_it_comes() -> None:
    with closing(ProseUnpacker(1000)) as unpacker, pytest.raises(ValueError, match="are allowed"):
        list(unpacker.decompress(b"\x7f\xff\xff\xff\x00\x00\x00\x01"))


def test_segments_that_claim_much_and_bring_nothing_are_refused_before_they_are_read() -> None:
    claims = prose.HEADER.pack(prose.MOST_TEXT, 0) * 3 + prose.HEADER.pack(1, 100) + bytes(100)
    with closing(ProseUnpacker(2**26)) as unpacker, pytest.raises(ValueError, match="too many"):
        list(unpacker.decompress(claims))


def test_a_message_apart_that_grows_beyond_its_length_is_refused() -> None:
    small = compress_bytes(b"x" * 100_000)
    with closing(ProseUnpacker(2**20)) as unpacker, pytest.raises(ValueError, match="another length"):
        list(unpacker.decompress(prose.HEADER.pack(prose.APART + 1000, len(small)) + small))


def test_nothing_follows_the_end() -> None:
    unpacker = ProseUnpacker(1000)
    data = b"".join(ProsePacker().finish())
    assert list(unpacker.decompress(data)) == []
    with pytest.raises(ValueError, match="after its end"):
        list(unpacker.decompress(data))


def test_pages_that_repeat_each_other_are_never_more_than_can_be_read_at_once() -> None:
    same = b"".join(b'<li><a href="/docs/reference/section-%d.html">section</a></li>\n' % n for n in range(1500))
    parts: list[MigrantMessage] = [holding(n, same + b"<p>%d</p>" % n) for n in range(300)]
    assert sum(len(part.body) for part in parts if isinstance(part, PageMessage)) > prose.MOST_TEXT
    assert through([*parts, EndMessage()])[0] == [*parts, EndMessage()]


def test_messages_are_written_out_as_they_are_taken() -> None:
    packer = ProsePacker()
    same = b"".join(b"line %d of what all pages have\n" % n for n in range(20_000))
    data = b"".join(packer.compress(holding(n, same)) for n in range(40)) + b"".join(packer.finish())
    with closing(ProseUnpacker(2**24)) as unpacker:
        messages = unpacker.decompress(data)
        next(messages)
        assert len(unpacker.dictionary_bytes) < 12 * len(same)  # one segment of them
        assert len(list(messages)) == 39
