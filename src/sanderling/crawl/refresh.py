"""One run of a refresh: visit what is due, everything, or stay and keep it fresh."""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path

import msgspec
from msgspec import Struct

from sanderling.clock import Clock, system_clock
from sanderling.crawl.context import SITEMAP_RANK, CrawlContext
from sanderling.crawl.coordinator import Coordinator, WorkerEngine
from sanderling.crawl.open_context import open_context, read_scheduled_collection, run_with_store_retries
from sanderling.crawl.reevaluate import apply_ignore_robots_changes, enqueue_all_pages
from sanderling.crawl.request import CrawlRequest, get_budget, get_policy
from sanderling.crawl.run import enforce_collection_limit, record_run_end, record_run_start
from sanderling.crawl.stages.change_detection import FAILURE_DELAY_SECONDS
from sanderling.crawl.stages.resources import RESOURCE_RANK
from sanderling.crawl.stop import CrawlLimits, CrawlProgress, FinishReason
from sanderling.crawl.worker_setup import build_coordinator, open_engine, prespawn_workers
from sanderling.db.connection import Connection, transaction
from sanderling.dedup.url_variants import find_redundant_ids
from sanderling.errors import CollectionError
from sanderling.fetch.dns import DnsResolver
from sanderling.frontier.requeue import requeue_pages
from sanderling.models import Host, Outcome, Reason, UrlState
from sanderling.revisit.budget import RevisitBudget
from sanderling.revisit.change_lists import ChangeLists
from sanderling.revisit.schedule import RevisitSchedule
from sanderling.storage.collection import get_meta, has_collection, set_meta
from sanderling.storage.queries import load_urls
from sanderling.urls import dust
from sanderling.workers.assignment.strategy_registry import build_worker_assignment

MAX_QUEUED_AT_ONCE = 2_000  # pages queued at a time
URL_VARIANT_REASON = "it is visited under another spelling"
REFRESHED_META_KEY = "refreshed"  # in the meta table: when the last refresh ended


class QueueRefill:
    """Queues what has become due, within the budget."""

    def __init__(
        self, context: CrawlContext, budget: RevisitBudget | None, now: float, is_continuous: bool = False
    ) -> None:
        self.context = context
        self.budget = budget
        self.spends_full_budget = (
            is_continuous and budget is not None
        )  # a standing budget is spent, on what is worth it most
        self.budget_started_at = now - (compute_saved_seconds(context.db, budget, now) if budget else 0.0)
        self.hosts_reset_at = now
        self.on_host_intervals: Callable[[Mapping[Host, float]], None] | None = (
            None  # who wants to know how lively the hosts are
        )

    def __call__(self, now: float) -> int:
        """Queue the pages due now; say how many."""
        house, room = self.context, self._compute_allowance(now)
        if now - self.hosts_reset_at > FAILURE_DELAY_SECONDS:
            reset_failed_hosts(house)
            self.hosts_reset_at = now
        if house.use_sitemaps:
            requeue_pages(
                house.db,
                told := [*house.change_lists.load_stale(now), *house.sitemap_schedule.load_due(now)],
                SITEMAP_RANK,
            )
            if told:
                return len(told)
        urls = [
            row.url_id
            for row in house.revisit_schedule.load_due(
                now, room, house.change_lists.min_priority, self.spends_full_budget
            )
        ]
        urls += house.change_lists.sample_unnamed_pages(now)[: room - len(urls)]
        urls = self._drop_url_variants(urls, now)
        sides = house.tvi_files.select_tvi_visits(urls)
        house.revisit_schedule.postpone(list(sides), now + FAILURE_DELAY_SECONDS, "its side file is asked")
        requeue_pages(house.db, [*sides.values(), *(url for url in urls if url not in sides)])
        house.stats["due"] += len(urls)
        if self.on_host_intervals:
            self.on_host_intervals(load_shortest_intervals(house.db))
        return len(urls)

    def _drop_url_variants(self, url_ids: list[int], now: float) -> list[int]:
        """Leave out what is held under its usual spelling too; it comes up again, should its rule be taken back."""
        house = self.context
        double = (
            find_redundant_ids(house.db, house.url_filter.dust_rules, load_urls(house.db, url_ids).items())
            if house.url_filter.dust_rules
            else set()
        )
        house.revisit_schedule.postpone(list(double), now + FAILURE_DELAY_SECONDS, URL_VARIANT_REASON)
        return [url for url in url_ids if url not in double]

    def _compute_allowance(self, now: float) -> int:
        """What the budget has left: what was saved up before, then more as time goes by."""
        if self.budget is None:
            return MAX_QUEUED_AT_ONCE
        return compute_page_allowance(
            self.budget, now - self.budget_started_at, self.context.stats["due"], self.context.stats["bytes"]
        )


