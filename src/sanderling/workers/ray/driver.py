"""The process that drives a Ray cluster for a crawl: orders in, parcels out, by one socket.

Ray ends its driver when the head of the cluster is lost. As a process of its own it may end: the coordinator starts
another, which waits for the cluster to come back.
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

POLL_SECONDS = 0.02  # between two looks at the orders
IDLE_POLL_SECONDS = 2.0  # a migrant without work is asked how it is this often
CONNECT_SECONDS = 10.0
HEAD_TIMEOUT_SECONDS = "30"  # a head that cannot be reached for so long is lost


class ConnectCommand(Struct, frozen=True, tag=True):
    """Which cluster, and what every migrant is told."""

    address: str
    settings: bytes
    labels: tuple[str, ...] = ()  # each must be that of a node


class CreateCommand(Struct, frozen=True, tag=True):
    """Start a migrant, near a label if one is named."""

    worker: str
    place: str = ""


class ForwardCommand(Struct, frozen=True, tag=True):
    """An order for a migrant."""

    worker: str
    command: bytes
    sent_at: float = 0.0  # by the monotonic clock, which all processes of a machine share


class DisposeCommand(Struct, frozen=True, tag=True):
    """End a migrant for good."""

    worker: str


class ShutdownCommand(Struct, frozen=True, tag=True):
    """End all migrants and the driver."""


class ClusterReady(Struct, frozen=True, tag=True):
    """The cluster is there."""


class ClusterFailed(Struct, frozen=True, tag=True):
    """The cluster is not there."""

    detail: str


class ReportReceived(Struct, frozen=True, tag=True):
    """A parcel came home."""

    report: bytes


class ActorLost(Struct, frozen=True, tag=True):
    """A migrant or its node died."""

    worker: str


DriverCommand = ConnectCommand | CreateCommand | ForwardCommand | DisposeCommand | ShutdownCommand
DriverEvent = ClusterReady | ClusterFailed | ReportReceived | ActorLost


class RayDriver:
    """Keeps the actors of one crawl at work."""

    def __init__(self, ray: Any, settings: bytes, sock: socket.socket) -> None:
        self.ray, self.settings, self.sock = ray, settings, sock
        self.frames = FrameBuffer()
        self.command_decoder = msgspec.msgpack.Decoder(DriverCommand)
        self.actors: dict[str, Any] = {}
        self.pending_commands: dict[str, list[ForwardCommand]] = {}
        self.running_turns: dict[Any, str] = {}
        self.idle_since: dict[str, float] = {}
        self.node_by_worker: dict[str, str] = {}  # the nodes of those who were put near a label

    def run(self) -> None:
        """Work until told to leave or until the coordinator is gone."""
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
        alive = self.frames.receive(self.sock)
        for body in self.frames.pop_frames():
            match self.command_decoder.decode(body):
                case CreateCommand(migrant, place):
                    self._create_actor(migrant, place)
                case ForwardCommand(migrant) as post if migrant in self.actors:
                    self.pending_commands[migrant].append(post)
                    if migrant not in self.running_turns.values():
                        self._start_turn(migrant)
                case DisposeCommand(migrant) if migrant in self.actors:
                    self.ray.kill(self.actors[migrant])
                    self._remove_worker(migrant)
                case ShutdownCommand():
                    return False
        return alive

    def _create_actor(self, worker: str, place: str) -> None:
        options: dict[str, Any] = {"num_cpus": 0, "max_restarts": 0, "max_concurrency": 1}
        options["scheduling_strategy"] = self._choose_scheduling(worker, place)
        self.actors[worker] = self.ray.remote(WorkerActor).options(**options).remote(worker, self.settings)
        self.pending_commands[worker] = []
        self._start_turn(worker)

    def _choose_scheduling(self, worker: str, place: str) -> Any:
        """A living node with this label; anywhere, if there is none any more."""
        node = find_node(self.ray.nodes(), place, Counter(self.node_by_worker.values())) if place else ""
        if not node:
            return "SPREAD"
        self.node_by_worker[worker] = node
        affinity = self.ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
        return affinity(node_id=node, soft=False)  # else a busy node loses it to another

    def _start_turn(self, worker: str) -> None:
        posts, self.pending_commands[worker] = self.pending_commands[worker], []
        oldest = time.monotonic() - min((post.sent_at for post in posts), default=time.monotonic())
        self.running_turns[self.actors[worker].run_turn.remote([post.command for post in posts], oldest)] = worker
        self.idle_since.pop(worker, None)

    def _finish_turn(self, ref: Any) -> None:
        """Pass on what a migrant did in its turn, and let it go on; one that is lost is reported once.

        It is lost with its node or its process, or by an error of its own: what it was at then, no other migrant is.
        """
        migrant = self.running_turns.pop(ref)
        if migrant not in self.actors:
            return
        errors = self.ray.exceptions
        try:
            parcel, load = self.ray.get(ref)
        except (
            errors.RayActorError,
            errors.ActorUnschedulableError,
            errors.WorkerCrashedError,
            errors.ObjectLostError,
            errors.OutOfMemoryError,
            errors.RayTaskError,
        ):
            self.ray.kill(self.actors[migrant])
            self._remove_worker(migrant)
            self._send_event(ActorLost(migrant))
            return
        self._send_event(ReportReceived(parcel))
        if self.pending_commands[migrant] or load:
            self._start_turn(migrant)
        else:
            self.idle_since[migrant] = time.monotonic()

    def _poll_idle(self) -> None:
        now = time.monotonic()
        for migrant, since in list(self.idle_since.items()):
            if now - since >= IDLE_POLL_SECONDS:
                self._start_turn(migrant)

    def _remove_worker(self, worker: str) -> None:
        for table in (self.actors, self.pending_commands, self.idle_since, self.node_by_worker):
            table.pop(worker, None)

    def _send_event(self, event: DriverEvent) -> None:
        send_event(self.sock, event)


def send_event(sock: socket.socket, event: DriverEvent) -> None:
    """Send news home, all of it."""
    sock.setblocking(True)
    try:
        sock.sendall(encode_frame(event))
    finally:
        sock.setblocking(False)


def find_node(nodes: Sequence[Mapping[str, Any]], label: str, worker_counts: Counter[str]) -> str:
    """The living node with this label that houses the fewest; empty if there is none."""
    near = [node["NodeID"] for node in nodes if node["Alive"] and label in node["Resources"]]
    return min(near, key=lambda node: (worker_counts[node], node), default="")


def connect_cluster(address: str, labels: Sequence[str]) -> Any:
    """Connect to a cluster, or start one on this machine ("local")."""
    host, colon, port = address.rpartition(":")
    if colon and port.isdigit():  # Ray itself would try for a minute
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
    import ray
    import ray.util.scheduling_strategies

    ray.init(address=address, include_dashboard=False, log_to_driver=False, configure_logging=False)
    nodes: Callable[[], Sequence[Mapping[str, Any]]] = ray.nodes
    for label in labels:
        if not find_node(nodes(), label, Counter()):
            raise ValueError(
                f"no node has the label {label!r}; ray start --resources '{{\"{label}\": 1}}' gives it one"
            )
    return ray


def exit_with_parent(parent_pid: int) -> None:
    """End with the coordinator, even if Ray hangs."""
    while os.getppid() == parent_pid:
        time.sleep(1.0)
    os._exit(1)


def main() -> None:
    """Entry point of the process: `driver.py FD`, which cluster in the first frame."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the coordinator, who tells us
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray would tell its makers about this run
    os.environ.setdefault("RAY_DEDUP_LOGS", "0")
    os.environ.setdefault("RAY_gcs_rpc_server_reconnect_timeout_s", HEAD_TIMEOUT_SECONDS)
    threading.Thread(target=exit_with_parent, args=(os.getppid(),), daemon=True).start()
    sock = socket.socket(fileno=int(sys.argv[1]))
    header = sock.recv(4, socket.MSG_WAITALL)
    body = sock.recv(int.from_bytes(header, "big"), socket.MSG_WAITALL)
    order = msgspec.msgpack.decode(body, type=ConnectCommand)
    try:
        ray = connect_cluster(order.address, order.labels)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError, OSError) as error:
        send_event(sock, ClusterFailed((str(error).strip().splitlines() or [type(error).__name__])[0]))
        return
    send_event(sock, ClusterReady())
    try:
        RayDriver(ray, order.settings, sock).run()
    except (BrokenPipeError, ConnectionResetError):  # the coordinator is gone; what we hold is leased and comes back
        return
    finally:
        ray.shutdown()


if __name__ == "__main__":
    from sanderling.workers.ray.driver import (
        main as begin,  # under its own name: messages are told apart by their classes
    )

    begin()
