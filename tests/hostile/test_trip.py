"""The real migrant against the hostile server: every misbehaviour ends in an outcome with a named reason."""

from collections.abc import Iterator

import pytest
from tests.hostile.server import HostileServer

from sanderling.migrants.settings import FetchSettings
from sanderling.migrants.trip import Trip
from sanderling.records import Itinerary, Outcome, Reason, Stop, Url, Visit

CALM = FetchSettings(allow_private=True, max_body=12_000_000)
HASTY = FetchSettings(allow_private=True, idle_timeout=1, robots_timeout=1)


@pytest.fixture(scope="module")
def server() -> Iterator[HostileServer]:
    with HostileServer() as server:
        yield server


def visit_all(server: HostileServer, *paths: str, settings: FetchSettings = CALM) -> dict[str, Visit]:
    """Send one migrant to these paths and wait until it has been everywhere."""
    trip = Trip(settings, {})
    stops = tuple(Stop(n, 1, Url(server.host + path)) for n, path in enumerate(paths))
    trip.accept(Itinerary(server.host, stops, delay_seconds=0, connections=len(stops)))
    visits: list[Visit] = []
    while trip.load:
        visits += trip.work(1).visits
    trip.close()
    return {visit.url.removeprefix(server.host): visit for visit in visits}


FATES = {
    "/ok": (Outcome.FETCHED, Reason.NONE),
    "/text": (Outcome.FETCHED, Reason.NONE),
    "/endless-body": (Outcome.SKIPPED, Reason.TOO_LARGE),
    "/endless-chunks": (Outcome.SKIPPED, Reason.TOO_LARGE),
    "/huge-length": (Outcome.SKIPPED, Reason.TOO_LARGE),
    "/header-flood": (Outcome.FAILED, Reason.TOO_MANY_HEADERS),
    "/long-header": (Outcome.FAILED, Reason.TOO_MANY_HEADERS),
    "/interim-flood": (Outcome.FAILED, Reason.TOO_MANY_HEADERS),
    "/interim": (Outcome.FETCHED, Reason.NONE),
    "/bad-chunk": (Outcome.RETRY, Reason.BROKEN_RESPONSE),
    "/endless-chunk-size": (Outcome.RETRY, Reason.BROKEN_RESPONSE),
    "/cut-chunks": (Outcome.RETRY, Reason.BROKEN_RESPONSE),
    "/short-body": (Outcome.RETRY, Reason.BROKEN_RESPONSE),
    "/long-body": (Outcome.FETCHED, Reason.NONE),
    "/two-lengths": (Outcome.RETRY, Reason.BROKEN_RESPONSE),
    "/negative-length": (Outcome.RETRY, Reason.BROKEN_RESPONSE),
    "/no-status": (Outcome.RETRY, Reason.BROKEN_RESPONSE),
    "/bad-status": (Outcome.RETRY, Reason.BROKEN_RESPONSE),
    "/close": (Outcome.RETRY, Reason.BROKEN_RESPONSE),
    "/reset": (Outcome.RETRY, Reason.BROKEN_RESPONSE),
    "/trailers": (Outcome.FETCHED, Reason.NONE),
    "/hop/7": (Outcome.REDIRECT, Reason.NONE),
    "/redirect": (Outcome.REDIRECT, Reason.NONE),
    "/redirect-self": (Outcome.REDIRECT, Reason.NONE),
    "/redirect-file": (Outcome.FAILED, Reason.REDIRECT_TO_NOWHERE),
    "/redirect-nowhere": (Outcome.FAILED, Reason.REDIRECT_TO_NOWHERE),
    "/nothing-there": (Outcome.GONE, Reason.NONE),
    "/gone": (Outcome.GONE, Reason.NONE),
    "/forbidden": (Outcome.FAILED, Reason.HTTP_ERROR),
    "/teapot": (Outcome.FAILED, Reason.HTTP_ERROR),
    "/broken": (Outcome.RETRY, Reason.SERVER_ERROR),
    "/unasked-304": (Outcome.RETRY, Reason.BROKEN_RESPONSE),
    "/unasked-206": (Outcome.RETRY, Reason.BROKEN_RESPONSE),
    "/gzip": (Outcome.FETCHED, Reason.NONE),
    "/bomb": (Outcome.SKIPPED, Reason.TOO_LARGE),
    "/double-bomb": (Outcome.SKIPPED, Reason.TOO_LARGE),
    "/bad-gzip": (Outcome.FETCHED, Reason.NONE),
    "/cut-gzip": (Outcome.FAILED, Reason.BAD_ENCODING),
    "/unknown-coding": (Outcome.FAILED, Reason.BAD_ENCODING),
    "/many-codings": (Outcome.FAILED, Reason.BAD_ENCODING),
    "/nul": (Outcome.FETCHED, Reason.NONE),
    "/bad-charset": (Outcome.FETCHED, Reason.NONE),
    "/lying-charset": (Outcome.FETCHED, Reason.NONE),
    "/deep": (Outcome.FETCHED, Reason.NONE),
    "/wide": (Outcome.FETCHED, Reason.NONE),
    "/many-links": (Outcome.FETCHED, Reason.NONE),
    "/many-attributes": (Outcome.FETCHED, Reason.NONE),
    "/binary": (Outcome.FETCHED, Reason.NONE),
    "/calendar/1": (Outcome.FETCHED, Reason.NONE),
    "/trap": (Outcome.FETCHED, Reason.NONE),
}


def test_every_misbehaviour_has_its_named_end(server: HostileServer) -> None:
    visits = visit_all(server, *FATES)
    assert {path: (visit.outcome, visit.reason) for path, visit in visits.items()} == FATES


def test_who_makes_us_wait_is_left(server: HostileServer) -> None:
    visits = visit_all(server, "/drip", "/drip-head", "/silent", settings=HASTY)
    assert {path: (visit.outcome, visit.reason) for path, visit in visits.items()} == {
        "/drip": (Outcome.RETRY, Reason.SLOW),
        "/drip-head": (Outcome.RETRY, Reason.SLOW),
        "/silent": (Outcome.RETRY, Reason.TIMEOUT),
    }


def test_a_drip_under_the_idle_limit_ends_with_the_whole_time(server: HostileServer) -> None:
    settings = FetchSettings(allow_private=True, timeout=0.5)
    visit = visit_all(server, "/drip", settings=settings)["/drip"]
    assert (visit.outcome, visit.reason) == (Outcome.RETRY, Reason.TIMEOUT)
