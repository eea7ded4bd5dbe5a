"""Migrants as processes on this machine: started here, spoken to over socket pairs, missed when they die."""

import selectors
import socket
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from msgspec import Struct

from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.models import Host, Itinerary, Parcel, Vitals
from sanderling.workers.migrant.address import Address
from sanderling.workers.protocol import Abandon, Go, Inbox, Quit, Start, frame, parcel_of, push
from sanderling.workers.spawn import Newborn, Process, bear, new_name

GRACE_SECONDS = 5.0


class Lost(Struct, frozen=True):
    """A migrant is gone, without a word."""

    migrant: str


@dataclass
class _Crew:
    """One running migrant, as seen from here."""

    name: str
    process: Process
    sock: socket.socket
    inbox: Inbox = field(default_factory=Inbox)
    outgoing: bytearray = field(default_factory=bytearray)
    vitals: Vitals | None = None
    place: str = ""


class Processes:
    """The embedded engine: one process per migrant; those that wait already are used first."""

    def __init__(
        self, settings: FetchSettings, hosts: Mapping[str, Address] | None = None, waiting: list[Newborn] | None = None
    ) -> None:
        self.settings = settings
        self.waiting = [] if waiting is None else waiting
        self.hosts = dict(hosts or {})  # places beside web servers, by their address
        self.served: dict[Host, str] = {}  # sites such a place speaks for
        self.crew: dict[str, _Crew] = {}
        self.selector = selectors.DefaultSelector()
        self.born = 0

    def create(self, name: str = "", place: str = "") -> str:
        """Start a migrant, or one that was parked under its old name; a new id is never used again."""
        self.born += 1
        newborn = self.waiting.pop(0) if self.waiting and not name else bear(name or new_name(self.born))
        with suppress(OSError):  # it is gone already; the next receive says so
            newborn.sock.sendall(frame(Start(self.settings, self.hosts.get(place))))
        newborn.sock.setblocking(False)
        member = self.crew[newborn.name] = _Crew(newborn.name, newborn.process, newborn.sock, place=place)
        self.selector.register(newborn.sock, selectors.EVENT_READ, member)
        return newborn.name

    def places(self) -> list[str]:
        """Where migrants can live: here, or with their eyes at a host."""
        return ["", *self.hosts]

    def reaches(self, migrant: str, host: Host) -> bool:
        """May this migrant be sent to that site? A site with a host of its own is left to those who are there."""
        member, place = self.crew.get(migrant), self.served.get(host, "")
        if member is None:
            return False
        return member.place == place or (not member.place and not any(m.place == place for m in self.crew.values()))

    def near_sites(self) -> frozenset[Host]:
        """Return the sites that a running worker beside their web server fetches at this moment."""
        places = {member.place for member in self.crew.values()}
        return frozenset(site for site, place in self.served.items() if place in places)

    def where(self, migrant: str) -> str:
        """Where to find one, for a person."""
        member = self.crew.get(migrant)
        return f"process {member.process.pid}" if member else ""

    def migrants(self) -> list[str]:
        """Who is alive, as far as we know."""
        return list(self.crew)

    def send(self, migrant: str, itinerary: Itinerary) -> None:
        """Give a migrant an errand."""
        self._post(migrant, frame(Go(itinerary)))

    def abandon(self, migrant: str, host: Host | None = None) -> None:
        """Ask a migrant to finish what is in flight and to hand the rest back, of one host or of all."""
        self._post(migrant, frame(Abandon(host)))

    def _post(self, migrant: str, data: bytes) -> None:
        member = self.crew.get(migrant)
        if member is not None:
            member.outgoing += data
            self._push(member)

    def _push(self, member: _Crew) -> None:
        """Send what fits; the rest goes when the socket has room again."""
        self.selector.modify(member.sock, push(member.sock, member.outgoing), member)

    def receive(self, timeout: float) -> list[Parcel | Lost]:
        """What came home within this time; a migrant that died is reported once."""
        news: list[Parcel | Lost] = []
        for key, events in self.selector.select(timeout):
            member: _Crew = key.data
            if events & selectors.EVENT_WRITE:
                self._push(member)
            if events & selectors.EVENT_READ:
                alive = member.inbox.read(member.sock)
                for body in member.inbox.frames():
                    parcel = parcel_of(body)
                    member.vitals = parcel.vitals or member.vitals
                    news.append(parcel)
                if not alive:
                    self._forget(member)
                    news.append(Lost(member.name))
        return news

    def vitals(self, migrant: str) -> Vitals | None:
        """The last heartbeat of a migrant."""
        member = self.crew.get(migrant)
        return member.vitals if member else None

    def _forget(self, member: _Crew) -> None:
        self.crew.pop(member.name, None)
        self.selector.unregister(member.sock)
        member.sock.close()
        if member.process.poll() is None:
            member.process.kill()
        member.process.wait()

    def dispose(self, migrant: str) -> None:
        """End a migrant for good."""
        if migrant in self.crew:
            self._forget(self.crew[migrant])

    def close(self) -> None:
        """End all migrants: kindly, then not."""
        for member in list(self.crew.values()):
            self._post(member.name, frame(Quit()))
        deadline = time.monotonic() + GRACE_SECONDS
        for member in list(self.crew.values()):
            try:
                member.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                member.process.kill()
            self._forget(member)
        self.selector.close()
