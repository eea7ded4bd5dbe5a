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

from sanderling.workers.protocol import Inbox, frame
from sanderling.workers.ray.actor import Migrant

POLL_SECONDS = 0.02  # between two looks at the orders
IDLE_SECONDS = 2.0  # a migrant without work is asked how it is this often
CONNECT_SECONDS = 10.0
REACH_SECONDS = "30"  # a head that cannot be reached for so long is lost


class Join(Struct, frozen=True, tag=True):
    """Which cluster, and what every migrant is told."""

    address: str
    settings: bytes
    labels: tuple[str, ...] = ()  # each must be that of a node


class Create(Struct, frozen=True, tag=True):
    """Start a migrant, near a label if one is named."""

    migrant: str
    place: str = ""


class Post(Struct, frozen=True, tag=True):
    """An order for a migrant."""

    migrant: str
    order: bytes
    posted_at: float = 0.0  # by the monotonic clock, which all processes of a machine share


class Dispose(Struct, frozen=True, tag=True):
    """End a migrant for good."""

    migrant: str


class Leave(Struct, frozen=True, tag=True):
    """End all migrants and the driver."""


class Ready(Struct, frozen=True, tag=True):
    """The cluster is there."""


class Failed(Struct, frozen=True, tag=True):
    """The cluster is not there."""

    note: str


class Came(Struct, frozen=True, tag=True):
    """A parcel came home."""

    parcel: bytes


class Gone(Struct, frozen=True, tag=True):
    """A migrant or its node died."""

    migrant: str


Order = Join | Create | Post | Dispose | Leave
News = Ready | Failed | Came | Gone


class Driver:
    """Keeps the actors of one crawl at work."""

    def __init__(self, ray: Any, settings: bytes, sock: socket.socket) -> None:
        self.ray, self.settings, self.sock = ray, settings, sock
        self.inbox = Inbox()
        self.decoder = msgspec.msgpack.Decoder(Order)
        self.actors: dict[str, Any] = {}
        self.orders: dict[str, list[Post]] = {}
        self.turns: dict[Any, str] = {}
        self.idle_since: dict[str, float] = {}
        self.homes: dict[str, str] = {}  # the nodes of those who were put near a label

    def run(self) -> None:
        """Work until told to leave or until the coordinator is gone."""
        while self._obey():
            self._wake_idle()
            if self.turns:
                ready, _ = self.ray.wait(list(self.turns), num_returns=len(self.turns), timeout=POLL_SECONDS)
                for ref in ready:
                    self._finish_turn(ref)

    def _obey(self) -> bool:
        select.select([self.sock], [], [], 0 if self.turns else POLL_SECONDS)
        alive = self.inbox.read(self.sock)
        for body in self.inbox.frames():
            match self.decoder.decode(body):
                case Create(migrant, place):
                    self._create(migrant, place)
                case Post(migrant) as post if migrant in self.actors:
                    self.orders[migrant].append(post)
                    if migrant not in self.turns.values():
                        self._start_turn(migrant)
                case Dispose(migrant) if migrant in self.actors:
                    self.ray.kill(self.actors[migrant])
                    self._forget(migrant)
                case Leave():
                    return False
        return alive

    def _create(self, migrant: str, place: str) -> None:
        options: dict[str, Any] = {"num_cpus": 0, "max_restarts": 0, "max_concurrency": 1}
        options["scheduling_strategy"] = self._strategy(migrant, place)
        self.actors[migrant] = self.ray.remote(Migrant).options(**options).remote(migrant, self.settings)
        self.orders[migrant] = []
        self._start_turn(migrant)

    def _strategy(self, migrant: str, place: str) -> Any:
        """A living node with this label; anywhere, if there is none any more."""
        node = node_near(self.ray.nodes(), place, Counter(self.homes.values())) if place else ""
        if not node:
            return "SPREAD"
        self.homes[migrant] = node
        affinity = self.ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
        return affinity(node_id=node, soft=False)  # else a busy node loses it to another

    def _start_turn(self, migrant: str) -> None:
        posts, self.orders[migrant] = self.orders[migrant], []
        oldest = time.monotonic() - min((post.posted_at for post in posts), default=time.monotonic())
        self.turns[self.actors[migrant].turn.remote([post.order for post in posts], oldest)] = migrant
        self.idle_since.pop(migrant, None)

    def _finish_turn(self, ref: Any) -> None:
        """Pass on what a migrant did in its turn, and let it go on; one that is lost is reported once.

        It is lost with its node or its process, or by an error of its own: what it was at then, no other migrant is.
        """
        migrant = self.turns.pop(ref)
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
            self._forget(migrant)
            self._say(Gone(migrant))
            return
        self._say(Came(parcel))
        if self.orders[migrant] or load:
            self._start_turn(migrant)
        else:
            self.idle_since[migrant] = time.monotonic()

    def _wake_idle(self) -> None:
        now = time.monotonic()
        for migrant, since in list(self.idle_since.items()):
            if now - since >= IDLE_SECONDS:
                self._start_turn(migrant)

    def _forget(self, migrant: str) -> None:
        for table in (self.actors, self.orders, self.idle_since, self.homes):
            table.pop(migrant, None)

    def _say(self, news: News) -> None:
        say(self.sock, news)


