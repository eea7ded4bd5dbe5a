"""Engine with Ray actors as workers, with the same interface as `LocalEngine`.

If the driver process dies, all workers are lost and their URLs requeued; the next driver waits for the cluster.
"""

import logging
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
from sanderling.workers.worker_engine import WorkerLost
from sanderling.workers.worker_protocol import (
    SOCKET_BUFFER_BYTES,
    CancelCommand,
    FetchCommand,
    FrameBuffer,
    decode_report,
    encode_frame,
    send_buffered,
)

log = logging.getLogger(__name__)
RECONNECT_TIMEOUT_SECONDS = 300.0  # for a cluster that was lost
RETRY_SECONDS = 1.0  # between two attempts
CONNECT_TIMEOUT_SECONDS = 90.0  # Ray may wait forever for a node that is starting
GRACE_SECONDS = 15.0
MAX_DETAIL_LENGTH = 150


class RayEngine:
    def __init__(self, settings: FetchSettings, address: str = "local", labels: tuple[str, ...] = ()) -> None:
        if find_spec("ray") is None:
            raise MissingExtra("--engine ray", "cluster")
        self.connect_command = ConnectCommand(address, msgspec.msgpack.encode(settings), labels)
        self.labels = labels
        self.place_by_worker: dict[str, str] = {}
        self.heartbeats: dict[str, Heartbeat] = {}
        self.created_count = 0
        self.event_decoder = msgspec.msgpack.Decoder(DriverEvent)
        self.selector = selectors.DefaultSelector()
        self.driver: DriverProcess | None = None
        self.unsent_frames = bytearray()  # waiting until the driver is ready
        self.lost_at = 0.0  # 0: the cluster is available
        self.retry_at = 0.0

    def open(self) -> None:
        """Connect to the cluster. Raises ClusterUnavailable."""
        self._start_driver()
        while self.driver is not None and not self.driver.is_ready:
            self.receive_reports(RETRY_SECONDS)

    def create_worker(self, name: str = "", place: str = "") -> str:
        """Start a worker and return its id. With labels, their nodes are used in turn."""
        if self.driver is None and not self.lost_at:
            self.open()
        self.created_count += 1
        name = name or f"r{self.created_count}-{secrets.token_hex(3)}"
        place = place or (self.labels[(self.created_count - 1) % len(self.labels)] if self.labels else "")
        self.place_by_worker[name] = place
        self._send_driver_command(CreateCommand(name, place))
        return name

    def list_places(self) -> list[str]:
        """Return the places of workers: any node, or a label."""
        return ["", *self.labels]

    def get_location(self, worker: str) -> str:
        """Return a description of where a worker runs."""
        return f"Ray actor {self.place_by_worker[worker]}".rstrip() if worker in self.place_by_worker else ""

    def list_workers(self) -> list[str]:
        """Return the ids of running workers."""
        return list(self.place_by_worker)

    def send_batch(self, worker: str, batch: FetchBatch) -> None:
        """Send a fetch batch to a worker with its next turn."""
        self._send_worker_command(worker, FetchCommand(batch))

    def cancel_tasks(self, worker: str, host: Host | None = None) -> None:
        self._send_worker_command(worker, CancelCommand(host))

    def _send_worker_command(self, worker: str, command: FetchCommand | CancelCommand) -> None:
        if worker in self.place_by_worker:
            self._send_driver_command(ForwardCommand(worker, msgspec.msgpack.encode(command), time.monotonic()))

    def dispose_worker(self, worker: str) -> None:
        if self.place_by_worker.pop(worker, None) is not None:
            self.heartbeats.pop(worker, None)
            self._send_driver_command(DisposeCommand(worker))

    def receive_reports(self, timeout: float) -> list[WorkerReport | WorkerLost]:
        """Return the reports received within the timeout. A lost worker is reported once."""
        if self.driver is None and time.monotonic() >= self.retry_at:
            self._start_driver()
        if (
            self.driver is not None
            and not self.driver.is_ready
            and time.monotonic() > self.driver.started_at + CONNECT_TIMEOUT_SECONDS
        ):
            self.driver.error = f"no connection within {CONNECT_TIMEOUT_SECONDS:.0f} seconds"
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
                is_open = self.driver.frames.receive(self.driver.sock)
                for body in self.driver.frames.pop_frames():
                    found += self._handle_event(self.event_decoder.decode(body))
                if not is_open:
                    found += self._handle_driver_exit()
        return found

    def _handle_event(self, event: DriverEvent) -> list[WorkerReport | WorkerLost]:
        assert self.driver is not None
        match event:
            case ReportReceived(body):
                report = decode_report(body)
                if report.heartbeat is not None:
                    self.heartbeats[report.worker] = report.heartbeat
                return [report]
            case ActorLost(worker):
                self.place_by_worker.pop(worker, None)
                return [WorkerLost(worker)]
            case ClusterFailed(detail):
                self.driver.error = detail
            case ClusterReady():
                if self.lost_at:
                    log.warning(
                        "Ray cluster available again at %s; its URLs are fetched by new workers",
                        time.strftime("%H:%M:%S"),
                    )
                self.driver.is_ready, self.lost_at = True, 0.0
                self._flush()
        return []

    def _handle_driver_exit(self) -> list[WorkerReport | WorkerLost]:
        """Report all workers as lost and schedule a reconnection. Raises ClusterUnavailable in the end."""
        assert self.driver is not None
        driver, self.driver = self.driver, None
        self.selector.unregister(driver.sock)
        detail = driver.stop()
        now = time.monotonic()
        self.retry_at = now + RETRY_SECONDS
        if driver.is_ready:
            self.lost_at = now
            log.warning(
                "Ray cluster at %s unavailable since %s (%s); retrying for %d minutes, then the crawl stops with exit"
                " code %d and the same command resumes it",
                self.connect_command.address,
                time.strftime("%H:%M:%S"),
                detail.rpartition("] ")[2].split(". ")[0].rstrip(".")[:MAX_DETAIL_LENGTH],  # without prefix of its log
                RECONNECT_TIMEOUT_SECONDS // 60,
                ClusterUnavailable.exit_code,
            )
            # Labels are not checked again: their nodes may be lost, too.
            self.connect_command = msgspec.structs.replace(self.connect_command, labels=())
            self.unsent_frames.clear()
            lost = [WorkerLost(worker) for worker in self.place_by_worker]
            self.place_by_worker.clear()
            self.heartbeats.clear()
            return [*lost]
        if not self.lost_at:
            raise ClusterUnavailable(f"no Ray cluster at {self.connect_command.address}: {detail}")
        if now - self.lost_at > RECONNECT_TIMEOUT_SECONDS:
            raise ClusterUnavailable(
                f"lost the Ray cluster at {self.connect_command.address}: {detail}."
                " No pages are lost; run the same command again when the cluster is available."
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
        """Send the bytes that fit; commands wait until the driver is ready."""
        driver = self.driver
        if driver is None:
            return
        if driver.is_ready:
            driver.outgoing += self.unsent_frames
            self.unsent_frames.clear()
        self.selector.modify(driver.sock, send_buffered(driver.sock, driver.outgoing))

    def close(self) -> None:
        """Stop all workers, and the cluster if it was started here."""
        if self.driver is not None:
            self._send_driver_command(ShutdownCommand())
            self.selector.unregister(self.driver.sock)
            self.driver.stop(GRACE_SECONDS)
            self.driver = None
        self.selector.close()


class DriverProcess:
    def __init__(self) -> None:
        self.sock, child = socket.socketpair()
        for end in (self.sock, child):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BUFFER_BYTES)
        self.output_file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - Ray prints a lot
        command = build_python_command("-m", "sanderling.workers.ray.driver", str(child.fileno()))
        self.process = subprocess.Popen(
            command,
            pass_fds=(child.fileno(),),
            stdin=subprocess.DEVNULL,
            stdout=self.output_file,
            stderr=self.output_file,
            cwd="/",  # Ray adds it to the import path of all workers
            env=build_safe_environment(),
        )
        child.close()
        self.sock.setblocking(False)
        self.frames = FrameBuffer()
        self.outgoing = bytearray()
        self.is_ready = False
        self.started_at = time.monotonic()
        self.error = ""

    def stop(self, grace_seconds: float = 0.0) -> str:
        """Wait for the end of the process, or kill it. Returns its error."""
        try:
            self.process.wait(grace_seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.sock.close()
        size = self.output_file.seek(0, 2)
        self.output_file.seek(max(0, size - 2000))
        lines = self.output_file.read().decode("utf-8", "replace").strip().splitlines()
        self.output_file.close()
        return self.error or (lines[-1] if lines else "no response")
