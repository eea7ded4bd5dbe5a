"""How the tests of this room send a migrant somewhere."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from tests.hostile.server import Behaviour, HostileServer

from sanderling.fetch.fetch_loop import FetchLoop
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.process import skip_fingerprints
from sanderling.models import FetchBatch, FetchTask, Url, WorkerReport

LOCAL = FetchSettings(allow_private=True)


class Road:
    """Makes servers and trips, and closes them when the test is over."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def server(self, pages: dict[str, Behaviour], robots: Behaviour | None = None, **options: object) -> HostileServer:
        """Start a server with these pages."""
        return self._stack.enter_context(HostileServer(pages, robots, **options))  # type: ignore[arg-type]

    def trip(self, settings: FetchSettings = LOCAL, **options: object) -> FetchLoop:
        """Make a migrant."""
        trip = FetchLoop(settings, **{"compute_fingerprints": skip_fingerprints, **options})  # type: ignore[arg-type]
        self._stack.callback(trip.close)
        return trip


@pytest.fixture
def road() -> Iterator[Road]:
    with ExitStack() as stack:
        yield Road(stack)


def itinerary(server: HostileServer, *paths: str, **options: object) -> FetchBatch:
    """An errand to these paths of a server, without delay unless one is given."""
    stops = tuple(FetchTask(n, 7, Url(server.host + path)) for n, path in enumerate(paths))
    return FetchBatch(server.host, stops, **{"delay_seconds": 0.0, **options})  # type: ignore[arg-type]


def bring_home(trip: FetchLoop, until: Callable[[WorkerReport], bool] | None = None) -> WorkerReport:
    """Let a migrant work until nothing is left in its hands, or until a parcel says enough; one parcel of all."""
    whole = WorkerReport("all")
    while trip.load and not (until and until(whole)):
        parcel = trip.run_for(5.0)
        whole = WorkerReport("all", whole.visits + parcel.visits, whole.robots + parcel.robots)
    return whole
