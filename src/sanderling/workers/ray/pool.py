"""The engine on a Ray cluster: migrants are actors on its nodes; same orders, same parcels as on this machine.

Ray is driven by a process of its own (`driver.py`), for Ray ends its driver when the head of the cluster is lost. Then
all migrants are lost, their leases return, and the next driver waits for the cluster to come back.
"""

import secrets
import selectors
import socket
import subprocess
import tempfile
import time
from importlib.util import find_spec
from typing import IO

import msgspec

from sanderling.errors import EngineUnavailable, MissingExtra
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.models import Host, Itinerary, Parcel, Vitals
from sanderling.runtime.isolation import python_command, safe_environment
from sanderling.workers.local import Lost
from sanderling.workers.protocol import BUFFER, Abandon, Go, Inbox, frame, parcel_of, push
from sanderling.workers.ray.driver import Came, Create, Dispose, Failed, Gone, Join, Leave, News, Order, Post, Ready

PATIENCE_SECONDS = 300.0  # a cluster that goes away may come back within this time
PAUSE_SECONDS = 1.0  # between two tries
JOIN_SECONDS = 90.0  # Ray may wait for ever for a node that was just coming up: then another try is better
GRACE_SECONDS = 15.0


class Cluster:
    """The coordinator's end: `address` names a cluster, or "local" starts one here."""

    def __init__(self, settings: FetchSettings, address: str = "local", labels: tuple[str, ...] = ()) -> None:
        if find_spec("ray") is None:
            raise MissingExtra("--engine ray", "cluster")
        self.join = Join(address, msgspec.msgpack.encode(settings), labels)
        self.labels = labels
        self.homes: dict[str, str] = {}  # where each migrant lives
        self.heard: dict[str, Vitals] = {}
        self.born = 0
        self.news = msgspec.msgpack.Decoder(News)
        self.selector = selectors.DefaultSelector()
        self.line: Line | None = None
        self.held = bytearray()  # for a driver that is ready
        self.lost_at = 0.0  # when the cluster went away; 0: it is there
        self.try_at = 0.0

    def open(self) -> None:
        """Connect; a cluster that is not there is said at once."""
        self._start()
        while self.line is not None and not self.line.ready:
            self.receive(PAUSE_SECONDS)

    def create(self, name: str = "", place: str = "") -> str:
        """Start a migrant on a node with room; where labels are named, on them in turn."""
        if self.line is None and not self.lost_at:
            self.open()
        self.born += 1
        name = name or f"r{self.born}-{secrets.token_hex(3)}"
        place = place or (self.labels[(self.born - 1) % len(self.labels)] if self.labels else "")
        self.homes[name] = place
        self._post(Create(name, place))
        return name

    def places(self) -> list[str]:
        """Where migrants can live: anywhere, or on a node with one of the labels."""
        return ["", *self.labels]

    def where(self, migrant: str) -> str:
        """Where to find one, for a person."""
        return f"Ray actor {self.homes[migrant]}".rstrip() if migrant in self.homes else ""

    def migrants(self) -> list[str]:
        """Who is alive, as far as we know."""
        return list(self.homes)

    def send(self, migrant: str, itinerary: Itinerary) -> None:
        """Give a migrant an errand; it goes with the next turn."""
        self._order(migrant, Go(itinerary))

    def abandon(self, migrant: str, host: Host | None = None) -> None:
        """Ask a migrant to finish what is in flight and to hand the rest back, of one host or of all."""
        self._order(migrant, Abandon(host))

    def _order(self, migrant: str, order: Go | Abandon) -> None:
        if migrant in self.homes:
            self._post(Post(migrant, msgspec.msgpack.encode(order), time.monotonic()))

    def dispose(self, migrant: str) -> None:
        """End a migrant for good."""
        if self.homes.pop(migrant, None) is not None:
            self.heard.pop(migrant, None)
            self._post(Dispose(migrant))

    def vitals(self, migrant: str) -> Vitals | None:
        """The last we heard of a migrant."""
        return self.heard.get(migrant)

    def receive(self, timeout: float) -> list[Parcel | Lost]:
        """What came home within this time; a migrant whose node died is reported once."""
        if self.line is None and time.monotonic() >= self.try_at:
            self._start()
        if self.line is not None and not self.line.ready and time.monotonic() > self.line.begun + JOIN_SECONDS:
            self.line.note = f"it did not let us in within {JOIN_SECONDS:.0f} seconds"
            self.line.process.kill()
        found: list[Parcel | Lost] = []
        if not self.selector.get_map():
            time.sleep(min(timeout, PAUSE_SECONDS))
            return found
        for _, events in self.selector.select(timeout):
            assert self.line is not None
            if events & selectors.EVENT_WRITE:
                self._push()
            if events & selectors.EVENT_READ:
                alive = self.line.inbox.read(self.line.sock)
                for body in self.line.inbox.frames():
                    found += self._hear(self.news.decode(body))
                if not alive:
                    found += self._lose()
        return found

    def _hear(self, news: News) -> list[Parcel | Lost]:
        assert self.line is not None
        match news:
            case Came(body):
                parcel = parcel_of(body)
                if parcel.vitals is not None:
                    self.heard[parcel.migrant] = parcel.vitals
                return [parcel]
            case Gone(migrant):
                self.homes.pop(migrant, None)
                return [Lost(migrant)]
            case Failed(note):
                self.line.note = note
            case Ready():
                self.line.ready, self.lost_at = True, 0.0
                self._push()
        return []

    def _lose(self) -> list[Parcel | Lost]:
        """The driver ended: its migrants are lost with it; try again, unless the cluster was never there or is away."""
        assert self.line is not None
        line, self.line = self.line, None
        self.selector.unregister(line.sock)
        note = line.end()
        now = time.monotonic()
        self.try_at = now + PAUSE_SECONDS
        if line.ready:
            self.lost_at = now
            self.join = msgspec.structs.replace(self.join, labels=())  # those nodes may be lost too
            self.held.clear()
            lost = [Lost(migrant) for migrant in self.homes]
            self.homes.clear()
            self.heard.clear()
            return [*lost]
        if not self.lost_at:
            raise EngineUnavailable(f"no Ray cluster at {self.join.address} that we could use: {note}")
        if now - self.lost_at > PATIENCE_SECONDS:
            raise EngineUnavailable(
                f"the Ray cluster at {self.join.address} went away and did not return: {note}."
                " Nothing is lost; give the same command again when it is back."
            )
        return []

    def _start(self) -> None:
        self.line = Line()
        self.line.outgoing += frame(self.join)
        self.selector.register(self.line.sock, selectors.EVENT_READ)
        self._push()

    def _post(self, order: Order) -> None:
        self.held += frame(order)
        self._push()

    def _push(self) -> None:
        """Send what fits; what is for a driver that is ready waits until it is."""
        line = self.line
        if line is None:
            return
        if line.ready:
            line.outgoing += self.held
            self.held.clear()
        self.selector.modify(line.sock, push(line.sock, line.outgoing))

    def close(self) -> None:
        """End all migrants; the cluster stays unless we started it."""
        if self.line is not None:
            self._post(Leave())
            self.selector.unregister(self.line.sock)
            self.line.end(GRACE_SECONDS)
            self.line = None
        self.selector.close()


class Line:
    """One driver and the way to it."""

    def __init__(self) -> None:
        self.sock, theirs = socket.socketpair()
        for end in (self.sock, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
        self.words: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - what it says on the side; Ray says a lot
        command = python_command("-m", "sanderling.workers.ray.driver", str(theirs.fileno()))
        self.process = subprocess.Popen(
            command,
            pass_fds=(theirs.fileno(),),
            stdin=subprocess.DEVNULL,
            stdout=self.words,
            stderr=self.words,
            cwd="/",  # Ray adds the working directory of its driver to the import path of all workers
            env=safe_environment(),
        )
        theirs.close()
        self.sock.setblocking(False)
        self.inbox = Inbox()
        self.outgoing = bytearray()
        self.ready = False
        self.begun = time.monotonic()
        self.note = ""

    def end(self, grace: float = 0.0) -> str:
        """See it out; why it ended, as far as it said."""
        try:
            self.process.wait(grace)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.sock.close()
        size = self.words.seek(0, 2)
        self.words.seek(max(0, size - 2000))
        last = self.words.read().decode("utf-8", "replace").strip().splitlines()
        self.words.close()
        return self.note or (last[-1] if last else "it did not answer")
