"""Replay a trace with a simulated clock, using the production planner or an oracle."""

import time
from collections.abc import Iterable
from typing import Protocol

from benchmarks.lib.memory_plan_store import MemoryPlanStore
from benchmarks.revisit.histories import DAY, Held, Trace
from msgspec import Struct

from sanderling.revisit.announcements import Announcer, RevisitHint
from sanderling.revisit.intervals import CheckInterval, RevisitBudget
from sanderling.revisit.plan_store import PlanRow
from sanderling.revisit.planner import Planner
from sanderling.revisit.policies.policy import RevisitPolicy
from sanderling.revisit.visit_history import Observation

TURNS = 14  # per interval, but at least one a day


class Crawler:
    """The production planner over the pages of a trace."""

    def __init__(
        self,
        policy: RevisitPolicy,
        trace: Trace,
        interval: float,
        in_sitemap: frozenset[int] = frozenset(),
        objective: str = "",
        age_pull: float | None = None,
    ) -> None:
        self.plans = MemoryPlanStore()
        aim = CheckInterval(objective=objective)
        self.planner = Planner(policy, self.plans, find_interval=lambda _: aim)
        if age_pull is not None:
            self.planner.age_pulls[objective] = age_pull
        self.trace, self.interval = trace, interval
        self.in_sitemap = in_sitemap

    def allow(self, pages: int) -> None:
        """Set the budget for this number of pages."""
        self.planner.budget = RevisitBudget(max(pages, 1) / (self.interval * DAY))

    def enter(self, number: int, now: float) -> None:
        """Add a new page, fetched now."""
        row = self.planner.add_page(number, f"http://site.test/{self.trace.pages[number].path}", now)
        if number in self.in_sitemap:
            row = self.planner.apply_hint(row, RevisitHint(now), Announcer.SITEMAP, now)
        self.plans.update_rows([row])

    def leave(self, number: int) -> None:
        """Remove a deleted page."""
        self.planner.remove_page(self.plans.rows[number])
        self.plans.delete_row(number)

    def announce(self, number: int, at: float, now: float) -> None:
        """Announce a change if the page is in the sitemap."""
        row = self.plans.rows.get(number)
        if row is not None and number in self.in_sitemap:
            self.plans.update_rows([self.planner.apply_announcement(row, at, Announcer.SITEMAP, now)])

    def turn(self, now: float, room: int, held: Held) -> int:
        """Visit at most `room` pages. Returns the number of visits."""
        rows = self.planner.select_due(now, room, include_early=True)
        self.plans.update_rows([self._visit(row, now, held) for row in rows])
        self.planner.replan_oldest(now, len(rows))
        return len(rows)

    def _visit(self, row: PlanRow, now: float, held: Held) -> PlanRow:
        return self.planner.record_visit(row, Observation(now, held.look(row.id, now)))


class Oracle:
    """Knows the true mean rate of every page and visits by value (Cho and Garcia-Molina), or by expected delay."""

    def __init__(self, trace: Trace, objective: str = "freshness") -> None:
        import numpy

        self.np = numpy
        self.objective = objective
        self.last = numpy.zeros(len(trace.pages))
        self.here = numpy.zeros(len(trace.pages), bool)
        self.rates = numpy.array([max(page.rate, 1e-9) for page in trace.pages])

    def allow(self, pages: int) -> None:
        """Ignore the budget: visits are limited per turn."""

    def enter(self, number: int, now: float) -> None:
        self.last[number], self.here[number] = now / DAY, True

    def leave(self, number: int) -> None:
        self.here[number] = False

    def announce(self, number: int, at: float, now: float) -> None:
        """Ignore announcements."""

    def turn(self, now: float, room: int, held: Held) -> int:
        days = now / DAY - self.last
        x = self.rates * days
        if self.objective == "delay":
            worth = x * days / 2 + 1e-9 * days
        else:
            worth = (-self.np.expm1(-x) - x * self.np.exp(-x)) / self.rates + 1e-9 * days
        worth[~self.here] = -1.0
        picked = self.np.argpartition(-worth, room - 1)[:room]
        for number in picked.tolist():
            held.look(number, now)
        self.last[picked] = now / DAY
        return room


class Cell(Struct, frozen=True):
    """Result of a policy on a trace at one budget."""

    freshness: float
    age: float  # days
    visits: int
    seconds: float  # CPU time
    delay: float = 0.0  # mean days from a change to the next visit
    late: float = 0.0  # 90th percentile of these


class Visitor(Protocol):
    """A crawler in a replay."""

    def allow(self, pages: int) -> None:
        """Set the budget for this number of pages."""

    def enter(self, number: int, now: float) -> None:
        """Add a new page, fetched now."""

    def leave(self, number: int) -> None:
        """Remove a deleted page."""

    def announce(self, number: int, at: float, now: float) -> None:
        """Receive an announcement of a change."""

    def turn(self, now: float, room: int, held: Held) -> int:
        """Visit at most `room` pages. Returns the number of visits."""


def replay(trace: Trace, interval: float, crawler: Visitor, announcements: Iterable[tuple[float, int]] = ()) -> Cell:
    """Replay a trace turn by turn. Announcements are (time, page)."""
    started, held, step = time.process_time(), Held(trace.pages), min(interval / TURNS, 1.0) * DAY
    births = Timeline((page.born, n) for n, page in enumerate(trace.pages))
    deaths = Timeline((page.died, n) for n, page in enumerate(trace.pages))
    announced = Timeline(announcements)
    now, alive, credit, entered = trace.begin, 0, 0.0, set[int]()
    while now < trace.end:
        for at, number in announced.until(now):
            crawler.announce(number, at, now)
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
    delays = sorted(held.delays) or [0.0]
    return Cell(
        held.fresh / held.lived,
        held.age / held.lived / DAY,
        held.visits,
        time.process_time() - started,
        sum(delays) / len(delays) / DAY,
        delays[len(delays) * 9 // 10] / DAY,
    )


class Timeline:
    """Events in order of time."""

    def __init__(self, events: Iterable[tuple[float, int]]) -> None:
        self.events = sorted(events)
        self.place = 0

    def until(self, now: float) -> list[tuple[float, int]]:
        """Return the events since the last call."""
        start = self.place
        while self.place < len(self.events) and self.events[self.place][0] <= now:
            self.place += 1
        return self.events[start : self.place]