def compute_page_allowance(budget: RevisitBudget, seconds: float, queued: int, size: int) -> int:
    """How many pages may be queued, of a budget that was earned for so long and spent on so much."""
    earned = budget.compute_allowance(seconds)
    if budget.is_in_bytes:
        return MAX_QUEUED_AT_ONCE if size < earned else 0
    return max(0, min(MAX_QUEUED_AT_ONCE, int(max(1.0, earned)) - queued))


def compute_saved_seconds(db: Connection, budget: RevisitBudget, now: float) -> float:
    """Seconds for which a budget was not spent: since the last refresh, a minute at least, its period at most."""
    idle = now - float(get_meta(db, REFRESHED_META_KEY, "0"))
    return budget.period_seconds if idle < 0 else min(max(idle, 60.0), budget.period_seconds)


def reset_failed_hosts(context: CrawlContext) -> None:
    """Give hosts that could not be reached, and what we hold of them, another chance."""
    context.hosts.reset_failed_hosts()
    context.url_filter.failed_hosts.clear()
    context.db.execute(
        "UPDATE urls SET state = ? WHERE (state = ? OR (state = ? AND reason = ?)) AND id IN (SELECT url FROM pages)",
        (UrlState.VISITED, UrlState.FAILED, UrlState.SKIPPED, Reason.ROBOTS_UNREACHABLE),
    )


def load_shortest_intervals(db: Connection) -> dict[Host, float]:
    """The shortest interval planned for a page that waits, for each host."""
    rows = db.execute(
        "SELECT h.name, min(d.due_at - d.planned_at) FROM queue AS q JOIN due AS d ON d.url = q.url"
        " JOIN hosts AS h ON h.id = q.host WHERE d.planned_at > 0 GROUP BY h.name"
    )
    return {Host(name): float(interval) for name, interval in rows}


class RefreshMode(StrEnum):
    """How much to visit."""

    ONCE = "once"  # what is due now
    ALL = "all"  # everything, due or not
    WATCH = "watch"  # what becomes due, until told to stop


class RefreshSummary(Struct, frozen=True):
    """How a refresh ended."""

    due: int
    visited: int
    not_modified: int
    unchanged: int
    changed: int
    new: int
    gone: int
    moved: int
    bytes: int
    bytes_saved: int
    seconds: float
    finish_reason: str = "done"
    unreachable: tuple[str, ...] = ()  # hosts


def refresh(
    folder: Path,
    request: CrawlRequest,
    mode: RefreshMode = RefreshMode.ONCE,
    *,
    on_start: Callable[[Coordinator], None] | None = None,
    on_tick: Callable[[CrawlProgress], None] | None = None,
    engine: WorkerEngine | None = None,
    clock: Clock = system_clock,
) -> RefreshSummary:
    """Visit pages again; sitemaps and feeds first, for they tell what is worth a visit."""
    if not has_collection(folder):
        raise CollectionError(f"there is no collection in {folder}; make one with: sanderling crawl URL -C {folder}")
    build_worker_assignment(request.scheduling)  # or say what is wrong
    counts, begun = Counter[str](), False
    limits = request.limits

    def attempt() -> RefreshSummary:
        nonlocal begun
        with prespawn_workers(request, engine) as waiting, open_context(folder, request, (), clock) as (house, wanted):
            house.stats = counts
            run = _start_refresh(house, wanted, mode is RefreshMode.ALL and not begun, clock())
            begun = True
            _apply_user_feedback(house, folder)
            home = engine or open_engine(wanted, folder, waiting)
            bounds = CrawlLimits(limits.limit, limits.time_limit, limits.size_limit)
            coordinator = build_coordinator(house, home, wanted, folder, bounds, DnsResolver(clock=clock), clock)
            _configure_refresh(
                coordinator, QueueRefill(house, get_budget(request), clock(), mode is RefreshMode.WATCH), mode
            )
            if on_start:
                on_start(coordinator)
            finish = coordinator.run(on_tick)
            return _finish_refresh(house, run, finish, time.monotonic() - coordinator.started_at, clock())

    return run_with_store_retries(folder, request.workers.store, attempt) if engine is None else attempt()


