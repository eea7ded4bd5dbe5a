"""The gate of one site: so many pages per second, at these hours, for all guests together."""

import socket
import threading
import time
from collections import Counter
from contextlib import suppress

from sanderling.clock import Clock, real
from sanderling.workers.migrant.owner_rules import Site, is_open

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


class Door:
    """Callers, in the order they came: strangers until their first good letter, guests from then on."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.strangers: dict[socket.socket, str] = {}  # and the address each calls from
        self.guests = set[socket.socket]()
        self._lock = threading.Lock()

    def enter(self, caller: socket.socket, address: str) -> bool:
        """Let a caller in; False if there are only guests."""
        with self._lock:
            if len(self.strangers) + len(self.guests) >= self.room and not self._see_one_out():
                return False
            self.strangers[caller] = address
            return True

    def welcome(self, caller: socket.socket) -> None:
        """This one sent a good letter."""
        with self._lock:
            if self.strangers.pop(caller, None) is not None:
                self.guests.add(caller)

    def leave(self, caller: socket.socket) -> None:
        """A caller is gone."""
        with self._lock:
            self.strangers.pop(caller, None)
            self.guests.discard(caller)

    def _see_one_out(self) -> bool:
        """End the oldest stranger from the address with the most: who sends a crowd crowds out his own."""
        if not self.strangers:
            return False
        (crowd, _), *_ = Counter(self.strangers.values()).most_common(1)
        caller = next(caller for caller, address in self.strangers.items() if address == crowd)
        del self.strangers[caller]
        with suppress(OSError):  # its own thread closes it; TLS or not, it reads an end
            socket.socket.shutdown(caller, socket.SHUT_RDWR)
        return True