def say(sock: socket.socket, news: News) -> None:
    """Send news home, all of it."""
    sock.setblocking(True)
    try:
        sock.sendall(frame(news))
    finally:
        sock.setblocking(False)


def node_near(nodes: Sequence[Mapping[str, Any]], place: str, housed: Counter[str]) -> str:
    """The living node with this label that houses the fewest; empty if there is none."""
    near = [node["NodeID"] for node in nodes if node["Alive"] and place in node["Resources"]]
    return min(near, key=lambda node: (housed[node], node), default="")


def join(address: str, labels: Sequence[str]) -> Any:
    """Connect to a cluster, or start one on this machine ("local")."""
    host, colon, port = address.rpartition(":")
    if colon and port.isdigit():  # Ray itself would try for a minute
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
    import ray
    import ray.util.scheduling_strategies

    ray.init(address=address, include_dashboard=False, log_to_driver=False, configure_logging=False)
    nodes: Callable[[], Sequence[Mapping[str, Any]]] = ray.nodes
    for label in labels:
        if not node_near(nodes(), label, Counter()):
            raise ValueError(
                f"no node has the label {label!r}; ray start --resources '{{\"{label}\": 1}}' gives it one"
            )
    return ray


def follow(parent: int) -> None:
    """End with the coordinator, even if Ray hangs."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def main() -> None:
    """Entry point of the process: `driver.py FD`, which cluster in the first frame."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the coordinator, who tells us
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray would tell its makers about this run
    os.environ.setdefault("RAY_DEDUP_LOGS", "0")
    os.environ.setdefault("RAY_gcs_rpc_server_reconnect_timeout_s", REACH_SECONDS)
    threading.Thread(target=follow, args=(os.getppid(),), daemon=True).start()
    sock = socket.socket(fileno=int(sys.argv[1]))
    header = sock.recv(4, socket.MSG_WAITALL)
    body = sock.recv(int.from_bytes(header, "big"), socket.MSG_WAITALL)
    order = msgspec.msgpack.decode(body, type=Join)
    try:
        ray = join(order.address, order.labels)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError, OSError) as error:
        say(sock, Failed((str(error).strip().splitlines() or [type(error).__name__])[0]))
        return
    say(sock, Ready())
    try:
        Driver(ray, order.settings, sock).run()
    except (BrokenPipeError, ConnectionResetError):  # the coordinator is gone; what we hold is leased and comes back
        return
    finally:
        ray.shutdown()


if __name__ == "__main__":
    from sanderling.workers.ray.driver import (
        main as begin,  # under its own name: messages are told apart by their classes
    )

    begin()
