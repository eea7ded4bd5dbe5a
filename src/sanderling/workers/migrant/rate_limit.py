"""The gate of one site: so many pages per second, at these hours, for all guests together."""

import socket
import threading
import time
from collections import Counter
from contextlib import suppress

from sanderling.clock import Clock, system_clock
from sanderling.workers.migrant.owner_rules import SiteRules, is_within_hours

MAX_BURST_SECONDS = 0.1  # what was not used for longer is lost: no burst after a rest
MAX_WAIT_SECONDS = 0.05  # until somebody who was not admitted asks again


class SiteRateLimiter:
    """Lets guests in, whoever they are, as often as the owner allows."""

    def __init__(self, site: SiteRules, clock: Clock = system_clock, monotonic: Clock = time.monotonic) -> None:
        self.site = site
        self._clock, self._monotonic = clock, monotonic
        self._interval_seconds = 1 / site.pages_per_second if site.pages_per_second > 0 else 0.0
        self._next_at = monotonic()  # when one more page may be looked at
        self._lock = threading.Lock()

    def is_within_hours(self) -> bool:
        """Is this an hour at which the owner wants guests?"""
        return is_within_hours(self.site.hours, self._clock())

    def acquire(self, max_pages: int) -> int:
        """How many pages may be looked at now, of so many that are wanted."""
        if not self._interval_seconds:
            return max_pages
        with self._lock:
            now = self._monotonic()
            self._next_at = max(self._next_at, now - MAX_BURST_SECONDS)
            count = (
                min(max_pages, 1 + int((now - self._next_at) / self._interval_seconds)) if now >= self._next_at else 0
            )
            self._next_at += count * self._interval_seconds
            return count

    def wait(self) -> None:
        """Wait until it may be worth to ask again."""
        time.sleep(min(MAX_WAIT_SECONDS, max(0.0, self._next_at - self._monotonic())))


class ConnectionLimit:
    """Callers, in the order they came: strangers until their first good letter, guests from then on."""

    def __init__(self, max_connections: int) -> None:
        self.max_connections = max_connections
        self.unauthenticated: dict[socket.socket, str] = {}  # and the address each calls from
        self.authenticated = set[socket.socket]()
        self._lock = threading.Lock()

    def add(self, connection: socket.socket, address: str) -> bool:
        """Let a caller in; False if there are only guests."""
        with self._lock:
            if len(self.unauthenticated) + len(self.authenticated) >= self.max_connections and not self._evict_one():
                return False
            self.unauthenticated[connection] = address
            return True

    def mark_authenticated(self, connection: socket.socket) -> None:
        """This one sent a good letter."""
        with self._lock:
            if self.unauthenticated.pop(connection, None) is not None:
                self.authenticated.add(connection)

    def remove(self, connection: socket.socket) -> None:
        """A caller is gone."""
        with self._lock:
            self.unauthenticated.pop(connection, None)
            self.authenticated.discard(connection)

    def _evict_one(self) -> bool:
        """End the oldest stranger from the address with the most: who sends a crowd crowds out his own."""
        if not self.unauthenticated:
            return False
        (crowd, _), *_ = Counter(self.unauthenticated.values()).most_common(1)
        caller = next(caller for caller, address in self.unauthenticated.items() if address == crowd)
        del self.unauthenticated[caller]
        with suppress(OSError):  # its own thread closes it; TLS or not, it reads an end
            socket.socket.shutdown(caller, socket.SHUT_RDWR)
        return True
