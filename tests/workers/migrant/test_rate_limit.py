"""Rate limit, hours and connection limit of a migrant, for all crawlers together."""

import socket
from collections.abc import Iterator, Sequence

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
from sanderling.workers.migrant.rate_limit import ConnectionLimit, SiteRateLimiter
from sanderling.workers.migrant.site_reader import SiteResponse
from sanderling.workers.migrant.site_walk import SiteWalk

SITE = "http://www.example"
REQUEST = MigrantRequest("sender", "host", Host(SITE), 0.0, 1e12, b"", tuple(RequestedUrl(f"/p{n}") for n in range(5)))


class InstantReader:
    """Site reader that answers at once and records the time of every page."""

    def __init__(self, ticks: list[float], visits: list[float]) -> None:
        self.ticks, self.visits = ticks, visits
        self.tasks: list[FetchTask] = []

    def submit(self, tasks: Sequence[FetchTask]) -> None:
        self.tasks += tasks
        self.visits += [self.ticks[0]] * len(tasks)

    def run_once(self) -> tuple[list[SiteResponse], list[RobotsTxt]]:
        done, self.tasks = self.tasks, []
        return [
            SiteResponse(Visit(s.id, 0, s.url, Outcome.FETCHED, 0.0, digest=b"x" * 32), b"HTTP/1.1 200 OK")
            for s in done
        ], []

    def close(self) -> None:
        """Do nothing."""


@pytest.mark.parametrize("rate", [1.0, 4.0, 1000.0])
def test_rate_limit_applies_to_all_connections_together(rate: float, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks, visits = [0.0], list[float]()
    rate_limiter = SiteRateLimiter(SiteRules(SITE, pages_per_second=rate), monotonic=lambda: ticks[0])

    def pass_time() -> None:
        ticks[0] += 0.05

    monkeypatch.setattr(rate_limiter, "wait", pass_time)
    walks = [SiteWalk(REQUEST, rate_limiter, InstantReader(ticks, visits)).generate_messages() for _ in range(3)]
    found: list[MigrantMessage] = []
    while walks:
        for walk in list(walks):
            message = next(walk, None)
            found += [message] if message is not None else []
            walks = [other for other in walks if other is not walk] if message is None else walks
    assert sum(isinstance(message, PageMessage) for message in found) == len(visits) == 15
    for start in visits:
        assert sum(start <= at < start + 1 for at in visits) <= rate + 1


def test_idle_time_allows_no_burst() -> None:
    ticks = [0.0]
    rate_limiter = SiteRateLimiter(SiteRules(SITE, pages_per_second=50), monotonic=lambda: ticks[0])
    ticks[0] = 1000.0
    assert rate_limiter.acquire(64) == 6, "0.1 seconds are kept"
    assert rate_limiter.acquire(64) == 0
    assert SiteRateLimiter(SiteRules(SITE)).acquire(64) == 64


def test_pages_left_at_the_end_of_the_hours_are_reported_for_retry() -> None:
    hour = [22.5]
    rate_limiter = SiteRateLimiter(
        SiteRules(SITE, hours="22-23", pages_per_second=1.0), lambda: hour[0] * 3600, lambda: 0.0
    )
    walk = SiteWalk(REQUEST, rate_limiter, InstantReader([0.0], [])).generate_messages()
    assert isinstance(next(walk), PageMessage)
    hour[0] = 23.0
    *rest, end = walk
    assert rest == [
        MissedMessage(index, Outcome.RETRY, Reason.MIGRANT_REFUSED, "outside of the allowed hours")
        for index in range(1, 5)
    ]
    assert end == EndMessage(1, 0)


@pytest.mark.parametrize("interval", [0.0, -1.0, float("nan")])
def test_watch_fetches_within_the_hours_and_never_without_an_interval(
    interval: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    hour, visits, slept = [22.5], list[float](), list[float]()
    monkeypatch.setattr("sanderling.workers.migrant.site_walk.time.sleep", slept.append)
    rate_limiter = SiteRateLimiter(SiteRules(SITE, hours="22-23"), lambda: hour[0] * 3600)
    request = msgspec.structs.replace(REQUEST, watch_seconds=1e9, watch_interval_seconds=interval)
    walk = SiteWalk(request, rate_limiter, InstantReader([0.0], visits)).generate_messages()
    for _ in range(5 + 2):
        next(walk)
    assert len(visits) == 2 * 5
    hour[0] = 23.5
    assert [next(walk) for _ in range(3)] == [EndMessage(10, 5)] * 3, "a sign of life"
    hour[0] = 22.0
    next(walk)
    assert len(visits) == 3 * 5
    assert min(slept) > 0


Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pairs() -> Iterator[list[Pair]]:
    created = [socket.socketpair() for _ in range(6)]
    yield created
    for pair in created:
        for end in pair:
            end.close()


def is_evicted(pair: Pair) -> bool:
    pair[1].setblocking(False)
    try:
        return pair[1].recv(1) == b""
    except BlockingIOError:
        return False


def test_connections_of_the_busiest_address_are_evicted_first(pairs: list[Pair]) -> None:
    limit = ConnectionLimit(3)
    assert limit.add(pairs[0][0], "anna")
    for pair in pairs[1:5]:
        assert limit.add(pair[0], "busy")
    assert [is_evicted(pair) for pair in pairs] == [False, True, True, False, False, False]


def test_authenticated_connection_is_not_evicted(pairs: list[Pair]) -> None:
    limit = ConnectionLimit(2)
    for pair in pairs[:2]:
        assert limit.add(pair[0], "anna")
        limit.mark_authenticated(pair[0])
    assert not limit.add(pairs[2][0], "late")
    assert not any(map(is_evicted, pairs))
    limit.remove(pairs[0][0])
    assert limit.add(pairs[3][0], "later")


def test_evicted_connection_cannot_be_authenticated(pairs: list[Pair]) -> None:
    limit = ConnectionLimit(1)
    assert limit.add(pairs[0][0], "a")
    assert limit.add(pairs[1][0], "a")
    limit.mark_authenticated(pairs[0][0])
    limit.remove(pairs[0][0])
    assert limit.add(pairs[2][0], "a")
    assert [is_evicted(pair) for pair in pairs[:3]] == [True, True, False]
