"""Run a refresh: visit due pages once, all pages, or pages as they become due."""

import time
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from sanderling.clock import Clock, system_clock
from sanderling.crawl.context import REQUISITE_RANK, SITEMAP_RANK, CrawlContext, RunStats
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.open_context import CrawlPlan, open_context, read_scheduled_collection, run_with_store_retries
from sanderling.crawl.queue_refill import (
    MAX_QUEUED_AT_ONCE,
    QueueRefill,
    compute_page_allowance,
    compute_saved_seconds,
    restore_failed_pages,
)
from sanderling.crawl.reevaluate import apply_ignore_robots_changes, enqueue_all_pages
from sanderling.crawl.request import CrawlRequest, get_budget, get_policy
from sanderling.crawl.run import (
    collect_settings,
    enforce_collection_limit,
    record_run_end,
    record_run_start,
    store_fields,
)
from sanderling.crawl.stop import CrawlProgress, FinishReason
from sanderling.crawl.watched_pages import NO_WATCHED_URLS, WatchedUrls, add_watched_urls
from sanderling.crawl.worker_setup import RunSetup, build_assignment, build_run_setup, open_engine, prespawn_workers
from sanderling.db.connection import transaction
from sanderling.dedup.url_variants import find_redundant_ids
from sanderling.errors import CollectionError
from sanderling.fetch.dns import DnsResolver
from sanderling.frontier.url_rows import find_visited_requisites
from sanderling.models import Outcome
from sanderling.monitor.page_fields import parse_field_definitions
from sanderling.revisit.change_lists import ChangeLists
from sanderling.revisit.schedule import RevisitSchedule
from sanderling.storage.collection import has_collection
from sanderling.storage.collection_meta import CollectionMeta
from sanderling.storage.queries import load_urls
from sanderling.urls import dust
from sanderling.workers.assignment.strategy_registry import build_worker_assignment
from sanderling.workers.assignment.worker_assignment import WorkerAssignment
from sanderling.workers.worker_engine import WorkerEngine


class RefreshMode(StrEnum):
    ONCE = "once"  # pages that are due now
    ALL = "all"  # all pages, due or not
    CONTINUOUS = "continuous"  # pages as they become due, until stopped


class RefreshSummary(Struct, frozen=True):
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
    unreachable: tuple[str, ...] = ()  # hosts that were given up
    returned: int = 0  # pages that were gone
    rendered: int = 0  # pages rendered in a browser
    unrendered: int = 0  # fetched pages that look built by scripts, and were not rendered


def refresh(
    folder: Path,
    request: CrawlRequest,
    mode: RefreshMode = RefreshMode.ONCE,
    *,
    watched: WatchedUrls = NO_WATCHED_URLS,
    on_start: Callable[[Coordinator], None] | None = None,
    on_tick: Callable[[CrawlProgress], None] | None = None,
    engine: WorkerEngine | None = None,
    clock: Clock = system_clock,
) -> RefreshSummary:
    """Visit pages again, starting with sitemaps and feeds.

    Also visits new watched URLs; a collection is created for them.
    """
    is_new = not has_collection(folder)
    if is_new and watched == NO_WATCHED_URLS:
        raise CollectionError(f"no collection in {folder}; create one with: sanderling crawl URL -C {folder}")
    build_worker_assignment(request.scheduling)  # raises UsageError before anything is opened
    parse_field_definitions(request.fields.fields)
    plan = CrawlPlan(folder, request, watched.seeds, watched.pages, clock)
    stats, has_started = RunStats(), False
    visits_all = mode is RefreshMode.ALL or request.selected is not None

    def attempt() -> RefreshSummary:
        nonlocal has_started
        with (
            prespawn_workers(request, engine) as spawned,
            open_context(plan, stats) as (context, full_request),
        ):
            run = _start_refresh(context, full_request, visits_all and not has_started, clock())
            has_started = True
            store_fields(context.db, full_request)
            if is_new:
                CollectionMeta(context.db).settings = collect_settings(full_request)
            if watched != NO_WATCHED_URLS:
                add_watched_urls(context, watched, clock())
            _apply_user_feedback(context, folder)
            run_engine = engine or open_engine(full_request, folder, spawned)
            assignment = build_assignment(full_request, run_engine, clock)
            setup = build_run_setup(full_request, run_engine, folder, clock)
            if not visits_all:
                refill = _build_refill(context, request, assignment, setup, mode)
                setup = replace(setup, queue_due_pages=refill, is_continuous=refill.is_continuous)
            coordinator = Coordinator(context, run_engine, DnsResolver(clock=clock), assignment, setup)
            if on_start:
                on_start(coordinator)
            finish = coordinator.run(on_tick)
            return _finish_refresh(context, run, finish, time.monotonic() - coordinator.started_at, clock())

    return run_with_store_retries(folder, request.workers.store, attempt) if engine is None else attempt()


