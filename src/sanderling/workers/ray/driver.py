"""Driver process of a Ray cluster: commands of the coordinator in, events out, over a socket.

Ray kills its driver when the head node is lost; the coordinator then starts another one.
"""

import os
import select
import signal
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from sanderling.workers.ray.actor import WorkerActor
from sanderling.workers.worker_protocol import FrameBuffer, encode_frame

POLL_SECONDS = 0.02  # between two checks for commands
IDLE_POLL_SECONDS = 2.0  # heartbeat of idle workers
CONNECT_SECONDS = 10.0
HEAD_TIMEOUT_SECONDS = "30"  # an unreachable head node is lost after this time


class ConnectCommand(Struct, frozen=True, tag=True):
    """The address of the cluster and the settings of all workers."""

    address: str
    settings: bytes
    labels: tuple[str, ...] = ()  # each must exist on a node


class CreateCommand(Struct, frozen=True, tag=True):
    """Start a worker, on a node with a label if it is set."""

    worker: str
    place: str = ""


class ForwardCommand(Struct, frozen=True, tag=True):
    worker: str
    command: bytes
    sent_at: float = 0.0  # monotonic clock, shared by all processes of a machine


class DisposeCommand(Struct, frozen=True, tag=True):
    """Stop a worker."""

    worker: str


class ShutdownCommand(Struct, frozen=True, tag=True):
    """Stop all workers and the driver."""


class ClusterReady(Struct, frozen=True, tag=True):
    """The driver is connected."""


class ClusterFailed(Struct, frozen=True, tag=True):
    """The driver could not connect."""

    detail: str


class ReportReceived(Struct, frozen=True, tag=True):
    """An encoded report of a worker."""

    report: bytes


class ActorLost(Struct, frozen=True, tag=True):
    """A worker or its node died."""

    worker: str


DriverCommand = ConnectCommand | CreateCommand | ForwardCommand | DisposeCommand | ShutdownCommand
DriverEvent = ClusterReady | ClusterFailed | ReportReceived | ActorLost


class RayDriver:
    """Runs the turns of all actors of a crawl."""

    def __init__(self, ray: Any, settings: bytes, sock: socket.socket) -> None:
        self.ray, self.settings, self.sock = ray, settings, sock
        self.frames = FrameBuffer()
        self.command_decoder = msgspec.msgpack.Decoder(DriverCommand)
        self.actors: dict[str, Any] = {}
        self.pending_commands: dict[str, list[ForwardCommand]] = {}
        self.running_turns: dict[Any, str] = {}
        self.idle_since: dict[str, float] = {}
        self.node_by_worker: dict[str, str] = {}  # of workers with a label

    def run(self) -> None:
        """Run until a shutdown command, or until the coordinator is gone."""
        while self._handle_commands():
            self._poll_idle()
            if self.running_turns:
                ready, _ = self.ray.wait(
                    list(self.running_turns), num_returns=len(self.running_turns), timeout=POLL_SECONDS
                )
                for ref in ready:
                    self._finish_turn(ref)

    def _handle_commands(self) -> bool:
        select.select([self.sock], [], [], 0 if self.running_turns else POLL_SECONDS)
        is_open = self.frames.receive(self.sock)
        for body in self.frames.pop_frames():
            match self.command_decoder.decode(body):
                case CreateCommand(worker, place):
                    self._create_actor(worker, place)
                case ForwardCommand(worker) as command if worker in self.actors:
                    self.pending_commands[worker].append(command)
                    if worker not in self.running_turns.values():
                        self._start_turn(worker)
                case DisposeCommand(worker) if worker in self.actors:
                    self.ray.kill(self.actors[worker])
                    self._remove_worker(worker)
                case ShutdownCommand():
                    return False
        return is_open

    def _create_actor(self, worker: str, place: str) -> None:
        options: dict[str, Any] = {"num_cpus": 0, "max_restarts": 0, "max_concurrency": 1}
        options["scheduling_strategy"] = self._choose_scheduling(worker, place)
        self.actors[worker] = self.ray.remote(WorkerActor).options(**options).remote(worker, self.settings)
        self.pending_commands[worker] = []
        self._start_turn(worker)

    def _choose_scheduling(self, worker: str, place: str) -> Any:
        """Choose a node with the label, else any node."""
        node = find_node(self.ray.nodes(), place, Counter(self.node_by_worker.values())) if place else ""
        if not node:
            return "SPREAD"
        self.node_by_worker[worker] = node
        affinity = self.ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
        return affinity(node_id=node, soft=False)  # soft affinity would leave a busy node

    def _start_turn(self, worker: str) -> None:
        commands, self.pending_commands[worker] = self.pending_commands[worker], []
        oldest_age = time.monotonic() - min((command.sent_at for command in commands), default=time.monotonic())
        encoded = [command.command for command in commands]
        self.running_turns[self.actors[worker].run_turn.remote(encoded, oldest_age)] = worker
        self.idle_since.pop(worker, None)

    def _finish_turn(self, ref: Any) -> None:
        """Forward the report and start the next turn.

        A worker is lost if its node or process died, or if it raised an error. It is reported once.
        """
        worker = self.running_turns.pop(ref)
        if worker not in self.actors:
            return
        errors = self.ray.exceptions
        try:
            report, load = self.ray.get(ref)
        except (
            errors.RayActorError,
            errors.ActorUnschedulableError,
            errors.WorkerCrashedError,
            errors.ObjectLostError,
            errors.OutOfMemoryError,
            errors.RayTaskError,
        ):
            self.ray.kill(self.actors[worker])
            self._remove_worker(worker)
            self._send_event(ActorLost(worker))
            return
        self._send_event(ReportReceived(report))
        if self.pending_commands[worker] or load:
            self._start_turn(worker)
        else:
            self.idle_since[worker] = time.monotonic()

    def _poll_idle(self) -> None:
        now = time.monotonic()
        for worker, since in list(self.idle_since.items()):
            if now - since >= IDLE_POLL_SECONDS:
                self._start_turn(worker)

    def _remove_worker(self, worker: str) -> None:
        for table in (self.actors, self.pending_commands, self.idle_since, self.node_by_worker):
            table.pop(worker, None)

    def _send_event(self, event: DriverEvent) -> None:
        send_event(self.sock, event)


