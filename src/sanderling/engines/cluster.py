"""Migrants as Ray actors: placed on the nodes of a cluster, missed when their node dies; same orders, same parcels."""

import os
import secrets
import time
from typing import Any

import msgspec

from sanderling.engines.processes import Lost
from sanderling.engines.wire import Abandon, Go, Order
from sanderling.engines.worker import marks
from sanderling.errors import MissingExtra, StoreUnavailable
from sanderling.migrants.settings import FetchSettings
from sanderling.migrants.trip import Trip
from sanderling.records import Itinerary, Parcel, Robots, Visit, Vitals

TURN_SECONDS = 0.15  # one call: long enough that calls are few, short enough that news is new
IDLE_SECONDS = 2.0  # a migrant without work is asked how it is this often
START_SECONDS = 60.0


class Migrant:
    """A trip inside an actor; one call is one turn."""

    def __init__(self, name: str, settings: bytes) -> None:
        self.name = name
        self.trip = Trip(msgspec.msgpack.decode(settings, type=FetchSettings), marks, name=name)
        self.orders = msgspec.msgpack.Decoder(Order)

    def turn(self, orders: list[bytes]) -> bytes:
        """Obey, work for a moment, and hand over what is done."""
        visits: list[Visit] = []
        robots: list[Robots] = []
        for body in orders:
            match self.orders.decode(body):
                case Go(itinerary):
                    self.trip.accept(itinerary)
                case Abandon():
                    visits += self.trip.abandon(drop_in_flight=False)
        deadline = time.monotonic() + TURN_SECONDS
        while self.trip.load and time.monotonic() < deadline:
            parcel = self.trip.work(max(0.0, deadline - time.monotonic()))
            visits += parcel.visits
            robots += parcel.robots
        vitals = msgspec.structs.replace(self.trip.vitals(), migrant=self.name)
        return msgspec.msgpack.encode(Parcel(self.name, tuple(visits), tuple(robots), vitals))


