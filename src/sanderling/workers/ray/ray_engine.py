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

from sanderling.errors import ClusterUnavailable, MissingExtra
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.models import FetchBatch, Heartbeat, Host, WorkerReport
from sanderling.runtime.isolation import build_python_command, build_safe_environment
from sanderling.workers.local import WorkerLost
from sanderling.workers.ray.driver import (
    ActorLost,
    ClusterFailed,
    ClusterReady,
    ConnectCommand,
    CreateCommand,
    DisposeCommand,
    DriverCommand,
    DriverEvent,
    ForwardCommand,
    ReportReceived,
    ShutdownCommand,
)
from sanderling.workers.worker_protocol import (
    SOCKET_BUFFER_BYTES,
    CancelCommand,
    FetchCommand,
    FrameBuffer,
    decode_report,
    encode_frame,
    send_buffered,
)

RECONNECT_TIMEOUT_SECONDS = 300.0  # a cluster that goes away may come back within this time
RETRY_SECONDS = 1.0  # between two tries
CONNECT_TIMEOUT_SECONDS = 90.0  # Ray may wait for ever for a node that was just coming up: then another try is better
GRACE_SECONDS = 15.0


class RayEngine:
    """The coordinator's end: `address` names a cluster, or "local" starts one here."""

    def __init__(self, settings: FetchSettings, address: str = "local", labels: tuple[str, ...] = ()) -> None:
        if find_spec("ray") is None:
            raise MissingExtra("--engine ray", "cluster")
        self.connect_command = ConnectCommand(address, msgspec.msgpack.encode(settings), labels)
        self.labels = labels
        self.place_by_worker: dict[str, str] = {}  # where each migrant lives
        self.heartbeats: dict[str, Heartbeat] = {}
        self.created_count = 0
        self.event_decoder = msgspec.msgpack.Decoder(DriverEvent)
        self.selector = selectors.DefaultSelector()
        self.driver: DriverProcess | None = None
        self.unsent_frames = bytearray()  # for a driver that is ready
        self.lost_at = 0.0  # when the cluster went away; 0: it is there
        self.retry_at = 0.0

    def open(self) -> None:
        """Connect; a cluster that is not there is said at once."""
        self._start_driver()
        while self.driver is not None and not self.driver.is_ready:
            self.receive_reports(RETRY_SECONDS)

    def create_worker(self, name: str = "", place: str = "") -> str:
        """Start a migrant on a node with room; where labels are named, on them in turn."""
        if self.driver is None and not self.lost_at:
            self.open()
        self.created_count += 1
        name = name or f"r{self.created_count}-{secrets.token_hex(3)}"
        place = place or (self.labels[(self.created_count - 1) % len(self.labels)] if self.labels else "")
        self.place_by_worker[name] = place
        self._send_driver_command(CreateCommand(name, place))
        return name

    def list_places(self) -> list[str]:
        """Where migrants can live: anywhere, or on a node with one of the labels."""
        return ["", *self.labels]

    def get_location(self, worker: str) -> str:
        """Where to find one, for a person."""
        return f"Ray actor {self.place_by_worker[worker]}".rstrip() if worker in self.place_by_worker else ""

    def list_workers(self) -> list[str]:
        """Who is alive, as far as we know."""
        return list(self.place_by_worker)

    def send_batch(self, worker: str, batch: FetchBatch) -> None:
        """Give a migrant an errand; it goes with the next turn."""
        self._send_worker_command(worker, FetchCommand(batch))

    def cancel_tasks(self, worker: str, host: Host | None = None) -> None:
        """Ask a migrant to finish what is in flight and to hand the rest back, of one host or of all."""
        self._send_worker_command(worker, CancelCommand(host))

    def _send_worker_command(self, worker: str, command: FetchCommand | CancelCommand) -> None:
        if worker in self.place_by_worker:
            self._send_driver_command(ForwardCommand(worker, msgspec.msgpack.encode(command), time.monotonic()))

    def dispose_worker(self, worker: str) -> None:
        """End a migrant for good."""
        if self.place_by_worker.pop(worker, None) is not None:
            self.heartbeats.pop(worker, None)
            self._send_driver_command(DisposeCommand(worker))

    def get_heartbeat(self, worker: str) -> Heartbeat | None:
        """The last we heard of a migrant."""
        return self.heartbeats.get(worker)

    def receive_reports(self, timeout: float) -> list[WorkerReport | WorkerLost]:
        """What came home within this time; a migrant whose node died is reported once."""
        if self.driver is None and time.monotonic() >= self.retry_at:
            self._start_driver()
        if (
            self.driver is not None
            and not self.driver.is_ready
            and time.monotonic() > self.driver.started_at + CONNECT_TIMEOUT_SECONDS
        ):
            self.driver.error = f"it did not let us in within {CONNECT_TIMEOUT_SECONDS:.0f} seconds"
            self.driver.process.kill()
        found: list[WorkerReport | WorkerLost] = []
        if not self.selector.get_map():
            time.sleep(min(timeout, RETRY_SECONDS))
            return found
        for _, events in self.selector.select(timeout):
            assert self.driver is not None
            if events & selectors.EVENT_WRITE:
                self._flush()
            if events & selectors.EVENT_READ:
                alive = self.driver.frames.receive(self.driver.sock)
                for body in self.driver.frames.pop_frames():
                    found += self._handle_event(self.event_decoder.decode(body))
                if not alive:
                    found += self._handle_driver_exit()
        return found

    def _handle_event(self, event: DriverEvent) -> list[WorkerReport | WorkerLost]:
        assert self.driver is not None
        match event:
            case ReportReceived(body):
                parcel = decode_report(body)
                if parcel.heartbeat is not None:
                    self.heartbeats[parcel.worker] = parcel.heartbeat
                return [parcel]
            case ActorLost(migrant):
                self.place_by_worker.pop(migrant, None)
                return [WorkerLost(migrant)]
            case ClusterFailed(note):
                self.driver.error = note
            case ClusterReady():
                self.driver.is_ready, self.lost_at = True, 0.0
                self._flush()
        return []

    def _handle_driver_exit(self) -> list[WorkerReport | WorkerLost]:
        """The driver ended: its migrants are lost with it; try again, unless the cluster was never there or is away."""
        assert self.driver is not None
        line, self.driver = self.driver, None
        self.selector.unregister(line.sock)
        note = line.stop()
        now = time.monotonic()
        self.retry_at = now + RETRY_SECONDS
        if line.is_ready:
            self.lost_at = now
            self.connect_command = msgspec.structs.replace(
                self.connect_command, labels=()
            )  # those nodes may be lost too
            self.unsent_frames.clear()
            lost = [WorkerLost(migrant) for migrant in self.place_by_worker]
            self.place_by_worker.clear()
            self.heartbeats.clear()
            return [*lost]
        if not self.lost_at:
            raise ClusterUnavailable(f"no Ray cluster at {self.connect_command.address} that we could use: {note}")
        if now - self.lost_at > RECONNECT_TIMEOUT_SECONDS:
            raise ClusterUnavailable(
                f"the Ray cluster at {self.connect_command.address} went away and did not return: {note}."
                " Nothing is lost; give the same command again when it is back."
            )
        return []

    def _start_driver(self) -> None:
        self.driver = DriverProcess()
        self.driver.outgoing += encode_frame(self.connect_command)
        self.selector.register(self.driver.sock, selectors.EVENT_READ)
        self._flush()

    def _send_driver_command(self, command: DriverCommand) -> None:
        self.unsent_frames += encode_frame(command)
        self._flush()

    def _flush(self) -> None:
        """Send what fits; what is for a driver that is ready waits until it is."""
        line = self.driver
        if line is None:
            return
        if line.is_ready:
            line.outgoing += self.unsent_frames
            self.unsent_frames.clear()
        self.selector.modify(line.sock, send_buffered(line.sock, line.outgoing))

    def close(self) -> None:
        """End all migrants; the cluster stays unless we started it."""
        if self.driver is not None:
            self._send_driver_command(ShutdownCommand())
            self.selector.unregister(self.driver.sock)
            self.driver.stop(GRACE_SECONDS)
            self.driver = None
        self.selector.close()


