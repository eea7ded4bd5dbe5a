"""A migrant inside a Ray actor: one call is one turn."""

import time

import msgspec

from sanderling.fetch.fetch_loop import FetchLoop
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.models import RobotsTxt, Visit, WorkerReport
from sanderling.workers.worker import compute_fingerprints
from sanderling.workers.worker_protocol import CancelCommand, FetchCommand, WorkerCommand

TURN_SECONDS = 0.15  # one call: long enough that calls are few, short enough that news is new


class WorkerActor:
    """A trip that is driven by calls from afar."""

    def __init__(self, name: str, settings: bytes) -> None:
        self.name = name
        told = msgspec.msgpack.decode(settings, type=FetchSettings)
        self.fetch_loop = FetchLoop(told, compute_fingerprints, name=name, packs_links=True)
        self.lease_seconds = told.lease_seconds
        self.last_turn = time.monotonic()  # when the coordinator last had news of us
        self.suspect_token = 0  # token of the last that was told to begin
        self.command_decoder = msgspec.msgpack.Decoder(WorkerCommand)

    def run_turn(self, commands: list[bytes], oldest_age_seconds: float = 0.0) -> tuple[bytes, int]:
        """Obey, work for a moment, and hand over what is done; with it, how much is still in hand.

        `oldest` is for how many seconds the oldest order has waited. After a lease without a turn, or with orders that
        are older than a lease, the URLs may belong to other workers by now: they are returned without a request.
        """
        visits: list[Visit] = []
        robots: list[RobotsTxt] = []
        is_expired = max(oldest_age_seconds, time.monotonic() - self.last_turn) > self.lease_seconds
        for body in commands:
            match self.command_decoder.decode(body):
                case FetchCommand(itinerary):
                    self.fetch_loop.submit(itinerary)
                case CancelCommand(host):
                    visits += self.fetch_loop.cancel(drop_in_flight=False, host=host)
        if is_expired:
            visits += self.fetch_loop.cancel(drop_in_flight=False)
        deadline = time.monotonic() + TURN_SECONDS
        begins, is_back = 0, False
        while self.fetch_loop.load and not (begins or is_back) and time.monotonic() < deadline:
            parcel = self.fetch_loop.run_for(max(0.0, deadline - time.monotonic()))
            visits += parcel.visits
            robots += parcel.robots
            begins = parcel.suspect_token
            is_back = any(
                visit.token == self.suspect_token for visit in parcel.visits
            )  # told before anything else begins
        self.suspect_token = begins or self.suspect_token
        vitals = msgspec.structs.replace(self.fetch_loop.build_heartbeat(), worker=self.name)
        parcel = WorkerReport(self.name, tuple(visits), tuple(robots), vitals, begins)
        self.last_turn = time.monotonic()
        return msgspec.msgpack.encode(parcel), self.fetch_loop.load
