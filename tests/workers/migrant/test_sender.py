"""The sender writes its first bytes at once, then chunks, and earlier on a slow site."""

import os
import queue
import sys
import threading

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


def build_page(number: int) -> PageMessage:
    return PageMessage(f"/{number}", number, 1, b"HTTP/1.1 200 OK\r\n\r\n", number.to_bytes(4) * 50_000, b"1234")


def send(messages: list[MigrantMessage], compressor: MessageCompressor | None = None) -> list[bytes]:
    """Return the chunks in which messages are written."""
    outgoing: queue.Queue[MigrantMessage | None] = queue.Queue()
    chunks: list[bytes] = []
    for message in (*messages, None):
        outgoing.put(message)
    MessageSender(outgoing, compressor or MessageCompressor(), chunks.append).run()
    return chunks


class FixedSizeCompressor(MessageCompressor):
    """Returns 1,000 bytes for every message."""

    def compress(self, message: object) -> bytes:
        super().compress(message)
        return b"x" * 1000


def test_first_bytes_are_written_at_once_then_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sender, "SEND_SECONDS", 3600.0)
    first, *rest, last = send([build_page(n) for n in range(40)], FixedSizeCompressor())
    assert len(first) == 1000
    assert {len(chunk) for chunk in rest} == {17_000}
    assert len(last) < sender.CHUNK_BYTES + 1000


def test_chunks_of_a_slow_site_can_be_decoded_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sender, "SEND_SECONDS", -1.0)
    decompressor, messages = MessageDecompressor(2**24), [build_page(n) for n in range(5)]
    received = [
        [MESSAGE_DECODER.decode(encoded) for encoded in decompressor.decompress(chunk)] for chunk in send([*messages])
    ]
    assert [message for chunk in received for message in chunk] == messages
    assert len([chunk for chunk in received if chunk]) == 5


def test_end_is_written_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sender, "SEND_SECONDS", 3600.0)
    decompressor = MessageDecompressor(2**24)
    first, second, *_ = send([build_page(1), EndMessage(1), build_page(2)])
    received = [*decompressor.decompress(first), *decompressor.decompress(second)]
    assert MESSAGE_DECODER.decode(received[-1]) == EndMessage(1)


def test_messages_are_discarded_after_a_write_error() -> None:
    outgoing: queue.Queue[MigrantMessage | None] = queue.Queue()

    def fail(_: bytes) -> None:
        raise BrokenPipeError

    for message in (build_page(1), EndMessage(1), build_page(2), None):
        outgoing.put(message)
    message_sender = MessageSender(outgoing, MessageCompressor(), fail)
    message_sender.run()
    assert isinstance(message_sender.error, BrokenPipeError)
    assert outgoing.empty()


@pytest.mark.skipif(sys.platform != "linux", reason="threads have no priority of their own")
@pytest.mark.parametrize("is_small", [True, False])
def test_small_compression_runs_at_a_lower_priority(is_small: bool) -> None:
    """The web server on the same machine goes first."""
    outgoing: queue.Queue[MigrantMessage | None] = queue.Queue()
    priorities: list[int] = []
    message_sender = MessageSender(
        outgoing,
        MessageCompressor(is_small=is_small),
        lambda _: priorities.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id())),
    )
    before = os.getpriority(os.PRIO_PROCESS, 0)
    message_sender.start()
    outgoing.put(EndMessage(1))
    outgoing.put(None)
    message_sender.join()
    assert set(priorities) == {sender.NICE_INCREMENT if is_small else before}
    assert os.getpriority(os.PRIO_PROCESS, 0) == before
