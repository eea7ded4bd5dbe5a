"""SAR section IV, Figures 4-6: does the refresh time adjust itself, and does that pay? On pages that change at random.

The paper shows curves without numbers. Here pages change by Poisson processes of very different rates; the production
formula decides when to come back, and a fixed interval with the same number of visits stands beside it.
"""

import math
from dataclasses import dataclass
from random import Random

from experiments.frame import Figure, Series, Table, measured
from sanderling.revisit.policies.classic_policies import compute_refresh_time
from sanderling.revisit.visit_history import RECENT_VISITS

TITLE = "SAR section IV: self adjusting refresh time against a fixed interval (measured, simulated clock)"

PAGES, DAYS = 400, 365.0
START, SHORTEST, LONGEST = 7.0, 0.25, 60.0  # days
SEED = 2008


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the copies fared: mean share of time a copy was up to date, visits, visits that found nothing."""

    freshness: float
    visits: int
    wasted: int


def histories(draw: Random) -> list[list[float]]:
    """Draw change times for pages that change from twice a day to twice a year."""
    found = []
    for _ in range(PAGES):
        rate = math.exp(draw.uniform(math.log(2 / 365), math.log(2)))
        at, times = 0.0, []
        while (at := at + draw.expovariate(rate)) < DAYS:
            times.append(at)
        found.append(times)
    return found


def follow(changes: list[float], adjust: bool, interval: float) -> tuple[float, int, int]:
    """Visit one page for a year: time its copy was up to date, visits, visits in vain."""
    fresh, visits, wasted = 0.0, 0, 0
    last, seen = 0.0, 0
    outcomes: list[bool] = []
    while last < DAYS:
        until = min(last + interval, DAYS)
        stale_from = next((at for at in changes[seen:] if at > last), until)
        fresh += min(stale_from, until) - last
        if until == DAYS:
            break
        now_seen = sum(at <= until for at in changes)
        changed = now_seen > seen
        visits, wasted, seen, last = visits + 1, wasted + (not changed), now_seen, until
        outcomes = [*outcomes, changed][-RECENT_VISITS:]
        if adjust:
            interval = compute_refresh_time(interval, sum(outcomes) / len(outcomes), floor=SHORTEST, ceiling=LONGEST)
    return fresh / DAYS, visits, wasted


def run(pages: list[list[float]], adjust: bool, interval: float) -> Outcome:
    """Visit all pages."""
    followed = [follow(changes, adjust, interval) for changes in pages]
    return Outcome(
        sum(f for f, _, _ in followed) / PAGES, sum(v for _, v, _ in followed), sum(w for _, _, w in followed)
    )


def table() -> Table:
    """Compare at equal start, and at equal number of visits."""
    pages = histories(Random(SEED))
    ours, weekly = run(pages, True, START), run(pages, False, START)
    equal = run(pages, False, DAYS * PAGES / ours.visits)
    rows = (
        measured("visits in vain, share, self adjusting", "falls", None, ours.wasted / ours.visits, 0.46, 0.51),
        measured("visits in vain, share, weekly", None, None, weekly.wasted / weekly.visits, 0.40, 0.45),
        measured("freshness, self adjusting", "rises", None, ours.freshness, 0.63, 0.67),
        measured("freshness, weekly", None, None, weekly.freshness, 0.56, 0.60),
        measured("freshness, fixed with as many visits", None, None, equal.freshness, 0.73, 0.77),
        measured("gain over fixed at equal visits", "positive", None, ours.freshness - equal.freshness, -0.12, -0.09),
        measured("visits, self adjusting / weekly", None, None, ours.visits / weekly.visits, 3.0, 3.3),
    )
    figure = Figure(
        "Freshness and visits in vain",
        ("freshness", "in vain"),
        tuple(
            Series(name, (one.freshness, one.wasted / one.visits))
            for name, one in (("weekly", weekly), ("fixed, equal visits", equal), ("self adjusting", ours))
        ),
    )
    return Table(TITLE, rows, f"{PAGES} pages, a year; intervals between {SHORTEST} and {LONGEST} days.", figure)
