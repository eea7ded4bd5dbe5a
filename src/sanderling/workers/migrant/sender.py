"""What was found on a walk goes out in a thread of its own: packed, and sent soon or when there is enough of it."""

import queue
import threading
import time
from collections.abc import Callable
from functools import partial

from sanderling.workers.migrant.messages import EndMessage, MessageCompressor, MigrantMessage
from sanderling.workers.migrant.prose import ProsePacker

CHUNK_BYTES = 16 * 1024  # compressed bytes gathered before they are sent; a site that is slow sends earlier
SEND_SECONDS = 0.25


class MessageSender(threading.Thread):
    """Packs messages and sends them, soon after they came or when there are enough of them."""

    def __init__(
        self,
        messages: "queue.Queue[MigrantMessage | None]",
        compressor: MessageCompressor | ProsePacker,
        write: Callable[[bytes], None],
    ) -> None:
        super().__init__(daemon=True, name="sender")
        self.messages, self.compressor, self.write = messages, compressor, write
        self.buffer, self.last_sent_at, self.min_bytes = bytearray(), time.monotonic(), 1  # the first bytes go at once
        self.error: OSError | None = None

    def run(self) -> None:
        """Work until there are no more messages; after an error, only take them."""
        while (message := self.messages.get()) is not None:
            if self.error is None:
                self._run_step(partial(self._add_message, message))
        if self.error is None:
            self._run_step(self._finish_stream)

    def _run_step(self, step: Callable[[], None]) -> None:
        """The guest may leave, and the process that packs may die."""
        try:
            step()
        except OSError as error:
            self.error = error

    def _add_message(self, message: MigrantMessage) -> None:
        self.buffer += self.compressor.compress(message)
        late = time.monotonic() - self.last_sent_at > SEND_SECONDS
        if late or isinstance(message, EndMessage):
            self.buffer += self.compressor.flush()
        if late or isinstance(message, EndMessage) or len(self.buffer) >= self.min_bytes:
            self._flush()

    def _finish_stream(self) -> None:
        for rest in self.compressor.finish():
            self.buffer += rest
            self._flush()

    def _flush(self) -> None:
        self.write(bytes(self.buffer))
        self.buffer.clear()
        self.min_bytes = CHUNK_BYTES
        self.last_sent_at = time.monotonic()
