"""One run of a refresh: visit what is due, everything, or stay and keep it fresh."""

import time
from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

import msgspec
from msgspec import Struct

from sanderling.clock import Clock, real
from sanderling.coordinator import Coordinator, Engine
from sanderling.database import transaction
from sanderling.dedupe.spellings import doubles
from sanderling.ending import Bounds, Finish, Progress
from sanderling.errors import CollectionError
from sanderling.frontier.again import queue_pages
from sanderling.home.house import MAPS_FIRST, House
from sanderling.home.uses import BEHIND
from sanderling.migrants.resolve import Resolver
from sanderling.opening import opened, outlast, planned
from sanderling.organise import dust
from sanderling.quarters import open_engine, prepare_engine, put_in_charge
from sanderling.records import Outcome, State
from sanderling.refill import AT_ONCE, REFRESHED, Refill, pardon, room_in, saved_up
from sanderling.refresh.diary import Diary
from sanderling.refresh.lists import Lists
from sanderling.request import Request, budget_of, policy_named
from sanderling.runs import keep_exactly, note_end, note_start
from sanderling.schedule.plan import roster
from sanderling.store.collection import exists, set_meta
from sanderling.store.listing import urls_of
from sanderling.wanted import ask_robots_again, queue_everything


class Mode(StrEnum):
    """How much to visit."""

    ONCE = "once"  # what is due now
    ALL = "all"  # everything, due or not
    WATCH = "watch"  # what becomes due, until told to stop


class Refreshed(Struct, frozen=True):
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
    request: Request,
    mode: Mode = Mode.ONCE,
    *,
    on_start: Callable[[Coordinator], None] | None = None,
    on_tick: Callable[[Progress], None] | None = None,
    engine: Engine | None = None,
    clock: Clock = real,
) -> Refreshed:
    """Visit pages again; sitemaps and feeds first, for they tell what is worth a visit."""
    if not exists(folder):
        raise CollectionError(f"there is no collection in {folder}; make one with: sanderling crawl URL -C {folder}")
    roster(request.scheduling)  # or say what is wrong
    counts, begun = Counter[str](), False
    limits = request.limits

    def attempt() -> Refreshed:
        nonlocal begun
        with prepare_engine(request, engine) as waiting, opened(folder, request, (), clock) as (house, wanted):
            house.counts = counts
            run = _begin(house, wanted, mode is Mode.ALL and not begun, clock())
            begun = True
            _heed_users(house, folder)
            home = engine or open_engine(wanted, folder, waiting)
            bounds = Bounds(limits.limit, limits.time_limit, limits.size_limit)
            coordinator = put_in_charge(house, home, wanted, folder, bounds, Resolver(clock=clock), clock)
            _instruct(coordinator, Refill(house, budget_of(request), clock(), mode is Mode.WATCH), mode)
            if on_start:
                on_start(coordinator)
            finish = coordinator.run(on_tick)
            return _end(house, run, finish, time.monotonic() - coordinator.started, clock())

    return outlast(folder, request.workers.store, attempt) if engine is None else attempt()


def _instruct(coordinator: Coordinator, refill: Refill, mode: Mode) -> None:
    """Say what to visit, and whether to stay; who gathers hosts in sets hears how lively they are."""
    coordinator.refill = refill if mode is not Mode.ALL else None
    coordinator.stay = mode is Mode.WATCH
    sets = coordinator.roster.sets
    if sets.names:
        refill.tell = lambda intervals: sets.tell(intervals)  # whoever starts the run may listen to them


def _end(house: House, run: int, finish: Finish, seconds: float, now: float) -> Refreshed:
    keep_exactly(house, now)
    summary = summarise(house, finish, seconds)
    with transaction(house.db):
        set_meta(house.db, REFRESHED, str(now))
    note_end(house, run, finish, msgspec.to_builtins(summary), now)
    return summary


def _heed_users(house: House, folder: Path) -> None:
    """Pages that people like are worth more visits: the way from feedback to refresh."""
    if not (folder / "feedback.db").exists():
        return
    from sanderling.feedback.learn import liked  # brings the search with it; most collections have no users

    with transaction(house.db):
        house.diary.weigh(liked(folder))


def _begin(house: House, request: Request, everything: bool, now: float) -> int:
    with transaction(house.db):
        house.queue.release_all()
        pardon(house)
        house.hosts.set_clock_right(now, house.queue.pace.delay_seconds)
        ask_robots_again(house, request)
        if house.use_maps:
            queue_pages(house.db, [*house.lists.unread(), *house.maps.unread(now)], MAPS_FIRST)
        if house.uses is not None:
            queue_pages(house.db, house.uses.known(), BEHIND)
        house.lists.forget_answers()
        if everything:
            house.counts["due"] += queue_everything(house, (State.VISITED,))
        return note_start(house, request, now)


def summarise(house: House, finish: Finish, seconds: float) -> Refreshed:
    """The numbers of a refresh."""
    counts = house.counts
    seen = (Outcome.FETCHED, Outcome.NOT_MODIFIED, Outcome.REDIRECT, Outcome.GONE)
    return Refreshed(
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
        unreachable=tuple(sorted(house.judge.condemned)),
    )


class Expected(Struct, frozen=True):
    """A page that would be visited."""

    url: str
    due_at: float
    why: str


def expected(folder: Path, request: Request, mode: Mode, now: float, most: int = AT_ONCE) -> list[Expected]:
    """What a refresh would visit now, and why; nothing is asked of the web, and no plan is written."""
    budget, found = budget_of(request), planned(folder)
    if found is None:
        return []
    with found as collection:
        db = collection.db
        diary = Diary(db, policy_named(request.revisit.policy), budget, may_write=False)
        room = min(most, room_in(budget, saved_up(db, budget, now), 0, 0)) if budget and mode is Mode.ONCE else most
        least = Lists(db, request.revisit.threshold).least
        rows = diary.everything(most) if mode is Mode.ALL else diary.due(now, room, least, mode is Mode.WATCH)
        urls = urls_of(db, [row.url for row in rows])
        double = doubles(db, dust.load(db), urls.items())
        return [
            Expected(urls[row.url], row.due_at, row.why) for row in diary.explain(rows, now) if row.url not in double
        ]