class Cluster:
    """The engine on a Ray cluster: `address` names one, or "local" starts one here."""

    def __init__(self, settings: FetchSettings, address: str = "local", labels: tuple[str, ...] = ()) -> None:
        self.ray = _ray()
        self.settings = msgspec.msgpack.encode(settings)
        self.labels = labels
        self.homes: dict[str, str] = {}
        self.decoder = msgspec.msgpack.Decoder(Parcel)
        self.actors: dict[str, Any] = {}
        self.orders: dict[str, list[bytes]] = {}
        self.turns: dict[Any, str] = {}
        self.idle_since: dict[str, float] = {}
        self.heard: dict[str, Vitals] = {}
        self.born = 0
        self.started_here = _join(self.ray, address)

    def create(self, name: str = "", place: str = "") -> str:
        """Start a migrant on a node with room; where labels are named, on them in turn."""
        self.born += 1
        name = name or f"r{self.born}-{secrets.token_hex(3)}"
        place = place or (self.labels[(self.born - 1) % len(self.labels)] if self.labels else "")
        self.homes[name] = place
        options: dict[str, Any] = {"num_cpus": 0, "max_restarts": 0, "max_concurrency": 1}
        options["scheduling_strategy"] = self._strategy(place)
        self.actors[name] = self.ray.remote(Migrant).options(**options).remote(name, self.settings)
        self.orders[name] = []
        self._start_turn(name)
        return name

    def places(self) -> list[str]:
        """Where migrants can live: anywhere, or on a node with one of the labels."""
        return ["", *self.labels]

    def where(self, migrant: str) -> str:
        """Where to find one, for a person."""
        return f"Ray actor {self.homes[migrant]}".rstrip() if migrant in self.actors else ""

    def _strategy(self, place: str) -> Any:
        """A living node with this label; anywhere, if there is none any more."""
        for node in self.ray.nodes() if place else ():
            if node["Alive"] and place in node["Resources"]:
                affinity = self.ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
                return affinity(node_id=node["NodeID"], soft=True)
        return "SPREAD"

    def migrants(self) -> list[str]:
        """Who is alive, as far as we know."""
        return list(self.actors)

    def send(self, migrant: str, itinerary: Itinerary) -> None:
        """Give a migrant an errand; it goes with the next turn."""
        self._post(migrant, Go(itinerary))

    def abandon(self, migrant: str) -> None:
        """Ask a migrant to finish what is in flight and to hand the rest back."""
        self._post(migrant, Abandon())

    def _post(self, migrant: str, order: Order) -> None:
        if migrant in self.actors:
            self.orders[migrant].append(msgspec.msgpack.encode(order))
            if migrant not in self.turns.values():
                self._start_turn(migrant)

    def _start_turn(self, migrant: str) -> None:
        orders, self.orders[migrant] = self.orders[migrant], []
        self.turns[self.actors[migrant].turn.remote(orders)] = migrant
        self.idle_since.pop(migrant, None)

    def receive(self, timeout: float) -> list[Parcel | Lost]:
        """What came home within this time; a migrant whose node died is reported once."""
        self._wake_idle()
        if not self.turns:
            time.sleep(min(timeout, TURN_SECONDS))
            return []
        ready, _ = self.ray.wait(list(self.turns), num_returns=1, timeout=max(timeout, 0.001))
        more, _ = self.ray.wait(list(self.turns), num_returns=len(self.turns), timeout=0)
        return [self._finish_turn(ref) for ref in dict.fromkeys([*ready, *more])]

    def _finish_turn(self, ref: Any) -> Parcel | Lost:
        migrant = self.turns.pop(ref)
        try:
            parcel = self.decoder.decode(self.ray.get(ref))
        except (
            self.ray.exceptions.RayActorError,
            self.ray.exceptions.WorkerCrashedError,
            self.ray.exceptions.ObjectLostError,
        ):
            self._forget(migrant)
            return Lost(migrant)
        if parcel.vitals is not None:
            self.heard[migrant] = parcel.vitals
        if self.orders[migrant] or (parcel.vitals is not None and parcel.vitals.load):
            self._start_turn(migrant)
        else:
            self.idle_since[migrant] = time.monotonic()
        return parcel

    def _wake_idle(self) -> None:
        now = time.monotonic()
        for migrant, since in list(self.idle_since.items()):
            if now - since >= IDLE_SECONDS:
                self._start_turn(migrant)

    def vitals(self, migrant: str) -> Vitals | None:
        """The last we heard of a migrant."""
        return self.heard.get(migrant)

    def _forget(self, migrant: str) -> None:
        for table in (self.actors, self.orders, self.idle_since, self.heard, self.homes):
            table.pop(migrant, None)
        for ref in [ref for ref, name in self.turns.items() if name == migrant]:
            del self.turns[ref]

    def dispose(self, migrant: str) -> None:
        """End a migrant for good."""
        if migrant in self.actors:
            self.ray.kill(self.actors[migrant])
            self._forget(migrant)

    def close(self) -> None:
        """End all migrants; the cluster stays unless we started it."""
        for migrant in list(self.actors):
            self.dispose(migrant)
        if self.started_here:
            self.ray.shutdown()


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray would tell its makers about this run
    os.environ.setdefault("RAY_DEDUP_LOGS", "0")
    try:
        import ray
        import ray.util.scheduling_strategies
    except ImportError:
        raise MissingExtra("--engine ray", "cluster") from None
    return ray


def _join(ray: Any, address: str) -> bool:
    """Connect to a cluster, or start one on this machine; True if it is ours to end."""
    if ray.is_initialized():
        return False
    try:
        ray.init(address=address, include_dashboard=False, log_to_driver=False, configure_logging=False)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise StoreUnavailable(f"no Ray cluster at {address}: {str(error).splitlines()[0]}") from None
    return True
