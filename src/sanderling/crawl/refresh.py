"""One run of a refresh: visit what is due, everything, or stay and keep it fresh."""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path

import msgspec
from msgspec import Struct

from sanderling.clock import Clock, real
from sanderling.crawl.context import MAPS_FIRST, House
from sanderling.crawl.coordinator import Coordinator, Engine
from sanderling.crawl.open_context import opened, outlast, planned
from sanderling.crawl.reevaluate import ask_robots_again, queue_everything
from sanderling.crawl.request import Request, budget_of, policy_named
from sanderling.crawl.run import keep_exactly, note_end, note_start
from sanderling.crawl.stages.change_detection import TROUBLE_WAIT
from sanderling.crawl.stages.resources import BEHIND
from sanderling.crawl.stop import Bounds, Finish, Progress
from sanderling.crawl.worker_pool import open_engine, prepare_engine, put_in_charge
from sanderling.db.connection import Connection, transaction
from sanderling.dedup.url_variants import doubles
from sanderling.errors import CollectionError
from sanderling.fetch.dns import Resolver
from sanderling.frontier.requeue import queue_pages
from sanderling.models import Host, Outcome, Reason, State
from sanderling.revisit.budget import Budget
from sanderling.revisit.change_lists import Lists
from sanderling.revisit.schedule import Diary
from sanderling.storage.collection import exists, get_meta, set_meta
from sanderling.storage.queries import urls_of
from sanderling.urls import dust
from sanderling.workers.assignment.strategy_registry import roster

AT_ONCE = 2_000  # pages queued at a time
DOUBLE = "it is visited under another spelling"
REFRESHED = "refreshed"  # in the meta table: when the last refresh ended


class Refill:
    """Queues what has become due, within the budget."""

    def __init__(self, house: House, budget: Budget | None, now: float, stay: bool = False) -> None:
        self.house = house
        self.budget = budget
        self.ahead = stay and budget is not None  # a standing budget is spent, on what is worth it most
        self.begun = now - (saved_up(house.db, budget, now) if budget else 0.0)
        self.pardoned = now
        self.tell: Callable[[Mapping[Host, float]], None] | None = None  # who wants to know how lively the hosts are

    def __call__(self, now: float) -> int:
        """Queue the pages due now; say how many."""
        house, room = self.house, self._room(now)
        if now - self.pardoned > TROUBLE_WAIT:
            pardon(house)
            self.pardoned = now
        if house.use_maps:
            queue_pages(house.db, told := [*house.lists.stale(now), *house.maps.due(now)], MAPS_FIRST)
            if told:
                return len(told)
        urls = [row.url for row in house.diary.due(now, room, house.lists.least, self.ahead)]
        urls += house.lists.tests(now)[: room - len(urls)]
        urls = self._without_doubles(urls, now)
        sides = house.sides.instead(urls)
        house.diary.postpone(list(sides), now + TROUBLE_WAIT, "its side file is asked")
        queue_pages(house.db, [*sides.values(), *(url for url in urls if url not in sides)])
        house.counts["due"] += len(urls)
        if self.tell:
            self.tell(liveliness(house.db))
        return len(urls)

    def _without_doubles(self, urls: list[int], now: float) -> list[int]:
        """Leave out what is held under its usual spelling too; it comes up again, should its rule be taken back."""
        house = self.house
        double = doubles(house.db, house.judge.rules, urls_of(house.db, urls).items()) if house.judge.rules else set()
        house.diary.postpone(list(double), now + TROUBLE_WAIT, DOUBLE)
        return [url for url in urls if url not in double]

    def _room(self, now: float) -> int:
        """What the budget has left: what was saved up before, then more as time goes by."""
        if self.budget is None:
            return AT_ONCE
        return room_in(self.budget, now - self.begun, self.house.counts["due"], self.house.counts["bytes"])


def room_in(budget: Budget, seconds: float, queued: int, size: int) -> int:
    """How many pages may be queued, of a budget that was earned for so long and spent on so much."""
    earned = budget.room(seconds)
    if budget.in_bytes:
        return AT_ONCE if size < earned else 0
    return max(0, min(AT_ONCE, int(max(1.0, earned)) - queued))


def saved_up(db: Connection, budget: Budget, now: float) -> float:
    """Seconds for which a budget was not spent: since the last refresh, a minute at least, its period at most."""
    idle = now - float(get_meta(db, REFRESHED, "0"))
    return budget.period if idle < 0 else min(max(idle, 60.0), budget.period)


def pardon(house: House) -> None:
    """Give hosts that could not be reached, and what we hold of them, another chance."""
    house.hosts.pardon()
    house.judge.condemned.clear()
    house.db.execute(
        "UPDATE urls SET state = ? WHERE (state = ? OR (state = ? AND reason = ?)) AND id IN (SELECT url FROM pages)",
        (State.VISITED, State.FAILED, State.SKIPPED, Reason.ROBOTS_UNREACHABLE),
    )


def liveliness(db: Connection) -> dict[Host, float]:
    """The shortest interval planned for a page that waits, for each host."""
    rows = db.execute(
        "SELECT h.name, min(d.due_at - d.planned_at) FROM queue AS q JOIN due AS d ON d.url = q.url"
        " JOIN hosts AS h ON h.id = q.host WHERE d.planned_at > 0 GROUP BY h.name"
    )
    return {Host(name): float(interval) for name, interval in rows}


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
    from sanderling.search.feedback.learn import liked  # brings the search with it; most collections have no users

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
