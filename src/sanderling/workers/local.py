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
from sanderling.models import FetchBatch, Heartbeat, Host, WorkerReport
from sanderling.workers.migrant.address import MigrantAddress
from sanderling.workers.spawn import SpawnedProcess, WorkerProcess, make_worker_id, spawn_worker
from sanderling.workers.worker_protocol import (
    CancelCommand,
    FetchCommand,
    FrameBuffer,
    QuitCommand,
    WorkerConfig,
    decode_report,
    encode_frame,
    send_buffered,
)

GRACE_SECONDS = 5.0


class WorkerLost(Struct, frozen=True):
    """A migrant is gone, without a word."""

    worker: str


@dataclass
class _WorkerHandle:
    """One running migrant, as seen from here."""

    name: str
    process: WorkerProcess
    sock: socket.socket
    frames: FrameBuffer = field(default_factory=FrameBuffer)
    outgoing: bytearray = field(default_factory=bytearray)
    heartbeat: Heartbeat | None = None
    place: str = ""


class LocalEngine:
    """The embedded engine: one process per migrant; those that wait already are used first."""

    def __init__(
        self,
        settings: FetchSettings,
        migrant_addresses: Mapping[str, MigrantAddress] | None = None,
        spawned_processes: list[SpawnedProcess] | None = None,
    ) -> None:
        self.settings = settings
        self.spawned_processes = [] if spawned_processes is None else spawned_processes
        self.migrant_addresses = dict(migrant_addresses or {})  # places beside web servers, by their address
        self.migrant_sites: dict[Host, str] = {}  # sites such a place speaks for
        self.workers: dict[str, _WorkerHandle] = {}
        self.selector = selectors.DefaultSelector()
        self.created_count = 0

    def create_worker(self, name: str = "", place: str = "") -> str:
        """Start a migrant, or one that was parked under its old name; a new id is never used again."""
        self.created_count += 1
        newborn = (
            self.spawned_processes.pop(0)
            if self.spawned_processes and not name
            else spawn_worker(name or make_worker_id(self.created_count))
        )
        with suppress(OSError):  # it is gone already; the next receive says so
            newborn.sock.sendall(encode_frame(WorkerConfig(self.settings, self.migrant_addresses.get(place))))
        newborn.sock.setblocking(False)
        member = self.workers[newborn.name] = _WorkerHandle(newborn.name, newborn.process, newborn.sock, place=place)
        self.selector.register(newborn.sock, selectors.EVENT_READ, member)
        return newborn.name

    def list_places(self) -> list[str]:
        """Where migrants can live: here, or with their eyes at a host."""
        return ["", *self.migrant_addresses]

    def can_reach(self, worker: str, host: Host) -> bool:
        """May this migrant be sent to that site? A site with a host of its own is left to those who are there."""
        member, place = self.workers.get(worker), self.migrant_sites.get(host, "")
        if member is None:
            return False
        return member.place == place or (not member.place and not any(m.place == place for m in self.workers.values()))

    def list_migrant_sites(self) -> frozenset[Host]:
        """Return the sites that a running worker beside their web server fetches at this moment."""
        places = {member.place for member in self.workers.values()}
        return frozenset(site for site, place in self.migrant_sites.items() if place in places)

    def get_location(self, worker: str) -> str:
        """Where to find one, for a person."""
        member = self.workers.get(worker)
        return f"process {member.process.pid}" if member else ""

    def list_workers(self) -> list[str]:
        """Who is alive, as far as we know."""
        return list(self.workers)

    def send_batch(self, worker: str, batch: FetchBatch) -> None:
        """Give a migrant an errand."""
        self._send_frame(worker, encode_frame(FetchCommand(batch)))

    def cancel_tasks(self, worker: str, host: Host | None = None) -> None:
        """Ask a migrant to finish what is in flight and to hand the rest back, of one host or of all."""
        self._send_frame(worker, encode_frame(CancelCommand(host)))

    def _send_frame(self, worker: str, data: bytes) -> None:
        member = self.workers.get(worker)
        if member is not None:
            member.outgoing += data
            self._flush(member)

    def _flush(self, handle: _WorkerHandle) -> None:
        """Send what fits; the rest goes when the socket has room again."""
        self.selector.modify(handle.sock, send_buffered(handle.sock, handle.outgoing), handle)

    def receive_reports(self, timeout: float) -> list[WorkerReport | WorkerLost]:
        """What came home within this time; a migrant that died is reported once."""
        news: list[WorkerReport | WorkerLost] = []
        for key, events in self.selector.select(timeout):
            member: _WorkerHandle = key.data
            if events & selectors.EVENT_WRITE:
                self._flush(member)
            if events & selectors.EVENT_READ:
                alive = member.frames.receive(member.sock)
                for body in member.frames.pop_frames():
                    parcel = decode_report(body)
                    member.heartbeat = parcel.heartbeat or member.heartbeat
                    news.append(parcel)
                if not alive:
                    self._remove_worker(member)
                    news.append(WorkerLost(member.name))
        return news

    def get_heartbeat(self, worker: str) -> Heartbeat | None:
        """The last heartbeat of a migrant."""
        member = self.workers.get(worker)
        return member.heartbeat if member else None

    def _remove_worker(self, handle: _WorkerHandle) -> None:
        self.workers.pop(handle.name, None)
        self.selector.unregister(handle.sock)
        handle.sock.close()
        if handle.process.poll() is None:
            handle.process.kill()
        handle.process.wait()

    def dispose_worker(self, worker: str) -> None:
        """End a migrant for good."""
        if worker in self.workers:
            self._remove_worker(self.workers[worker])

    def close(self) -> None:
        """End all migrants: kindly, then not."""
        for member in list(self.workers.values()):
            self._send_frame(member.name, encode_frame(QuitCommand()))
        deadline = time.monotonic() + GRACE_SECONDS
        for member in list(self.workers.values()):
            try:
                member.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                member.process.kill()
            self._remove_worker(member)
        self.selector.close()