def _build_refill(
    context: CrawlContext, request: CrawlRequest, assignment: WorkerAssignment, setup: RunSetup, mode: RefreshMode
) -> QueueRefill:
    sets = assignment.change_rate_sets
    return QueueRefill(
        context,
        get_budget(request),
        setup.clock(),
        mode is RefreshMode.CONTINUOUS,
        # Looked up at each call, because callers of `refresh` may replace `set_intervals`.
        on_host_intervals=(lambda intervals: sets.set_intervals(intervals)) if sets.set_names else None,
    )


def _finish_refresh(
    context: CrawlContext, run_id: int, finish: FinishReason, seconds: float, now: float
) -> RefreshSummary:
    enforce_collection_limit(context, now)
    summary = summarize_refresh(context, finish, seconds)
    with transaction(context.db):
        CollectionMeta(context.db).refreshed_at = now
    record_run_end(context, run_id, finish, msgspec.to_builtins(summary), now)
    return summary


def _apply_user_feedback(context: CrawlContext, folder: Path) -> None:
    """Raise the revisit weight of pages that users rated well."""
    if not (folder / "feedback.db").exists():
        return
    # Imported late: it loads the search package, and most collections have no user feedback.
    from sanderling.search.feedback.learn import load_page_weights

    with transaction(context.db):
        context.revisit.schedule.set_importance(load_page_weights(folder))


def _start_refresh(context: CrawlContext, request: CrawlRequest, visit_all: bool, now: float) -> int:
    with transaction(context.db):
        context.frontier.begin_run(now)
        restore_failed_pages(context)
        apply_ignore_robots_changes(context, request)
        if context.options.use_sitemaps and request.selected is None:
            context.frontier.requeue(
                [*context.revisit.change_lists.load_all(), *context.revisit.sitemap_schedule.load_due_at_start(now)],
                SITEMAP_RANK,
            )
        if context.options.fetches_requisites and request.selected is None:
            context.frontier.requeue(find_visited_requisites(context.db), REQUISITE_RANK)
        context.revisit.change_lists.reset_answers()
        if visit_all:
            context.stats.due += enqueue_all_pages(context, selected=request.selected)
        return record_run_start(context, request, now)


def summarize_refresh(context: CrawlContext, finish: FinishReason, seconds: float) -> RefreshSummary:
    stats = context.stats
    visited_outcomes = (Outcome.FETCHED, Outcome.NOT_MODIFIED, Outcome.REDIRECT, Outcome.GONE)
    return RefreshSummary(
        due=stats.due,
        visited=sum(stats.outcomes[outcome] for outcome in visited_outcomes),
        not_modified=stats.outcomes[Outcome.NOT_MODIFIED],
        unchanged=stats.unchanged,
        changed=stats.changed,
        new=stats.new,
        gone=stats.gone,
        moved=stats.moved,
        bytes=stats.bytes,
        bytes_saved=stats.bytes_saved,
        seconds=round(seconds, 3),
        finish_reason=finish,
        unreachable=tuple(sorted(context.frontier.url_filter.failed_hosts)),
        returned=stats.returned,
        rendered=stats.rendered,
        unrendered=stats.unrendered,
    )


class DuePage(Struct, frozen=True):
    """A page that a refresh would visit."""

    url: str
    due_at: float
    reason: str


def list_due_pages(
    folder: Path, request: CrawlRequest, mode: RefreshMode, now: float, limit: int = MAX_QUEUED_AT_ONCE
) -> list[DuePage]:
    """List pages that a refresh would visit now. Fetches and writes nothing."""
    budget, collection = get_budget(request), read_scheduled_collection(folder)
    if collection is None:
        return []
    with collection:
        db = collection.db
        schedule = RevisitSchedule(db, get_policy(request.revisit.policy), budget, may_write=False)
        if mode is RefreshMode.ALL:
            rows = schedule.load_all(limit)
        else:
            if budget and mode is RefreshMode.ONCE:
                saved_seconds = compute_saved_seconds(db, budget, now)
                limit = min(limit, compute_page_allowance(budget, saved_seconds, 0, 0))
            min_priority = ChangeLists(db, request.revisit.threshold).min_priority
            rows = schedule.load_due(now, limit, min_priority, mode is RefreshMode.CONTINUOUS)
        urls = load_urls(db, [row.url_id for row in rows])
        redundant = find_redundant_ids(db, dust.load_rules(db), urls.items())
        return [
            DuePage(urls[row.url_id], row.due_at, row.reason)
            for row in schedule.explain_rows(rows, now)
            if row.url_id not in redundant
        ]
