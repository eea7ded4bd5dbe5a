"""Run a crawl or a refresh, with the tasks that go with it: indexing, paused other crawls, unmet queries."""

import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.refresh import DuePage, RefreshMode, RefreshSummary, list_due_pages, refresh
from sanderling.crawl.request import (
    CrawlRequest,
    CrawlSummary,
    describe_missing_rendering,
    get_policy,
    parse_seed,
)
from sanderling.crawl.run import summarize_unstarted
from sanderling.crawl.session import connect_services, crawl, validate_request
from sanderling.crawl.stop import CrawlProgress
from sanderling.fetch.address_guard import is_global, parse_ip_literal
from sanderling.search.background_indexer import can_index, index_in_background
from sanderling.storage.collection import delete_collection, has_collection, open_collection_read_only
from sanderling.storage.queries import SkippedRow, load_skipped_urls
from sanderling.storage.reports import has_pages, has_schedule
from sanderling.urls.normalize import get_host, get_hostname
from sanderling.workers.crawl_pauses import pause_other_crawls
from sanderling.workers.worker_engine import WorkerEngine

if TYPE_CHECKING:
    from sanderling.templates.query_fulfillment import UnmetQueryAttendant

__all__ = [
    "FailedSeeds",
    "RunHooks",
    "delete_new_collection",
    "describe_missing_rendering",
    "follow_log",
    "has_collection",
    "has_scheduled_pages",
    "is_public_site",
    "list_damage",
    "list_failed_seeds",
    "list_pages_due",
    "parse_seed",
    "run_crawl",
    "run_refresh",
    "summarize_unstarted",
    "validate_request",
]
StartHook = Callable[[Coordinator], None]
TickHook = Callable[[CrawlProgress], None]
FEEDBACK_DATABASE = "feedback.db"  # as the search page writes it; reading it loads half the search engine


class RunHooks(Struct, frozen=True):
    """What is called during a run: at its start, about once a second, and with sentences on the search index."""

    on_start: StartHook
    on_tick: TickHook
    report: Callable[[str], None] = lambda text: print(text, file=sys.stderr)


class FailedSeeds(Struct, frozen=True):
    """Seeds that are not stored, with the reason. `has_pages`: others are stored."""

    rows: list[SkippedRow]
    has_pages: bool


def run_crawl(
    folder: Path, request: CrawlRequest, hooks: RunHooks, *, keep_index: bool = True, clean: bool = False
) -> CrawlSummary:
    """Crawl and index. `clean`: delete the collection first, once the services of the new one are reachable."""
    with (
        pause_other_crawls(request.workers.pause_crawl, folder),
        _clean_collection(folder, request, clean) as engine,
        _run_background_tasks(folder, hooks, keep_index) as (begin, tick),
    ):
        return crawl(folder, request, on_start=begin, on_tick=tick, engine=engine)


def run_refresh(
    folder: Path, request: CrawlRequest, mode: RefreshMode, hooks: RunHooks, *, keep_index: bool = True
) -> RefreshSummary:
    """Visit the pages that are due, and index them."""
    get_policy(request.revisit.policy)
    with (
        pause_other_crawls(request.workers.pause_crawl, folder),
        _run_background_tasks(folder, hooks, keep_index) as (begin, tick),
    ):
        return refresh(folder, request, mode, on_start=begin, on_tick=tick)


def list_pages_due(folder: Path, request: CrawlRequest, mode: RefreshMode, now: float) -> list[DuePage]:
    """Return the pages that a refresh would visit now, with the reason."""
    get_policy(request.revisit.policy)
    due = list_due_pages(folder, request, mode, now)
    selected = [row for row in due if request.selected is None or row.url in request.selected]
    return selected[: request.limits.limit or None]


def has_scheduled_pages(folder: Path) -> bool:
    """Return whether the collection has a page to revisit."""
    with open_collection_read_only(folder) as collection:
        return has_schedule(collection.db)


def list_failed_seeds(folder: Path, limit: int) -> FailedSeeds:
    """Return seeds that could not be fetched."""
    with open_collection_read_only(folder) as collection:
        rows = list(islice(load_skipped_urls(collection.db, "u.depth = 0"), limit))
        return FailedSeeds(rows, has_pages(collection.db))


def delete_new_collection(folder: Path, delete_folder: bool) -> None:
    """Delete a collection that a run created, and with `delete_folder` its folder, unless it has other files."""
    delete_collection(folder)
    (folder / "lock").unlink(missing_ok=True)
    if delete_folder:
        with suppress(OSError):  # another program wrote to it meanwhile
            folder.rmdir()


def list_damage(coordinator: Coordinator) -> list[str]:
    """Return a sentence for each damaged WARC file, with the number of lost pages."""
    return coordinator.context.run.damage_messages


def follow_log(coordinator: Coordinator, write: Callable[[str], None], *, all_visits: bool) -> None:
    """Pass the lines of the crawl log on: of failed requests, or of all."""
    coordinator.context.log.follow(write, all_visits=all_visits)


def is_public_site(seed: str) -> bool:
    """Return whether a seed is of a host outside of this machine and its network."""
    name = get_hostname(get_host(parse_seed(seed).url))
    address = parse_ip_literal(name)
    return name != "localhost" if address is None else is_global(address)


@contextmanager
def _clean_collection(folder: Path, request: CrawlRequest, clean: bool) -> Iterator[WorkerEngine | None]:
    if not (clean and has_collection(folder)):
        yield None
        return
    engine = connect_services(folder, validate_request(request, is_new=True))
    with closing(engine) if engine else nullcontext():
        delete_collection(folder)
        yield engine


class _BackgroundTasks:
    """Starts indexing, and records users of the search page during a crawl, once there are any."""

    def __init__(self, folder: Path, start_indexer: Callable[[], None]) -> None:
        self.folder, self.start_indexer = folder, start_indexer
        self.tick_count = 0
        self.coordinator: Coordinator | None = None
        self.attendant: UnmetQueryAttendant | None = None

    def tick(self, progress: CrawlProgress) -> None:
        """Run the tasks that are due. The first tick comes before the first request, which indexing must not delay."""
        if self.tick_count:
            self.start_indexer()
        self.tick_count += 1
        if self.attendant is None and self.coordinator is not None and (self.folder / FEEDBACK_DATABASE).exists():
            from sanderling.templates.query_fulfillment import UnmetQueryAttendant

            self.attendant = UnmetQueryAttendant(self.folder)
            self.attendant.start(self.coordinator)
        if self.attendant is not None:
            self.attendant.tick(progress)


@contextmanager
def _run_background_tasks(folder: Path, hooks: RunHooks, keep_index: bool) -> Iterator[tuple[StartHook, TickHook]]:
    if not can_index():
        yield hooks.on_start, hooks.on_tick
        return
    with index_in_background(folder, hooks.report, keep_index, delayed=True) as start_indexer:
        tasks = _BackgroundTasks(folder, start_indexer)

        def begin(coordinator: Coordinator) -> None:
            hooks.on_start(coordinator)
            tasks.coordinator = coordinator

        def tick(progress: CrawlProgress) -> None:
            hooks.on_tick(progress)
            tasks.tick(progress)

        try:
            yield begin, tick
        finally:
            if tasks.attendant is not None:
                tasks.attendant.end()
