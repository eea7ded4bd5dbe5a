"""The gate of one site: so many pages per second, at these hours, for all guests together."""

import threading
import time

from sanderling.clock import Clock, real
from sanderling.engines.hosts.rules import Site, is_open

SAVED_SECONDS = 0.1  # what was not used for longer is lost: no burst after a rest
WAIT_SECONDS = 0.05  # until somebody who was not admitted asks again


class Gate:
    """Lets guests in, whoever they are, as often as the owner allows."""

    def __init__(self, site: Site, clock: Clock = real, ticks: Clock = time.monotonic) -> None:
        self.site = site
        self._clock, self._ticks = clock, ticks
        self._gap = 1 / site.pages_per_second if site.pages_per_second > 0 else 0.0
        self._next = ticks()  # when one more page may be looked at
        self._lock = threading.Lock()

    def is_open(self) -> bool:
        """Is this an hour at which the owner wants guests?"""
        return is_open(self.site.hours, self._clock())

    def admit(self, most: int) -> int:
        """How many pages may be looked at now, of so many that are wanted."""
        if not self._gap:
            return most
        with self._lock:
            now = self._ticks()
            self._next = max(self._next, now - SAVED_SECONDS)
            count = min(most, 1 + int((now - self._next) / self._gap)) if now >= self._next else 0
            self._next += count * self._gap
            return count

    def wait(self) -> None:
        """Wait until it may be worth to ask again."""
        time.sleep(min(WAIT_SECONDS, max(0.0, self._next - self._ticks())))
