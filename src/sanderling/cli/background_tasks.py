"""What goes on beside a crawl: the index follows it, and somebody takes what users of the search page ask for."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sanderling.cli.arguments import Call, say
from sanderling.config.settings import Searching
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.stop import Progress
from sanderling.search.background_indexer import can_index, indexing

if TYPE_CHECKING:
    from sanderling.templates.similar.query_fulfillment import Attendant

Start = Callable[[Coordinator], None]
Tick = Callable[[Progress], None]


FEEDBACK = "feedback.db"  # as the search page writes it; reading it loads half the search engine


class Company:
    """Begins to listen to users when there are any."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.crew: Coordinator | None = None
        self.attendant: Attendant | None = None

    def start(self, coordinator: Coordinator) -> None:
        """A crawl begins."""
        self.crew = coordinator

    def tick(self, progress: Progress) -> None:
        """Now and then."""
        if self.attendant is None and self.crew is not None and (self.folder / FEEDBACK).exists():
            from sanderling.templates.similar.query_fulfillment import Attendant

            self.attendant = Attendant(self.folder)
            self.attendant.start(self.crew)
        if self.attendant is not None:
            self.attendant.tick(progress)

    def end(self) -> None:
        """The crawl is over."""
        if self.attendant is not None:
            self.attendant.end()


@contextmanager
def company(call: Call, start: Start, tick: Tick) -> Iterator[tuple[Start, Tick]]:
    """Give a crawl company; its own hooks come first."""
    if not can_index():
        yield start, tick
        return
    beside = Company(call.collection)

    def begin(coordinator: Coordinator) -> None:
        start(coordinator)
        beside.start(coordinator)

    def look(progress: Progress) -> None:
        tick(progress)
        beside.tick(progress)

    with indexing(call.collection, lambda text: say(call, text), call.settings(Searching).index):
        try:
            yield begin, look
        finally:
            beside.end()
