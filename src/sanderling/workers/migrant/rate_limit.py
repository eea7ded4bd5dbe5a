"""Limits of a migrant: pages per second of a site, and open connections."""

import socket
import threading
import time
from collections import Counter
from contextlib import suppress

from sanderling.clock import Clock, system_clock
from sanderling.workers.migrant.owner_rules import SiteRules, is_within_hours

MAX_BURST_SECONDS = 0.1  # unused time beyond this expires, so that idle time allows no burst
MAX_WAIT_SECONDS = 0.05


class SiteRateLimiter:
    """Rate limiter of a site, shared by all connections."""

    def __init__(self, site: SiteRules, clock: Clock = system_clock, monotonic: Clock = time.monotonic) -> None:
        self.site = site
        self._clock, self._monotonic = clock, monotonic
        self._interval_seconds = 1 / site.pages_per_second if site.pages_per_second > 0 else 0.0
        self._next_at = monotonic()  # time of the next page
        self._lock = threading.Lock()

    def is_within_hours(self) -> bool:
        """Check whether the owner allows requests at this hour."""
        return is_within_hours(self.site.hours, self._clock())

    def acquire(self, max_pages: int) -> int:
        """Return how many pages may be fetched now, and count them."""
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
        """Sleep until the next page is allowed, or for a short time."""
        time.sleep(min(MAX_WAIT_SECONDS, max(0.0, self._next_at - self._monotonic())))


class ConnectionLimit:
    """Open connections: unauthenticated in order of arrival, authenticated after the first valid request."""

    def __init__(self, max_connections: int) -> None:
        self.max_connections = max_connections
        self.unauthenticated: dict[socket.socket, str] = {}  # with client addresses
        self.authenticated = set[socket.socket]()
        self._lock = threading.Lock()

    def add(self, connection: socket.socket, address: str) -> bool:
        """Add a connection. Returns False if authenticated crawlers take all places."""
        with self._lock:
            if len(self.unauthenticated) + len(self.authenticated) >= self.max_connections and not self._evict_one():
                return False
            self.unauthenticated[connection] = address
            return True

    def mark_authenticated(self, connection: socket.socket) -> None:
        """Mark a connection that sent a valid request."""
        with self._lock:
            if self.unauthenticated.pop(connection, None) is not None:
                self.authenticated.add(connection)

    def remove(self, connection: socket.socket) -> None:
        with self._lock:
            self.unauthenticated.pop(connection, None)
            self.authenticated.discard(connection)

    def _evict_one(self) -> bool:
        """Close the oldest unauthenticated connection of the address with most. Returns False if there is none."""
        if not self.unauthenticated:
            return False
        (busiest_address, _), *_ = Counter(self.unauthenticated.values()).most_common(1)
        oldest = next(sock for sock, address in self.unauthenticated.items() if address == busiest_address)
        del self.unauthenticated[oldest]
        with suppress(OSError):  # its own thread closes it after it read the end, with TLS or without
            socket.socket.shutdown(oldest, socket.SHUT_RDWR)
        return True
