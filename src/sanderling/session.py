"""One run of a crawl, from what a person asked for to the summary: seeds, scope, resume or a new session.

A *session* is one full pass over what is known; a *run* is one execution of the command. A run that was cut short is
resumed by the next one. When the last session is complete, the next run opens a new one: every known page in scope is
visited again, with its validators, so that unchanged pages cost a few bytes.
"""

import contextlib
import json
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random

import msgspec

from sanderling.clock import Clock, real
from sanderling.coordinator import Coordinator, Engine
from sanderling.ending import Bounds, Progress
from sanderling.errors import StoreUnavailable
from sanderling.memory import give_large_blocks_back, look_for_cycles_seldom
from sanderling.migrants.resolve import Resolver
from sanderling.opening import open_engine, open_house, prepare_engine, roster_of, settle, wait_for_store
from sanderling.ordering import read_wish, remembered
from sanderling.organise.scope import Scope as ScopeKind
from sanderling.organise.scope import scope_rule
from sanderling.reach import reach
from sanderling.records import Outcome
from sanderling.request import Request, Summary, count_migrants, depth_limit, read_seed
from sanderling.runs import begin_run, end_run, pages_of
from sanderling.store.collection import Collection, exists, open_collection

__all__ = ["Request", "Summary", "crawl"]


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
    seeds = [read_seed(text) for text in request.seeds]
    depth_limit(request.limits.depth)  # or say what is wrong
    wish = read_wish(request.order, is_new=not exists(folder))
    scope_rule((), ScopeKind(request.scope.scope), request.scope.include, request.scope.exclude)  # or say what is wrong
    counts: Counter[str] = Counter()
    give_large_blocks_back()
    look_for_cycles_seldom()
    while True:
        try:
            prepared = prepare_engine(request) if engine is None else contextlib.nullcontext([])
            with prepared as waiting, open_collection(folder, request.workers.store) as collection:
                request = msgspec.structs.replace(request, wish=remembered(collection.db, wish))
                far = reach(collection.db, request.limits.depth, [seed.url for seed in seeds], Random())
                house = open_house(collection, request, seeds, far.limit, clock)
                house.judge.begin_at(far.starts)
                house.counts = counts
                with house.archive, closing(house.log):
                    run = begin_run(house, request, seeds, clock())
                    home = engine or open_engine(request, folder, waiting)
                    coordinator = Coordinator(
                        house,
                        home,
                        resolver or Resolver(clock=clock),
                        Bounds(request.limits.limit, request.limits.time_limit, request.limits.size_limit),
                        migrants=count_migrants(request.workers),
                        allow_private=request.fetching.allow_private,
                        folder=folder,
                        roster=roster_of(request, home),
                        clock=clock,
                    )
                    settle(house, coordinator, home, request)
                    coordinator.earlier = pages_of(house.db, house.session) - _counted(counts)
                    if on_start:
                        on_start(coordinator)
                    finish = coordinator.run(on_tick)
                    _write_schedule(collection, coordinator)
                    return end_run(house, run, finish, coordinator, clock())
        except StoreUnavailable:
            if engine is not None or not request.workers.store:
                raise
            wait_for_store(request.workers.store)  # it is as if we had crashed: what was not committed is done again


def _counted(counts: Counter[str]) -> int:
    return counts[Outcome.FETCHED] + counts[Outcome.NOT_MODIFIED]


def _write_schedule(collection: Collection, coordinator: Coordinator) -> None:
    """Leave behind why the last migrant won, for `sanderling schedule`; a full disk costs only that."""
    with contextlib.suppress(OSError):
        (collection.logs / "schedule.json").write_text(json.dumps(coordinator.last_schedule))
