"""What was found goes out at once at first, then in larger pieces, and soon where a site is slow."""

import queue

import pytest

from sanderling.workers.migrant import sender
from sanderling.workers.migrant.messages import (
    MESSAGE_DECODER,
    EndMessage,
    MessageCompressor,
    MessageDecompressor,
    MigrantMessage,
    PageMessage,
)
from sanderling.workers.migrant.sender import MessageSender


def page(number: int) -> PageMessage:
    return PageMessage(f"/{number}", number, 1, b"HTTP/1.1 200 OK\r\n\r\n", number.to_bytes(4) * 50_000, b"1234")


def sent(parts: list[MigrantMessage], packer: MessageCompressor | None = None) -> list[bytes]:
    """The pieces in which some messages go out."""
    found: queue.Queue[MigrantMessage | None] = queue.Queue()
    pieces: list[bytes] = []
    for part in (*parts, None):
        found.put(part)
    MessageSender(found, packer or MessageCompressor(), pieces.append).run()
    return pieces


class Eager(MessageCompressor):
    """Hands out every message at once, in a thousand bytes."""

    def pack(self, message: object) -> bytes:
        super().compress(message)
        return b"x" * 1000


def test_the_first_bytes_go_at_once_and_the_next_when_there_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sender, "SEND_SECONDS", 3600.0)
    first, *rest, last = sent([page(n) for n in range(40)], Eager())
    assert len(first) == 1000
    assert {len(piece) for piece in rest} == {17_000}
    assert len(last) < sender.CHUNK_BYTES + 1000


def test_a_slow_site_sends_what_it_has_and_every_piece_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sender, "SEND_SECONDS", -1.0)
    unpacker, parts = MessageDecompressor(2**24), [page(n) for n in range(5)]
    read = [[MESSAGE_DECODER.decode(part) for part in unpacker.decompress(piece)] for piece in sent([*parts])]
    assert [one for some in read for one in some] == parts
    assert len([some for some in read if some]) == 5


def test_an_end_goes_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sender, "SEND_SECONDS", 3600.0)
    unpacker = MessageDecompressor(2**24)
    pieces = sent([page(1), EndMessage(1), page(2)])
    assert MESSAGE_DECODER.decode([*unpacker.decompress(pieces[0]), *unpacker.decompress(pieces[1])][-1]) == EndMessage(
        1
    )


def test_after_a_guest_left_messages_are_only_taken() -> None:
    found: queue.Queue[MigrantMessage | None] = queue.Queue()

    def gone(_: bytes) -> None:
        raise BrokenPipeError

    for part in (page(1), EndMessage(1), page(2), None):
        found.put(part)
    away = MessageSender(found, MessageCompressor(), gone)
    away.run()
    assert isinstance(away.error, BrokenPipeError)
    assert found.empty()
