"""A migrant inside a Ray actor: one call is one turn."""

import time

import msgspec

from sanderling.engines.wire import Abandon, Go, Order
from sanderling.engines.worker import marks
from sanderling.migrants.settings import FetchSettings
from sanderling.migrants.trip import Trip
from sanderling.records import Parcel, Robots, Visit

TURN_SECONDS = 0.15  # one call: long enough that calls are few, short enough that news is new


class Migrant:
    """A trip that is driven by calls from afar."""

    def __init__(self, name: str, settings: bytes) -> None:
        self.name = name
        self.trip = Trip(msgspec.msgpack.decode(settings, type=FetchSettings), marks, name=name, packs=True)
        self.suspect = 0  # token of the last that was told to begin
        self.orders = msgspec.msgpack.Decoder(Order)

    def turn(self, orders: list[bytes]) -> tuple[bytes, int]:
        """Obey, work for a moment, and hand over what is done; with it, how much is still in hand."""
        visits: list[Visit] = []
        robots: list[Robots] = []
        for body in orders:
            match self.orders.decode(body):
                case Go(itinerary):
                    self.trip.accept(itinerary)
                case Abandon(host):
                    visits += self.trip.abandon(drop_in_flight=False, host=host)
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
        return msgspec.msgpack.encode(parcel), self.trip.load
