"""A crawler that lives through a trace with a simulated clock: the production planner, or an oracle beside it."""

import time
from collections.abc import Iterable
from typing import Protocol

from benchmarks.revisit.histories import DAY, Held, Trace
from msgspec import Struct

from sanderling.revisit.announcements import Announcer, RevisitHint
from sanderling.revisit.intervals import RevisitBudget
from sanderling.revisit.plan_store import MemoryPlanStore, PlanRow
from sanderling.revisit.planner import Planner
from sanderling.revisit.policies.policy import RevisitPolicy
from sanderling.revisit.visit_history import Observation

TURNS = 14  # per interval, but at least one a day


class Crawler:
    """The production planner over the pages of a trace."""

    def __init__(self, policy: RevisitPolicy, trace: Trace, interval: float, told: bool) -> None:
        self.shelf = MemoryPlanStore()
        self.planner = Planner(policy, self.shelf)
        self.trace, self.interval = trace, interval
        self.told = {n for n in range(len(trace.pages)) if told and n % 2}

    def allow(self, pages: int) -> None:
        """Follow the number of pages with the budget."""
        self.planner.budget = RevisitBudget(max(pages, 1) / (self.interval * DAY))

    def enter(self, number: int, now: float) -> None:
        """A page is born, and fetched."""
        row = self.planner.add_page(number, f"http://site.test/{self.trace.pages[number].path}", now)
        if number in self.told:
            row = self.planner.apply_hint(row, RevisitHint(now), Announcer.SITEMAP, now)
        self.shelf.update_rows([row])

    def leave(self, number: int) -> None:
        """A page is no more."""
        self.planner.remove_page(self.shelf.rows[number])
        self.shelf.delete_row(number)

    def hear(self, number: int, at: float, now: float) -> None:
        """A page changed; if it is in the sitemap, that says so."""
        row = self.shelf.rows.get(number)
        if row is not None and number in self.told:
            self.shelf.update_rows([self.planner.apply_announcement(row, at, Announcer.SITEMAP, now)])

    def turn(self, now: float, room: int, held: Held) -> int:
        """Visit as many pages as there is room for."""
        rows = self.planner.select_due(now, room, include_early=True)
        self.shelf.update_rows([self._visit(row, now, held) for row in rows])
        self.planner.replan_oldest(now, len(rows))
        return len(rows)

    def _visit(self, row: PlanRow, now: float, held: Held) -> PlanRow:
        return self.planner.record_visit(row, Observation(now, held.look(row.id, now)))


class Insider:
    """One who knows of a trace what nobody can, and keeps when each page was visited last."""

    def __init__(self, count: int) -> None:
        import numpy

        self.np = numpy
        self.last = numpy.zeros(count)
        self.here = numpy.zeros(count, bool)

    def allow(self, pages: int) -> None:
        """Nothing to learn from it."""

    def enter(self, number: int, now: float) -> None:
        self.last[number], self.here[number] = now / DAY, True

    def leave(self, number: int) -> None:
        self.here[number] = False

    def hear(self, number: int, at: float, now: float) -> None:
        """It reads no sitemap."""


class Oracle(Insider):
    """Knows the true mean rate of every page, and visits what is worth most by it (Cho and Garcia-Molina)."""

    def __init__(self, trace: Trace) -> None:
        super().__init__(len(trace.pages))
        self.rates = self.np.array([max(page.rate, 1e-9) for page in trace.pages])

    def turn(self, now: float, room: int, held: Held) -> int:
        days = now / DAY - self.last
        x = self.rates * days
        worth = (-self.np.expm1(-x) - x * self.np.exp(-x)) / self.rates + 1e-9 * days
        worth[~self.here] = -1.0
        picked = self.np.argpartition(-worth, room - 1)[:room]
        for number in picked.tolist():
            held.look(number, now)
        self.last[picked] = now / DAY
        return room


class Cell(Struct, frozen=True):
    """What came of one policy on one trace at one budget."""

    freshness: float
    age: float  # days
    visits: int
    seconds: float  # of this machine


class Visitor(Protocol):
    """Who lives through a trace."""

    def allow(self, pages: int) -> None:
        """Follow the number of pages with the budget."""

    def enter(self, number: int, now: float) -> None:
        """A page is born, and fetched."""

    def leave(self, number: int) -> None:
        """A page is no more."""

    def hear(self, number: int, at: float, now: float) -> None:
        """A page changed; somebody may say so."""

    def turn(self, now: float, room: int, held: Held) -> int:
        """Visit as many pages as there is room for."""


def replay(trace: Trace, interval: float, crawler: Visitor) -> Cell:
    """Live through a trace, turn by turn."""
    started, held, step = time.process_time(), Held(trace.pages), min(interval / TURNS, 1.0) * DAY
    births = Timeline((page.born, n) for n, page in enumerate(trace.pages))
    deaths = Timeline((page.died, n) for n, page in enumerate(trace.pages))
    changes = Timeline((at, n) for n, page in enumerate(trace.pages) for at in page.times[1:] if at > page.born)
    now, alive, credit, entered = trace.begin, 0, 0.0, set[int]()
    while now < trace.end:
        for at, number in changes.until(now):
            crawler.hear(number, at, now)
        for _, number in births.until(now):
            if trace.pages[number].died > now:
                alive += 1
                entered.add(number)
                crawler.allow(alive)
                crawler.enter(number, now)
                held.look(number, now)
        for at, number in deaths.until(now):
            if number in entered:
                alive -= 1
                crawler.leave(number)
                held.close(number, at)
        crawler.allow(alive)
        credit += alive * step / (interval * DAY)
        if (room := min(int(credit), alive)) > 0:
            credit -= crawler.turn(now, room, held)
        now += step
    for number in entered:
        held.close(number, max(trace.pages[number].died, held.since[number]))
    return Cell(held.fresh / held.lived, held.age / held.lived / DAY, held.visits, time.process_time() - started)


class Timeline:
    """Events in order of time, taken as time goes by."""

    def __init__(self, events: Iterable[tuple[float, int]]) -> None:
        self.events = sorted(events)
        self.place = 0

    def until(self, now: float) -> list[tuple[float, int]]:
        """Those that happened since the last question."""
        start = self.place
        while self.place < len(self.events) and self.events[self.place][0] <= now:
            self.place += 1
        return self.events[start : self.place]
