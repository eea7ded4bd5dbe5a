"""A migrant inside a Ray actor: one call is one turn."""

import time

import msgspec

from sanderling.fetch.fetch_loop import Trip
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.models import Parcel, Robots, Visit
from sanderling.workers.protocol import Abandon, Go, Order
from sanderling.workers.worker import marks

TURN_SECONDS = 0.15  # one call: long enough that calls are few, short enough that news is new


class Migrant:
    """A trip that is driven by calls from afar."""

    def __init__(self, name: str, settings: bytes) -> None:
        self.name = name
        told = msgspec.msgpack.decode(settings, type=FetchSettings)
        self.trip = Trip(told, marks, name=name, packs=True)
        self.lease_seconds = told.lease_seconds
        self.last_turn = time.monotonic()  # when the coordinator last had news of us
        self.suspect = 0  # token of the last that was told to begin
        self.orders = msgspec.msgpack.Decoder(Order)

    def turn(self, orders: list[bytes], oldest: float = 0.0) -> tuple[bytes, int]:
        """Obey, work for a moment, and hand over what is done; with it, how much is still in hand.

        `oldest` is for how many seconds the oldest order has waited. After a lease without a turn, or with orders that
        are older than a lease, the URLs may belong to other workers by now: they are returned without a request.
        """
        visits: list[Visit] = []
        robots: list[Robots] = []
        is_expired = max(oldest, time.monotonic() - self.last_turn) > self.lease_seconds
        for body in orders:
            match self.orders.decode(body):
                case Go(itinerary):
                    self.trip.accept(itinerary)
                case Abandon(host):
                    visits += self.trip.abandon(drop_in_flight=False, host=host)
        if is_expired:
            visits += self.trip.abandon(drop_in_flight=False)
        deadline = time.monotonic() + TURN_SECONDS
        begins, is_back = 0, False
        while self.trip.load and not (begins or is_back) and time.monotonic() < deadline:
            parcel = self.trip.work(max(0.0, deadline - time.monotonic()))
            visits += parcel.visits
            robots += parcel.robots
            begins = parcel.begins
            is_back = any(visit.token == self.suspect for visit in parcel.visits)  # told before anything else begins
        self.suspect = begins or self.suspect
        vitals = msgspec.structs.replace(self.trip.vitals(), migrant=self.name)
        parcel = Parcel(self.name, tuple(visits), tuple(robots), vitals, begins)
        self.last_turn = time.monotonic()
        return msgspec.msgpack.encode(parcel), self.trip.load
