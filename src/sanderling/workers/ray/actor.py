"""Worker as a Ray actor: each call runs its fetch loop for a short turn."""

import time

import msgspec

from sanderling.fetch.fetch_loop import FetchLoop
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.models import RobotsTxt, Visit, WorkerReport
from sanderling.workers.worker import compute_fingerprints
from sanderling.workers.worker_protocol import CancelCommand, FetchCommand, WorkerCommand

TURN_SECONDS = 0.15  # long enough for few calls, short enough for fresh reports


class WorkerActor:
    """A fetch loop that is run by remote calls."""

    def __init__(self, name: str, settings: bytes) -> None:
        self.name = name
        fetch_settings = msgspec.msgpack.decode(settings, type=FetchSettings)
        self.fetch_loop = FetchLoop(fetch_settings, compute_fingerprints, name=name, packs_links=True)
        self.lease_seconds = fetch_settings.lease_seconds
        self.last_turn = time.monotonic()  # end of the last turn
        self.suspect_token = 0  # token of the last suspect page that was reported
        self.command_decoder = msgspec.msgpack.Decoder(WorkerCommand)

    def run_turn(self, commands: list[bytes], oldest_age_seconds: float = 0.0) -> tuple[bytes, int]:
        """Fetch for a short time. Returns the encoded report and the number of open tasks.

        If a lease may have expired, the URLs are returned without a request.
        """
        visits: list[Visit] = []
        robots: list[RobotsTxt] = []
        is_expired = max(oldest_age_seconds, time.monotonic() - self.last_turn) > self.lease_seconds
        for body in commands:
            match self.command_decoder.decode(body):
                case FetchCommand(batch):
                    self.fetch_loop.submit(batch)
                case CancelCommand(host):
                    visits += self.fetch_loop.cancel(drop_in_flight=False, host=host)
        if is_expired:
            visits += self.fetch_loop.cancel(drop_in_flight=False)
        deadline = time.monotonic() + TURN_SECONDS
        suspect_token, is_suspect_done = 0, False
        while self.fetch_loop.load and not (suspect_token or is_suspect_done) and time.monotonic() < deadline:
            report = self.fetch_loop.run_for(max(0.0, deadline - time.monotonic()))
            visits += report.visits
            robots += report.robots
            suspect_token = report.suspect_token
            # Reported before the next fetch starts, so that a later crash is not attributed to the suspect.
            is_suspect_done = any(visit.token == self.suspect_token for visit in report.visits)
        self.suspect_token = suspect_token or self.suspect_token
        heartbeat = msgspec.structs.replace(self.fetch_loop.build_heartbeat(), worker=self.name)
        report = WorkerReport(self.name, tuple(visits), tuple(robots), heartbeat, suspect_token)
        self.last_turn = time.monotonic()
        return msgspec.msgpack.encode(report), self.fetch_loop.load
