"""A running crawl or refresh: iterates over pages while they arrive, and ends with a result."""

import gc
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from sanderling.api.page import Page
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.refresh import RefreshSummary
from sanderling.crawl.request import CrawlSummary
from sanderling.crawl.stop import CrawlProgress, FinishReason

if TYPE_CHECKING:
    from sanderling.api.change import Change
    from sanderling.api.collection_access import Collection

POLL_SECONDS = 0.1  # Ctrl-C interrupts
NEW_PAGES_SECONDS = 0.25  # between looks for stored pages
S = TypeVar("S", bound=CrawlSummary | RefreshSummary)
StartHook = Callable[[Coordinator], None]
TickHook = Callable[[CrawlProgress], None]
Runner = Callable[[StartHook, TickHook], S]


class CrawlRun(Generic[S]):
    """A crawl or refresh. Iterate over it for pages as they are stored, or call `wait()` for the result.

    It runs in the background from the start. A run whose loop was left is stopped by the next call of its collection
    and when the collection closes; everything stored until then stays, and the same call resumes it.
    """

    def __init__(
        self,
        collection: "Collection",
        runner: Runner[S],
        on_page: Callable[[Page], None] | None = None,
        on_change: Callable[["Change"], None] | None = None,
    ) -> None:
        self._collection, self._runner = collection, runner
        self._on_page, self._on_change = on_page, on_change
        self._thread: threading.Thread | None = None
        self._coordinator: Coordinator | None = None
        self._stop_reason: FinishReason | None = None
        self._summary: S | None = None
        self._error: BaseException | None = None
        self._pages: deque[Page] = deque()
        self._last_visit = collection._get_last_visit()
        self._started_at = time.time()
        self.was_iterated: bool = False
        self.progress: CrawlProgress | None = None

    def start(self) -> Self:
        """Start in the background."""
        if self._thread is None:
            self._collection._begin_run(self)
            self._thread = threading.Thread(target=self._run, name="sanderling-crawl", daemon=True)
            self._thread.start()
        return self

    def _run(self) -> None:
        thresholds = gc.get_threshold()
        try:
            self._summary = self._runner(self._on_start, self._on_tick)
        except BaseException as error:  # noqa: BLE001 raised again in the thread that waits
            self._error = error
        finally:
            gc.set_threshold(*thresholds)

    def _on_start(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        if self._stop_reason is not None:
            coordinator.stop(self._stop_reason)

    def _on_tick(self, progress: CrawlProgress) -> None:
        self.progress = progress

    @property
    def is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def __iter__(self) -> Iterator[Page]:
        return self

    def __next__(self) -> Page:
        self.was_iterated = True
        while not self._pages:
            running = self.is_running
            self._load_new_pages()
            if self._pages:
                break
            if not running:
                self._finish()
                raise StopIteration
            assert self._thread is not None
            self._thread.join(NEW_PAGES_SECONDS)
        page = self._pages.popleft()
        if self._on_page is not None:
            self._on_page(page)
        return page

    def _load_new_pages(self) -> None:
        pages, self._last_visit = self._collection._load_pages_after(self._last_visit)
        self._pages.extend(pages)

    def wait(self) -> S:
        """Run to the end and return the summary. Pages go to `on_page` only."""
        if self._on_page is not None:
            for _ in self:
                pass
        assert self._thread is not None
        while self._thread.is_alive():  # not forever, so that Ctrl-C interrupts
            self._thread.join(POLL_SECONDS)
        return self._finish()

    def _finish(self) -> S:
        self._collection._end_run(self)
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        if self._on_change is not None:
            on_change, self._on_change = self._on_change, None
            for change in self._collection.changes(since=self._started_at):
                on_change(change)
        assert self._summary is not None, "the run failed before"
        return self._summary

    @property
    def result(self) -> S | None:
        """The summary; None until the run has ended."""
        return self._summary

    def stop(self) -> None:
        """Stop after the requests in flight, and wait for that."""
        self._stop_reason = FinishReason.INTERRUPTED
        if self._coordinator is not None and self._coordinator.stop_reason is None:
            self._coordinator.stop(FinishReason.INTERRUPTED)
        if self._thread is not None:
            self._thread.join()
        self._collection._end_run(self)

    def changes(
        self, *, kind: str | Sequence[str] = (), min_significance: float = 0.0, pattern: str = "*"
    ) -> list["Change"]:
        """Run to the end and return the changes found by this run."""
        self.wait()
        return self._collection.changes(
            since=self._started_at, kind=kind, min_significance=min_significance, pattern=pattern
        )

    def __repr__(self) -> str:
        state = "running" if self.is_running else self._summary.finish_reason if self._summary else "not started"
        return f"<CrawlRun {state}>"
