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

from sanderling.clock import Clock, real
from sanderling.crawl.choose_ordering import read_wish
from sanderling.crawl.coordinator import Coordinator, Engine
from sanderling.crawl.open_context import opened, outlast
from sanderling.crawl.request import (
    Request,
    Summary,
    budget_of,
    depth_limit,
    fetch_settings,
    pace_of,
    policy_named,
    read_seed,
)
from sanderling.crawl.run import begin_run, end_run, pages_of
from sanderling.crawl.stop import Bounds, Progress
from sanderling.crawl.worker_pool import open_engine, prepare_engine, put_in_charge
from sanderling.fetch.dns import Resolver
from sanderling.models import Outcome
from sanderling.runtime.memory import give_large_blocks_back, look_for_cycles_seldom
from sanderling.storage.collection import check_store, exists, new_store, store_of
from sanderling.urls.scope import Scope as ScopeKind
from sanderling.urls.scope import scope_rule
from sanderling.warc.remote import reach
from sanderling.workers.assignment.strategy_registry import roster
from sanderling.workers.local import Processes

__all__ = ["Request", "Summary", "checked", "crawl", "reached"]


def crawl(
    folder: Path,
    request: Request,
    *,
    on_start: Callable[[Coordinator], None] | None = None,
    on_tick: Callable[[Progress], None] | None = None,
    engine: Engine | None = None,
    resolver: Resolver | None = None,
    clock: Clock = real,
) -> Summary:
    """Crawl into a collection; the same request again goes on where this one stopped."""
    request = checked(request, is_new=not exists(folder))
    seeds = [read_seed(text) for text in request.seeds]
    limits, counts = request.limits, Counter[str]()
    awake = engine
    give_large_blocks_back()
    look_for_cycles_seldom()

    def attempt() -> Summary:
        nonlocal awake
        with prepare_engine(request, awake) as waiting, opened(folder, request, seeds, clock) as (house, wanted):
            house.counts = counts
            run = begin_run(house, wanted, seeds, clock())
            home, awake = awake or open_engine(wanted, folder, waiting), None  # it lives for one attempt
            bounds = Bounds(limits.limit, limits.time_limit, limits.size_limit)
            names = resolver or Resolver(clock=clock)
            coordinator = put_in_charge(house, home, wanted, folder, bounds, names, clock)
            coordinator.earlier = pages_of(house.db, house.session) - _counted(counts)
            if on_start:
                on_start(coordinator)
            finish = coordinator.run(on_tick)
            _write_schedule(folder / "logs", coordinator)
            return end_run(house, run, finish, coordinator, clock())

    return outlast(folder, request.workers.store, attempt)


def checked(request: Request, is_new: bool) -> Request:
    """Read all that was asked for, or say what is wrong with it, before anything is opened, written or deleted."""
    for text in request.seeds:
        read_seed(text)
    depth_limit(request.limits.depth)
    scope_rule((), ScopeKind(request.scope.scope), request.scope.include, request.scope.exclude)
    policy_named(request.revisit.policy)
    budget_of(request)
    fetch_settings(request)
    pace_of(request)
    roster(request.scheduling)
    check_store(request.workers.store)
    if request.workers.archive:
        reach(request.workers.archive)
    return msgspec.structs.replace(request, wish=read_wish(request.order, is_new=is_new))


def reached(folder: Path, request: Request) -> Engine | None:
    """See that all who a new collection needs are there: the cluster, the hosts with our key, the store.

    A cluster that answered stays awake for the crawl; None: there is nothing to keep awake.
    """
    if request.workers.store and not store_of(folder):
        new_store(request.workers.store).close()
    engine = open_engine(request, folder, is_new=True)
    if not isinstance(engine, Processes):
        return engine
    engine.close()
    return None


def _counted(counts: Counter[str]) -> int:
    return counts[Outcome.FETCHED] + counts[Outcome.NOT_MODIFIED]


def _write_schedule(logs: Path, coordinator: Coordinator) -> None:
    """Leave behind why the last migrant won, for `sanderling schedule`; a full disk costs only that."""
    with contextlib.suppress(OSError):
        (logs / "schedule.json").write_text(json.dumps(coordinator.last_schedule))
