"""Fixtures and helpers that run fetch loops against loopback servers."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from tests.hostile.server import Behavior, HostileServer

from sanderling.fetch.fetch_loop import FetchLoop
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.response_processor import skip_fingerprints
from sanderling.models import FetchBatch, FetchTask, Url, WorkerReport

LOCAL = FetchSettings(allow_private=True)


class FetchEnvironment:
    """Starts servers and fetch loops, and closes them after the test."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def start_server(
        self, pages: dict[str, Behavior], robots: Behavior | None = None, **options: object
    ) -> HostileServer:
        """Start a server with these pages."""
        return self._stack.enter_context(HostileServer(pages, robots, **options))  # type: ignore[arg-type]

    def open_loop(self, settings: FetchSettings = LOCAL, **options: object) -> FetchLoop:
        """Open a fetch loop."""
        loop = FetchLoop(settings, **{"compute_fingerprints": skip_fingerprints, **options})  # type: ignore[arg-type]
        self._stack.callback(loop.close)
        return loop


@pytest.fixture
def env() -> Iterator[FetchEnvironment]:
    with ExitStack() as stack:
        yield FetchEnvironment(stack)


def build_batch(server: HostileServer, *paths: str, **options: object) -> FetchBatch:
    """Return a fetch batch for these paths of a server, without delay by default."""
    tasks = tuple(FetchTask(n, 7, Url(server.host + path)) for n, path in enumerate(paths))
    return FetchBatch(server.host, tasks, **{"delay_seconds": 0.0, **options})  # type: ignore[arg-type]


def run_to_end(loop: FetchLoop, until: Callable[[WorkerReport], bool] | None = None) -> WorkerReport:
    """Run a loop until it has no tasks or `until` is true; return all reports as a single report."""
    total = WorkerReport("all")
    while loop.load and not (until and until(total)):
        report = loop.run_for(5.0)
        total = WorkerReport("all", total.visits + report.visits, total.robots + report.robots)
    return total
