"""What was found on a walk goes out in a thread of its own: packed, and sent soon or when there is enough of it."""

import queue
import threading
import time
from collections.abc import Callable
from functools import partial

from sanderling.workers.migrant.messages import End, Message, Packer
from sanderling.workers.migrant.prose import ProsePacker

CHUNK = 16 * 1024  # compressed bytes gathered before they are sent; a site that is slow sends earlier
SEND_SECONDS = 0.25


class Sender(threading.Thread):
    """Packs messages and sends them, soon after they came or when there are enough of them."""

    def __init__(
        self, found: "queue.Queue[Message | None]", packer: Packer | ProsePacker, send: Callable[[bytes], None]
    ) -> None:
        super().__init__(daemon=True, name="sender")
        self.found, self.packer, self.send = found, packer, send
        self.gathered, self.since, self.enough = bytearray(), time.monotonic(), 1  # the first bytes go at once
        self.error: OSError | None = None

    def run(self) -> None:
        """Work until there are no more messages; after an error, only take them."""
        while (message := self.found.get()) is not None:
            if self.error is None:
                self._try(partial(self._take, message))
        if self.error is None:
            self._try(self._end)

    def _try(self, step: Callable[[], None]) -> None:
        """The guest may leave, and the process that packs may die."""
        try:
            step()
        except OSError as error:
            self.error = error

    def _take(self, message: Message) -> None:
        self.gathered += self.packer.pack(message)
        late = time.monotonic() - self.since > SEND_SECONDS
        if late or isinstance(message, End):
            self.gathered += self.packer.flush()
        if late or isinstance(message, End) or len(self.gathered) >= self.enough:
            self._send()

    def _end(self) -> None:
        for rest in self.packer.end():
            self.gathered += rest
            self._send()

    def _send(self) -> None:
        self.send(bytes(self.gathered))
        self.gathered.clear()
        self.enough = CHUNK
        self.since = time.monotonic()
