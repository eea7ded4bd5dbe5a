"""One run of a crawl, from what a person asked for to the summary: seeds, scope, resume or a new session.

A *session* is one full pass over what is known; a *run* is one execution of the command. A run that was cut short is
resumed by the next one. When the last session is complete, the next run opens a new one: every known page in scope is
visited again, with its validators, so that unchanged pages cost a few bytes.
"""

import contextlib
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec

from sanderling.clock import Clock, system_clock
from sanderling.crawl.choose_ordering import parse_ordering_choice
from sanderling.crawl.coordinator import Coordinator, WorkerEngine
from sanderling.crawl.open_context import open_context, run_with_store_retries
from sanderling.crawl.request import (
    CrawlRequest,
    CrawlSummary,
    build_fetch_settings,
    build_politeness,
    get_budget,
    get_policy,
    parse_depth_limit,
    parse_seed,
)
from sanderling.crawl.run import count_session_pages, finish_run, start_run
from sanderling.crawl.stop import CrawlLimits, CrawlProgress
from sanderling.crawl.worker_setup import build_coordinator, open_engine, prespawn_workers
from sanderling.fetch.dns import DnsResolver
from sanderling.models import Outcome
from sanderling.runtime.memory import map_large_blocks, reduce_gc_frequency
from sanderling.storage.collection import has_collection, open_new_postgres, read_database_url, validate_database_url
from sanderling.urls.scope import Scope as ScopeKind
from sanderling.urls.scope import build_scope_rule
from sanderling.warc.remote import open_file_system
from sanderling.workers.assignment.strategy_registry import build_worker_assignment
from sanderling.workers.local import LocalEngine

__all__ = ["CrawlRequest", "CrawlSummary", "connect_services", "crawl", "validate_request"]


def crawl(
    folder: Path,
    request: CrawlRequest,
    *,
    on_start: Callable[[Coordinator], None] | None = None,
    on_tick: Callable[[CrawlProgress], None] | None = None,
    engine: WorkerEngine | None = None,
    resolver: DnsResolver | None = None,
    clock: Clock = system_clock,
) -> CrawlSummary:
    """Crawl into a collection; the same request again goes on where this one stopped."""
    request = validate_request(request, is_new=not has_collection(folder))
    seeds = [parse_seed(text) for text in request.seeds]
    limits, counts = request.limits, Counter[str]()
    awake = engine
    map_large_blocks()
    reduce_gc_frequency()

    def attempt() -> CrawlSummary:
        nonlocal awake
        with (
            prespawn_workers(request, awake) as waiting,
            open_context(folder, request, seeds, clock) as (house, wanted),
        ):
            house.stats = counts
            run = start_run(house, wanted, seeds, clock())
            home, awake = awake or open_engine(wanted, folder, waiting), None  # it lives for one attempt
            bounds = CrawlLimits(limits.limit, limits.time_limit, limits.size_limit)
            names = resolver or DnsResolver(clock=clock)
            coordinator = build_coordinator(house, home, wanted, folder, bounds, names, clock)
            coordinator.earlier_page_count = count_session_pages(house.db, house.session) - _count_visited(counts)
            if on_start:
                on_start(coordinator)
            finish = coordinator.run(on_tick)
            _write_assignment_report(folder / "logs", coordinator)
            return finish_run(house, run, finish, coordinator, clock())

    return run_with_store_retries(folder, request.workers.store, attempt)


def validate_request(request: CrawlRequest, is_new: bool) -> CrawlRequest:
    """Read all that was asked for, or say what is wrong with it, before anything is opened, written or deleted."""
    for text in request.seeds:
        parse_seed(text)
    parse_depth_limit(request.limits.depth)
    build_scope_rule((), ScopeKind(request.scope.scope), request.scope.include, request.scope.exclude)
    get_policy(request.revisit.policy)
    get_budget(request)
    build_fetch_settings(request)
    build_politeness(request)
    build_worker_assignment(request.scheduling)
    validate_database_url(request.workers.store)
    if request.workers.archive:
        open_file_system(request.workers.archive)
    return msgspec.structs.replace(request, ordering_choice=parse_ordering_choice(request.ordering, is_new=is_new))


def connect_services(folder: Path, request: CrawlRequest) -> WorkerEngine | None:
    """See that all who a new collection needs are there: the cluster, the hosts with our key, the store.

    A cluster that answered stays awake for the crawl; None: there is nothing to keep awake.
    """
    if request.workers.store and not read_database_url(folder):
        open_new_postgres(request.workers.store).close()
    engine = open_engine(request, folder, is_new=True)
    if not isinstance(engine, LocalEngine):
        return engine
    engine.close()
    return None


def _count_visited(stats: Counter[str]) -> int:
    return stats[Outcome.FETCHED] + stats[Outcome.NOT_MODIFIED]


def _write_assignment_report(logs: Path, coordinator: Coordinator) -> None:
    """Leave behind why the last migrant won, for `sanderling schedule`; a full disk costs only that."""
    with contextlib.suppress(OSError):
        (logs / "schedule.json").write_text(json.dumps(coordinator.last_assignment_report))
