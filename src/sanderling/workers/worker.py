"""A migrant in a process of its own: orders in and parcels out by one socket, gone when the other end is gone."""

import select
import signal
import socket
import sys
import time
from math import inf
from typing import TYPE_CHECKING

import msgspec

from sanderling.content.soft_404 import pretended
from sanderling.fetch.fetch_loop import Trip
from sanderling.fetch.process import Known
from sanderling.fingerprint.structure import structure
from sanderling.fingerprint.text_hash import text_marks
from sanderling.html.parser import Document
from sanderling.html.scanned_page import Glance
from sanderling.html.text import letters
from sanderling.models import Kept, Parcel
from sanderling.runtime.memory import look_for_cycles_seldom, modules_stay
from sanderling.workers.protocol import Abandon, Go, Inbox, Order, Quit, Start, frame

if TYPE_CHECKING:
    from sanderling.workers.migrant.proxy import RemoteTrip

HEARTBEAT_SECONDS = 2.0
NOWHERE = Kept("", 0, 0)
TURN_SECONDS = 0.02  # how long curl is driven before orders are looked at again


def marks(page: Document | Glance, known: Known) -> dict[str, bytes]:
    """What later rooms compare pages by; the full signature only where a page changed, for it costs most."""
    found = {"structure": structure(page)}
    if known.is_changed:
        found |= _compared(page, known)
    if isinstance(page, Glance):
        found["text"], found["minhash"] = page.marks
        return found
    words = letters(page)  # last: it takes the tree apart
    found["text"], found["minhash"] = text_marks(words)
    said = pretended(page, words, known.body if known.is_changed else None)
    if said or known.is_changed:  # the last version may have been a notice
        found["pretence"] = (said or "").encode()
    return found


def _compared(page: Document | Glance, known: Known) -> dict[str, bytes]:
    """Mark in what a page differs from its last version."""
    from sanderling.fingerprint.fast.compare import UNSEEN, Before, marks_between  # most pages of most crawls are new

    if isinstance(page, Glance) or known.is_alike:
        return UNSEEN
    kept = known.kept or NOWHERE
    left = b"" if kept.left else known.left
    return marks_between(page, known.body, Before(known.before, kept.charset, kept.is_marked, left))


class Worker:
    """Drives one trip between two looks at the orders."""

    def __init__(self, name: str, trip: "Trip | RemoteTrip", sock: socket.socket, lease_seconds: float = inf) -> None:
        self.name = name
        self.trip = trip
        self.sock = sock
        self.inbox = Inbox()
        self.orders = msgspec.msgpack.Decoder(Order)
        self.last_beat = 0.0
        self.lease_seconds = lease_seconds
        self.last_turn = time.monotonic()

    def run(self) -> None:
        """Work until told to quit or until the coordinator is gone.

        The first word comes before all work: whoever is lost after it could begin, and what it held may be to blame.
        """
        self._deliver(Parcel(self.name))
        while self._obey():
            parcel = self.trip.work(TURN_SECONDS) if self.trip.load else Parcel(self.name)
            self._deliver(parcel)

    def _obey(self) -> bool:
        select.select([self.sock], [], [], 0 if self.trip.load else HEARTBEAT_SECONDS)
        alive = self.inbox.read(self.sock)
        is_expired = self._is_lease_expired()
        for body in self.inbox.frames():
            match self.orders.decode(body):
                case Go(itinerary):
                    self.trip.accept(itinerary)
                case Abandon(host):
                    self._deliver(Parcel(self.name, tuple(self.trip.abandon(drop_in_flight=False, host=host))))
                case Quit():
                    return False
        if is_expired:
            self._deliver(Parcel(self.name, tuple(self.trip.abandon(drop_in_flight=False))))
        return alive

    def _is_lease_expired(self) -> bool:
        """Was this process stopped for longer than a lease? Then its URLs may belong to other workers by now."""
        now = time.monotonic()
        gap, self.last_turn = now - self.last_turn, now
        return gap > self.lease_seconds

    def _deliver(self, parcel: Parcel) -> None:
        now = time.time()
        beat = now - self.last_beat >= HEARTBEAT_SECONDS
        if not (parcel.visits or parcel.robots or parcel.begins or beat):
            return
        vitals = None
        if beat:
            vitals, self.last_beat = msgspec.structs.replace(self.trip.vitals(), migrant=self.name), now
        self._send(frame(msgspec.structs.replace(parcel, migrant=self.name, vitals=vitals)))

    def _send(self, data: bytes) -> None:
        self.sock.setblocking(True)
        try:
            self.sock.sendall(data)
        finally:
            self.sock.setblocking(False)


def begin(start: Start, name: str) -> "Trip | RemoteTrip":
    """Begin a trip: from here, or with the eyes of a host beside the web server."""
    if start.host is None:
        return Trip(start.settings, marks, name=name, packs=True)
    from sanderling.workers.migrant.proxy import RemoteTrip

    return RemoteTrip(start.settings, marks, start.host, name=name)


def live(name: str, sock: socket.socket) -> None:
    """The life of a migrant, from its settings in the first frame to its end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the coordinator, who tells us
    header = sock.recv(4, socket.MSG_WAITALL)
    if len(header) < 4:
        return
    start = msgspec.msgpack.decode(sock.recv(int.from_bytes(header, "big"), socket.MSG_WAITALL), type=Start)
    sock.setblocking(False)
    look_for_cycles_seldom()
    with modules_stay():
        trip = begin(start, name)
    try:
        Worker(name, trip, sock, start.settings.lease_seconds).run()
    except (BrokenPipeError, ConnectionResetError):  # the coordinator is gone; what we hold is leased and comes back
        return
    finally:
        trip.close()


def main() -> None:
    """Entry point of a process of its own: `worker.py NAME FD`."""
    live(sys.argv[1], socket.socket(fileno=int(sys.argv[2])))


if __name__ == "__main__":
    main()
