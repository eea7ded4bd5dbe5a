"""Background tasks of a crawl: indexing, and recording users of the search page."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sanderling.cli.arguments import CommandCall, print_message
from sanderling.config.settings import IndexSettings
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.stop import CrawlProgress
from sanderling.search.background_indexer import can_index, index_in_background

if TYPE_CHECKING:
    from sanderling.templates.query_fulfillment import UnmetQueryAttendant

StartHook = Callable[[Coordinator], None]
TickHook = Callable[[CrawlProgress], None]


FEEDBACK_DATABASE = "feedback.db"  # as the search page writes it; reading it loads half the search engine


class BackgroundTasks:
    """Starts indexing and recording when they are needed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.coordinator: Coordinator | None = None
        self.attendant: UnmetQueryAttendant | None = None

    def start(self, coordinator: Coordinator) -> None:
        self.coordinator = coordinator

    def tick(self, progress: CrawlProgress) -> None:
        """Run the tasks that are due."""
        if self.attendant is None and self.coordinator is not None and (self.folder / FEEDBACK_DATABASE).exists():
            from sanderling.templates.query_fulfillment import UnmetQueryAttendant

            self.attendant = UnmetQueryAttendant(self.folder)
            self.attendant.start(self.coordinator)
        if self.attendant is not None:
            self.attendant.tick(progress)

    def end(self) -> None:
        """Stop the tasks when the crawl ends."""
        if self.attendant is not None:
            self.attendant.end()


@contextmanager
def run_background_tasks(call: CommandCall, start: StartHook, tick: TickHook) -> Iterator[tuple[StartHook, TickHook]]:
    """Attach the background tasks to the hooks of a crawl."""
    if not can_index():
        yield start, tick
        return
    tasks = BackgroundTasks(call.collection)

    def begin(coordinator: Coordinator) -> None:
        start(coordinator)
        tasks.start(coordinator)

    def look(progress: CrawlProgress) -> None:
        tick(progress)
        tasks.tick(progress)

    with index_in_background(
        call.collection, lambda text: print_message(call, text), call.get_settings(IndexSettings).index
    ):
        try:
            yield begin, look
        finally:
            tasks.end()