class DriverProcess:
    """One driver and the way to it."""

    def __init__(self) -> None:
        self.sock, theirs = socket.socketpair()
        for end in (self.sock, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BUFFER_BYTES)
        self.output_file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - what it says on the side; Ray says a lot
        command = build_python_command("-m", "sanderling.workers.ray.driver", str(theirs.fileno()))
        self.process = subprocess.Popen(
            command,
            pass_fds=(theirs.fileno(),),
            stdin=subprocess.DEVNULL,
            stdout=self.output_file,
            stderr=self.output_file,
            cwd="/",  # Ray adds the working directory of its driver to the import path of all workers
            env=build_safe_environment(),
        )
        theirs.close()
        self.sock.setblocking(False)
        self.frames = FrameBuffer()
        self.outgoing = bytearray()
        self.is_ready = False
        self.started_at = time.monotonic()
        self.error = ""

    def stop(self, grace_seconds: float = 0.0) -> str:
        """See it out; why it ended, as far as it said."""
        try:
            self.process.wait(grace_seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.sock.close()
        size = self.output_file.seek(0, 2)
        self.output_file.seek(max(0, size - 2000))
        last = self.output_file.read().decode("utf-8", "replace").strip().splitlines()
        self.output_file.close()
        return self.error or (last[-1] if last else "it did not answer")
