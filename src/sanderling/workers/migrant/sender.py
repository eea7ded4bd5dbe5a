"""Compresses and sends messages in a thread.

A stream compressed for size is flushed less often, because every flush ends a zstd block, and at a lower priority.
"""

import os
import queue
import sys
import threading
import time
from collections.abc import Callable

from sanderling.workers.migrant.messages import EndMessage, MessageCompressor, MigrantMessage

CHUNK_BYTES = 16 * 1024  # compressed bytes per write
SEND_SECONDS = 0.25  # longest time between two writes
SMALL_SEND_SECONDS = 2.0  # the same for a stream that is compressed small
NICE_INCREMENT = 5


class MessageSender(threading.Thread):
    """Compresses queued messages and writes them, until the end of the queue."""

    def __init__(
        self,
        messages: "queue.Queue[MigrantMessage | None]",
        compressor: MessageCompressor,
        write: Callable[[bytes], None],
    ) -> None:
        super().__init__(daemon=True, name="sender")
        self.messages, self.compressor, self.write = messages, compressor, write
        self.send_seconds = SMALL_SEND_SECONDS if compressor.is_small else SEND_SECONDS
        self.buffer, self.last_sent_at, self.min_bytes = bytearray(), time.monotonic(), 1  # first bytes go at once
        self.error: OSError | None = None

    def run(self) -> None:
        """Send all messages. After an error discard the rest, so that the producer is never blocked."""
        if self.compressor.is_small and sys.platform == "linux":  # only there a thread has a priority of its own
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE_INCREMENT)
        is_open = True
        while is_open:
            message = self.messages.get()
            is_open = message is not None
            if self.error is None:
                try:
                    self._send_message(message)
                except OSError as error:  # the crawler closed the connection
                    self.error = error

    def _send_message(self, message: MigrantMessage | None) -> None:
        is_last = message is None or isinstance(message, EndMessage)
        self.buffer += self.compressor.compress(message) if message is not None else b""
        if is_last or time.monotonic() - self.last_sent_at > self.send_seconds:
            self.buffer += self.compressor.flush()
            self._write()
        elif len(self.buffer) >= self.min_bytes:
            self._write()

    def _write(self) -> None:
        self.write(bytes(self.buffer))
        self.buffer.clear()
        self.min_bytes = CHUNK_BYTES
        self.last_sent_at = time.monotonic()