def _configure_refresh(coordinator: Coordinator, refill: QueueRefill, mode: RefreshMode) -> None:
    """Say what to visit, and whether to stay; who gathers hosts in sets hears how lively they are."""
    coordinator.queue_due_pages = refill if mode is not RefreshMode.ALL else None
    coordinator.is_continuous = mode is RefreshMode.WATCH
    sets = coordinator.assignment.change_rate_sets
    if sets.set_names:
        refill.on_host_intervals = lambda intervals: sets.set_intervals(
            intervals
        )  # whoever starts the run may listen to them


def _finish_refresh(
    context: CrawlContext, run_id: int, finish: FinishReason, seconds: float, now: float
) -> RefreshSummary:
    enforce_collection_limit(context, now)
    summary = summarize_refresh(context, finish, seconds)
    with transaction(context.db):
        set_meta(context.db, REFRESHED_META_KEY, str(now))
    record_run_end(context, run_id, finish, msgspec.to_builtins(summary), now)
    return summary


def _apply_user_feedback(context: CrawlContext, folder: Path) -> None:
    """Pages that people like are worth more visits: the way from feedback to refresh."""
    if not (folder / "feedback.db").exists():
        return
    from sanderling.search.feedback.learn import (
        load_page_weights,
    )  # brings the search with it; most collections have no users

    with transaction(context.db):
        context.revisit_schedule.set_importance(load_page_weights(folder))


def _start_refresh(context: CrawlContext, request: CrawlRequest, visit_all: bool, now: float) -> int:
    with transaction(context.db):
        context.queue.release_all_leases()
        reset_failed_hosts(context)
        context.hosts.repair_clock(now, context.queue.politeness.delay_seconds)
        apply_ignore_robots_changes(context, request)
        if context.use_sitemaps:
            requeue_pages(
                context.db,
                [*context.change_lists.load_all(), *context.sitemap_schedule.load_due_at_start(now)],
                SITEMAP_RANK,
            )
        if context.page_resources is not None:
            requeue_pages(context.db, context.page_resources.load_visited(), RESOURCE_RANK)
        context.change_lists.reset_answers()
        if visit_all:
            context.stats["due"] += enqueue_all_pages(context, (UrlState.VISITED,))
        return record_run_start(context, request, now)


def summarize_refresh(context: CrawlContext, finish: FinishReason, seconds: float) -> RefreshSummary:
    """The numbers of a refresh."""
    counts = context.stats
    seen = (Outcome.FETCHED, Outcome.NOT_MODIFIED, Outcome.REDIRECT, Outcome.GONE)
    return RefreshSummary(
        due=counts["due"],
        visited=sum(counts[outcome] for outcome in seen),
        not_modified=counts[Outcome.NOT_MODIFIED],
        unchanged=counts["unchanged"],
        changed=counts["changed"],
        new=counts["new"],
        gone=counts["vanished"],
        moved=counts["moved"],
        bytes=counts["bytes"],
        bytes_saved=counts["bytes_saved"],
        seconds=round(seconds, 3),
        finish_reason=finish,
        unreachable=tuple(sorted(context.url_filter.failed_hosts)),
    )


class DuePage(Struct, frozen=True):
    """A page that would be visited."""

    url: str
    due_at: float
    reason: str


def list_due_pages(
    folder: Path, request: CrawlRequest, mode: RefreshMode, now: float, limit: int = MAX_QUEUED_AT_ONCE
) -> list[DuePage]:
    """What a refresh would visit now, and why; nothing is asked of the web, and no plan is written."""
    budget, found = get_budget(request), read_scheduled_collection(folder)
    if found is None:
        return []
    with found as collection:
        db = collection.db
        diary = RevisitSchedule(db, get_policy(request.revisit.policy), budget, may_write=False)
        room = (
            min(limit, compute_page_allowance(budget, compute_saved_seconds(db, budget, now), 0, 0))
            if budget and mode is RefreshMode.ONCE
            else limit
        )
        least = ChangeLists(db, request.revisit.threshold).min_priority
        rows = (
            diary.load_all(limit)
            if mode is RefreshMode.ALL
            else diary.load_due(now, room, least, mode is RefreshMode.WATCH)
        )
        urls = load_urls(db, [row.url_id for row in rows])
        double = find_redundant_ids(db, dust.load_rules(db), urls.items())
        return [
            DuePage(urls[row.url_id], row.due_at, row.reason)
            for row in diary.explain_rows(rows, now)
            if row.url_id not in double
        ]
