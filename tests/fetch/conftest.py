"""How the tests of this room send a migrant somewhere."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from tests.hostile.server import Behaviour, HostileServer

from sanderling.fetch.fetch_loop import Trip
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.process import no_marks
from sanderling.models import Itinerary, Parcel, Stop, Url

LOCAL = FetchSettings(allow_private=True)


class Road:
    """Makes servers and trips, and closes them when the test is over."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def server(self, pages: dict[str, Behaviour], robots: Behaviour | None = None, **options: object) -> HostileServer:
        """Start a server with these pages."""
        return self._stack.enter_context(HostileServer(pages, robots, **options))  # type: ignore[arg-type]

    def trip(self, settings: FetchSettings = LOCAL, **options: object) -> Trip:
        """Make a migrant."""
        trip = Trip(settings, **{"marks": no_marks, **options})  # type: ignore[arg-type]
        self._stack.callback(trip.close)
        return trip


@pytest.fixture
def road() -> Iterator[Road]:
    with ExitStack() as stack:
        yield Road(stack)


def itinerary(server: HostileServer, *paths: str, **options: object) -> Itinerary:
    """An errand to these paths of a server, without delay unless one is given."""
    stops = tuple(Stop(n, 7, Url(server.host + path)) for n, path in enumerate(paths))
    return Itinerary(server.host, stops, **{"delay_seconds": 0.0, **options})  # type: ignore[arg-type]


def bring_home(trip: Trip, until: Callable[[Parcel], bool] | None = None) -> Parcel:
    """Let a migrant work until nothing is left in its hands, or until a parcel says enough; one parcel of all."""
    whole = Parcel("all")
    while trip.load and not (until and until(whole)):
        parcel = trip.work(5.0)
        whole = Parcel("all", whole.visits + parcel.visits, whole.robots + parcel.robots)
    return whole
