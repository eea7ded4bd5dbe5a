"""Run a crawl from a request to a summary.

A *session* is a full pass over the known pages; a *run* is an execution of the command. A run resumes an interrupted
session. After a complete one it opens a new session: every known page in scope is fetched again with its validators.
"""

import contextlib
import json
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from sanderling.clock import Clock, system_clock
from sanderling.crawl.choose_ordering import OrderingBuilder, open_ordering, parse_ordering_choice
from sanderling.crawl.context import CrawlContext, RunStats
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.dispatch import TemplateFilterBuilder
from sanderling.crawl.open_context import CrawlPlan, open_context, run_with_store_retries
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
from sanderling.crawl.run import finish_run, start_run
from sanderling.crawl.stop import CrawlProgress
from sanderling.crawl.worker_setup import RunSetup, build_assignment, build_run_setup, open_engine, prespawn_workers
from sanderling.db.backend import validate_database_url
from sanderling.fetch.dns import DnsResolver
from sanderling.frontier.shard_links import ShardIdentity
from sanderling.http.cookie_jar import read_cookie_file
from sanderling.monitor.page_fields import parse_field_definitions
from sanderling.plugins.url_rules import load_url_rules
from sanderling.runtime.memory import map_large_blocks, reduce_gc_frequency
from sanderling.storage.collection import has_collection, open_new_database, read_database_url
from sanderling.storage.reports import count_session_pages
from sanderling.urls.scope import Scope as ScopeKind
from sanderling.urls.scope import build_scope_rule
from sanderling.warc.remote import open_file_system
from sanderling.workers.assignment.strategy_registry import build_worker_assignment
from sanderling.workers.assignment.worker_assignment import WorkerAssignment
from sanderling.workers.local import LocalEngine
from sanderling.workers.worker_engine import WorkerEngine

__all__ = ["CrawlRequest", "CrawlSummary", "connect_services", "crawl", "validate_request"]


class ShardMembership(Struct, frozen=True):
    """How a shard takes part in the crawl of its set."""

    identity: ShardIdentity
    build_coordinator: Callable[[CrawlContext, WorkerEngine, DnsResolver, WorkerAssignment, RunSetup], Coordinator]
    may_open_session: bool = True  # False: another shard still completes the last one


class CrawlGuide(Struct, frozen=True):
    """Ordering, template filter, and shard of a crawl."""

    build_ordering: OrderingBuilder = open_ordering  # another one replaces the ordering of the collection for this run
    build_template_filter: TemplateFilterBuilder | None = None  # selects the pages that workers return
    shard: ShardMembership | None = None  # the collection is a shard of a set: it crawls the URLs that it owns


NO_GUIDE = CrawlGuide()


def crawl(
    folder: Path,
    request: CrawlRequest,
    *,
    on_start: Callable[[Coordinator], None] | None = None,
    on_tick: Callable[[CrawlProgress], None] | None = None,
    engine: WorkerEngine | None = None,
    resolver: DnsResolver | None = None,
    clock: Clock = system_clock,
    guide: CrawlGuide = NO_GUIDE,
) -> CrawlSummary:
    """Crawl into a collection. The same request resumes an interrupted crawl."""
    request = validate_request(request, is_new=not has_collection(folder))
    seeds = [parse_seed(text) for text in request.seeds]
    stats, shard = RunStats(), guide.shard
    plan = CrawlPlan(
        folder,
        request,
        seeds,
        clock=clock,
        build_ordering=guide.build_ordering,
        shard=shard.identity if shard else None,
    )
    own_seeds = [seed for seed in seeds if shard is None or shard.identity.owns(seed.url)]
    running_engine = engine
    map_large_blocks()
    reduce_gc_frequency()

    def attempt() -> CrawlSummary:
        nonlocal running_engine
        with (
            prespawn_workers(request, running_engine) as spawned,
            open_context(plan, stats) as (context, full_request),
        ):
            may_open_session = shard is None or shard.may_open_session
            run_id = start_run(context, full_request, own_seeds, clock(), may_open_session=may_open_session)
            # An engine can be used for one attempt only.
            run_engine, running_engine = running_engine or open_engine(full_request, folder, spawned), None
            session_pages = count_session_pages(context.db, context.run.session)
            setup = replace(
                build_run_setup(full_request, run_engine, folder, clock),
                earlier_page_count=session_pages - stats.visited_pages,
                build_template_filter=guide.build_template_filter,
            )
            assignment = build_assignment(full_request, run_engine, clock)
            dns = resolver or DnsResolver(clock=clock)
            build_coordinator = shard.build_coordinator if shard else Coordinator
            coordinator = build_coordinator(context, run_engine, dns, assignment, setup)
            if on_start:
                on_start(coordinator)
            finish = coordinator.run(on_tick)
            _write_assignment_report(folder / "logs", coordinator)
            return finish_run(context, run_id, finish, coordinator, clock())

    if shard is not None:
        return attempt()  # another process may own the shard by the time its database is back
    return run_with_store_retries(folder, request.workers.store, attempt)


def validate_request(request: CrawlRequest, is_new: bool) -> CrawlRequest:
    """Validate all settings before anything is opened. Returns the request with its ordering."""
    for text in request.seeds:
        parse_seed(text)
    parse_depth_limit(request.limits.depth)
    build_scope_rule((), ScopeKind(request.scope.scope), request.scope.include, request.scope.exclude)
    load_url_rules(request.scope.filter)
    get_policy(request.revisit.policy)
    get_budget(request)
    build_fetch_settings(request)
    build_politeness(request)
    if request.fetching.cookie_file:
        read_cookie_file(request.fetching.cookie_file)
    build_worker_assignment(request.scheduling)
    parse_field_definitions(request.fields.fields)
    validate_database_url(request.workers.store)
    if request.workers.archive:
        open_file_system(request.workers.archive)
    return replace(request, ordering_choice=parse_ordering_choice(request.ordering, is_new=is_new))


def connect_services(folder: Path, request: CrawlRequest) -> WorkerEngine | None:
    """Check that database, cluster and migrants of a new collection are reachable.

    Returns a running cluster engine, or None for local workers.
    """
    if request.workers.store and not read_database_url(folder):
        open_new_database(request.workers.store).close()
    engine = open_engine(request, folder, is_new=True)
    if not isinstance(engine, LocalEngine):
        return engine
    engine.close()
    return None


def _write_assignment_report(logs: Path, coordinator: Coordinator) -> None:
    """Write the assignment report for `sanderling schedule`, unless the disk is full."""
    with contextlib.suppress(OSError):
        (logs / "schedule.json").write_text(json.dumps(coordinator.last_assignment_report))
