"""Worker processes on this machine, connected by socket pairs."""

import selectors
import socket
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.models import FetchBatch, Heartbeat, Host, WorkerReport
from sanderling.workers.migrant.address import MigrantAddress
from sanderling.workers.spawn import SpawnedProcess, WorkerProcess, make_worker_id, spawn_worker
from sanderling.workers.worker_engine import WorkerLost
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


@dataclass
class _WorkerHandle:
    """A running worker process, its socket and buffers."""

    name: str
    process: WorkerProcess
    sock: socket.socket
    frames: FrameBuffer = field(default_factory=FrameBuffer)
    outgoing: bytearray = field(default_factory=bytearray)
    heartbeat: Heartbeat | None = None
    place: str = ""


class LocalEngine:
    """Spawned processes that are waiting are used first."""

    def __init__(
        self,
        settings: FetchSettings,
        migrant_addresses: Mapping[str, MigrantAddress] | None = None,
        spawned_processes: list[SpawnedProcess] | None = None,
    ) -> None:
        self.settings = settings
        self.spawned_processes = [] if spawned_processes is None else spawned_processes
        self.migrant_addresses = dict(migrant_addresses or {})  # by place
        self.migrant_sites: dict[Host, str] = {}  # places of sites with a migrant
        self.workers: dict[str, _WorkerHandle] = {}
        self.selector = selectors.DefaultSelector()
        self.created_count = 0

    def create_worker(self, name: str = "", place: str = "") -> str:
        """Start a worker and return its id: new, or the name of a parked worker."""
        self.created_count += 1
        spawned = (
            self.spawned_processes.pop(0)
            if self.spawned_processes and not name
            else spawn_worker(name or make_worker_id(self.created_count))
        )
        with suppress(OSError):  # it ended already; the next receive reports it
            spawned.sock.sendall(encode_frame(WorkerConfig(self.settings, self.migrant_addresses.get(place))))
        spawned.sock.setblocking(False)
        handle = self.workers[spawned.name] = _WorkerHandle(spawned.name, spawned.process, spawned.sock, place=place)
        self.selector.register(spawned.sock, selectors.EVENT_READ, handle)
        return spawned.name

    def list_places(self) -> list[str]:
        """Return the places of workers: this machine, and the URLs of migrants."""
        return ["", *self.migrant_addresses]

    def can_reach(self, worker: str, host: Host) -> bool:
        """Return False for sites with a migrant, which are left to its workers."""
        handle, place = self.workers.get(worker), self.migrant_sites.get(host, "")
        if handle is None:
            return False
        return handle.place == place or (
            not handle.place and not any(other.place == place for other in self.workers.values())
        )

    def list_migrant_sites(self) -> frozenset[Host]:
        """Return the sites that are fetched through a migrant at this moment."""
        places = {handle.place for handle in self.workers.values()}
        return frozenset(site for site, place in self.migrant_sites.items() if place in places)

    def get_location(self, worker: str) -> str:
        """Return a description of where a worker runs."""
        handle = self.workers.get(worker)
        return f"process {handle.process.pid}" if handle else ""

    def list_workers(self) -> list[str]:
        """Return the ids of running workers."""
        return list(self.workers)

    def send_batch(self, worker: str, batch: FetchBatch) -> None:
        self._send_frame(worker, encode_frame(FetchCommand(batch)))

    def cancel_tasks(self, worker: str, host: Host | None = None) -> None:
        """Ask a worker to finish requests in flight and return its other tasks."""
        self._send_frame(worker, encode_frame(CancelCommand(host)))

    def _send_frame(self, worker: str, data: bytes) -> None:
        handle = self.workers.get(worker)
        if handle is not None:
            handle.outgoing += data
            self._flush(handle)

    def _flush(self, handle: _WorkerHandle) -> None:
        """Send the bytes that fit."""
        self.selector.modify(handle.sock, send_buffered(handle.sock, handle.outgoing), handle)

    def receive_reports(self, timeout: float) -> list[WorkerReport | WorkerLost]:
        """Return the reports received within the timeout. A dead worker is reported once."""
        reports: list[WorkerReport | WorkerLost] = []
        for key, events in self.selector.select(timeout):
            handle: _WorkerHandle = key.data
            if events & selectors.EVENT_WRITE:
                self._flush(handle)
            if events & selectors.EVENT_READ:
                alive = handle.frames.receive(handle.sock)
                for body in handle.frames.pop_frames():
                    report = decode_report(body)
                    handle.heartbeat = report.heartbeat or handle.heartbeat
                    reports.append(report)
                if not alive:
                    self._remove_worker(handle)
                    reports.append(WorkerLost(handle.name))
        return reports

    def _remove_worker(self, handle: _WorkerHandle) -> None:
        self.workers.pop(handle.name, None)
        self.selector.unregister(handle.sock)
        handle.sock.close()
        if handle.process.poll() is None:
            handle.process.kill()
        handle.process.wait()

    def dispose_worker(self, worker: str) -> None:
        """Stop a worker at once."""
        if worker in self.workers:
            self._remove_worker(self.workers[worker])

    def close(self) -> None:
        """Ask all workers to quit, and kill them after a grace period."""
        for handle in list(self.workers.values()):
            self._send_frame(handle.name, encode_frame(QuitCommand()))
        deadline = time.monotonic() + GRACE_SECONDS
        for handle in list(self.workers.values()):
            try:
                handle.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                handle.process.kill()
            self._remove_worker(handle)
        self.selector.close()