def send_event(sock: socket.socket, event: DriverEvent) -> None:
    """Send an event, blocking until it is sent."""
    sock.setblocking(True)
    try:
        sock.sendall(encode_frame(event))
    finally:
        sock.setblocking(False)


def find_node(nodes: Sequence[Mapping[str, Any]], label: str, worker_counts: Counter[str]) -> str:
    """Return the live node with the label and the fewest workers, or ""."""
    labeled = [node["NodeID"] for node in nodes if node["Alive"] and label in node["Resources"]]
    return min(labeled, key=lambda node: (worker_counts[node], node), default="")


def connect_cluster(address: str, labels: Sequence[str]) -> Any:
    """Connect to a cluster, or start one here ("local"). Raises ValueError for unknown labels."""
    host, colon, port = address.rpartition(":")
    if colon and port.isdigit():  # fails at once; Ray would retry for a minute
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
    import ray
    import ray.util.scheduling_strategies

    ray.init(address=address, include_dashboard=False, log_to_driver=False, configure_logging=False)
    nodes: Callable[[], Sequence[Mapping[str, Any]]] = ray.nodes
    for label in labels:
        if not find_node(nodes(), label, Counter()):
            raise ValueError(f"no node has the label {label!r}; set it with ray start --resources '{{\"{label}\": 1}}'")
    return ray


def exit_with_parent(parent_pid: int) -> None:
    """Exit when the coordinator is gone, even if Ray hangs."""
    while os.getppid() == parent_pid:
        time.sleep(1.0)
    os._exit(1)


def main() -> None:
    """Run the driver: `driver.py FD`, with a ConnectCommand in the first frame."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the coordinator
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no telemetry
    os.environ.setdefault("RAY_DEDUP_LOGS", "0")
    os.environ.setdefault("RAY_gcs_rpc_server_reconnect_timeout_s", HEAD_TIMEOUT_SECONDS)
    threading.Thread(target=exit_with_parent, args=(os.getppid(),), daemon=True).start()
    sock = socket.socket(fileno=int(sys.argv[1]))
    header = sock.recv(4, socket.MSG_WAITALL)
    body = sock.recv(int.from_bytes(header, "big"), socket.MSG_WAITALL)
    command = msgspec.msgpack.decode(body, type=ConnectCommand)
    try:
        ray = connect_cluster(command.address, command.labels)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError, OSError) as error:
        send_event(sock, ClusterFailed((str(error).strip().splitlines() or [type(error).__name__])[0]))
        return
    send_event(sock, ClusterReady())
    try:
        RayDriver(ray, command.settings, sock).run()
    except (BrokenPipeError, ConnectionResetError):  # the coordinator is gone; leases expire
        return
    finally:
        ray.shutdown()


if __name__ == "__main__":
    # Imported by name, because messages are tagged with their class and must not belong to `__main__`.
    from sanderling.workers.ray.driver import main as run_driver

    run_driver()
