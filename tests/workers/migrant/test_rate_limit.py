"""The gate of one site: what its owner allows holds for all guests together."""

from collections.abc import Sequence

import msgspec
import pytest

from sanderling.models import FetchTask, Host, Outcome, Reason, RobotsTxt, Visit
from sanderling.workers.migrant.messages import (
    EndMessage,
    MigrantMessage,
    MigrantRequest,
    MissedMessage,
    PageMessage,
    RequestedUrl,
)
from sanderling.workers.migrant.owner_rules import SiteRules
from sanderling.workers.migrant.rate_limit import SiteRateLimiter
from sanderling.workers.migrant.site_reader import SiteResponse
from sanderling.workers.migrant.site_walk import SiteWalk

SITE = "http://www.example"
LETTER = MigrantRequest("sender", "host", Host(SITE), 0.0, 1e12, b"", tuple(RequestedUrl(f"/p{n}") for n in range(5)))


class Files:
    """Answers every stop at once, and writes down when it was looked at."""

    def __init__(self, ticks: list[float], looks: list[float]) -> None:
        self.ticks, self.looks = ticks, looks
        self.stops: list[FetchTask] = []

    def submit(self, tasks: Sequence[FetchTask]) -> None:
        self.stops += tasks
        self.looks += [self.ticks[0]] * len(tasks)

    def run_once(self) -> tuple[list[SiteResponse], list[RobotsTxt]]:
        done, self.stops = self.stops, []
        return [
            SiteResponse(Visit(s.id, 0, s.url, Outcome.FETCHED, 0.0, digest=b"x" * 32), b"HTTP/1.1 200 OK")
            for s in done
        ], []

    def close(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize("rate", [1.0, 4.0, 1000.0])
def test_all_guests_together_look_at_no_more_pages_per_second_than_allowed(
    rate: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks, looks = [0.0], list[float]()
    gate = SiteRateLimiter(SiteRules(SITE, pages_per_second=rate), monotonic=lambda: ticks[0])

    def pass_time() -> None:
        ticks[0] += 0.05

    monkeypatch.setattr(gate, "wait", pass_time)
    guests = [SiteWalk(LETTER, gate, Files(ticks, looks)).generate_messages() for _ in range(3)]
    found: list[MigrantMessage] = []
    while guests:
        for guest in list(guests):
            message = next(guest, None)
            found += [message] if message is not None else []
            guests = [other for other in guests if other is not guest] if message is None else guests
    assert sum(isinstance(message, PageMessage) for message in found) == len(looks) == 15
    for start in looks:
        assert sum(start <= at < start + 1 for at in looks) <= rate + 1


def test_what_was_not_used_for_long_is_no_burst() -> None:
    ticks = [0.0]
    gate = SiteRateLimiter(SiteRules(SITE, pages_per_second=50), monotonic=lambda: ticks[0])
    ticks[0] = 1000.0
    assert gate.acquire(64) == 6, "a tenth of a second is saved"
    assert gate.acquire(64) == 0
    assert SiteRateLimiter(SiteRules(SITE)).acquire(64) == 64


def test_when_the_hours_are_over_what_is_left_has_to_be_asked_for_again() -> None:
    hour = [22.5]
    gate = SiteRateLimiter(SiteRules(SITE, hours="22-23", pages_per_second=1.0), lambda: hour[0] * 3600, lambda: 0.0)
    walk = SiteWalk(LETTER, gate, Files([0.0], [])).generate_messages()
    assert isinstance(next(walk), PageMessage)
    hour[0] = 23.0
    *rest, end = walk
    assert rest == [
        MissedMessage(place, Outcome.RETRY, Reason.MIGRANT_REFUSED, "closed at this hour") for place in range(1, 5)
    ]
    assert end == EndMessage(1, 0)


@pytest.mark.parametrize("every", [0.0, -1.0, float("nan")])
def test_a_guest_that_stays_looks_at_nothing_outside_the_hours_and_never_without_a_pause(
    every: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    hour, looks, slept = [22.5], list[float](), list[float]()
    monkeypatch.setattr("sanderling.workers.migrant.site_walk.time.sleep", slept.append)
    gate = SiteRateLimiter(SiteRules(SITE, hours="22-23"), lambda: hour[0] * 3600)
    letter = msgspec.structs.replace(LETTER, watch_seconds=1e9, watch_interval_seconds=every)
    walk = SiteWalk(letter, gate, Files([0.0], looks)).generate_messages()
    for _ in range(5 + 2):
        next(walk)
    assert len(looks) == 2 * 5
    hour[0] = 23.5
    assert [next(walk) for _ in range(3)] == [EndMessage(10, 5)] * 3, "it says that it is still there"
    hour[0] = 22.0
    next(walk)
    assert len(looks) == 3 * 5
    assert min(slept) > 0
