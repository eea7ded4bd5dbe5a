"""The door of a host: who is connected. One who has not sent a good letter yet makes room for the next who comes."""

import socket
import threading
from collections import Counter
from contextlib import suppress


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
