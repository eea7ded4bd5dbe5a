"""What goes on beside a crawl: the index follows it, and somebody takes what users of the search page ask for."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sanderling.cli.frame import Call, say
from sanderling.coordinator import Coordinator, Progress
from sanderling.index.beside import can_index, indexing
from sanderling.settings import Searching

Start = Callable[[Coordinator], None]
Tick = Callable[[Progress], None]


@contextmanager
def company(call: Call, start: Start, tick: Tick) -> Iterator[tuple[Start, Tick]]:
    """Give a crawl company; its own hooks come first."""
    if not can_index():
        yield start, tick
        return
    from sanderling.more import Attendant

    attendant = Attendant(call.collection)

    def begin(coordinator: Coordinator) -> None:
        start(coordinator)
        attendant.start(coordinator)

    def look(progress: Progress) -> None:
        tick(progress)
        attendant.tick(progress)

    with indexing(call.collection, lambda text: say(call, text), call.settings(Searching).index):
        try:
            yield begin, look
        finally:
            attendant.end()
