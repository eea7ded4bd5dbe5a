"""The default policy on synthetic sites, compared with the fixed policy and an oracle."""

import random
import re

import pytest
from benchmarks.lib.memory_plan_store import MemoryPlanStore
from benchmarks.revisit.histories import DAY, Life, Trace
from benchmarks.revisit.synthetic_histories import DAYS, START, history
from benchmarks.revisit.trace_replay import Crawler, Oracle, replay
from hypothesis import given
from hypothesis import strategies as st

from sanderling.revisit.intervals import CheckInterval, RevisitBudget
from sanderling.revisit.planner import Planner
from sanderling.revisit.policies import DEFAULT_POLICY, POLICIES
from sanderling.revisit.visit_history import Observation

PAGES = 72
MIN_GAP_CLOSED = {
    "imagined-slow": 0.25,
    "imagined-folders": 0.4,
    "imagined-batches": 0.7,
}  # share of the gap to the oracle


def trace(kind: str) -> Trace:
    end = START + DAYS * DAY
    rows = [history(kind, number, seed=7) for number in range(PAGES)]
    lives = [
        Life(str(row["page"]), START, end, [START, *row["changes"]], row["ver"])  # type: ignore[misc, arg-type]
        for row in rows
    ]
    return Trace(kind, START, end, lives)


@pytest.mark.parametrize("kind", sorted(MIN_GAP_CLOSED))
def test_default_policy_beats_fixed_policy_on_synthetic_sites(kind: str) -> None:
    pages = trace(kind)
    uniform, learned = (replay(pages, 30.0, Crawler(POLICIES[name], pages, 30.0)) for name in ("fixed", DEFAULT_POLICY))
    oracle = replay(pages, 30.0, Oracle(pages))
    assert learned.visits == uniform.visits == oracle.visits
    assert learned.freshness - uniform.freshness > MIN_GAP_CLOSED[kind] * (oracle.freshness - uniform.freshness)
    assert learned.age < uniform.age


def plan_pattern(bits: list[bool], gaps: list[float], eager: str = "normal") -> float:
    """Return the planned days to the next visit after visits with these results and gaps, without a budget."""
    planner = Planner(
        POLICIES[DEFAULT_POLICY], MemoryPlanStore(), find_interval=lambda _: CheckInterval(eagerness=eager)
    )
    now = 1_700_000_000.0
    row = planner.add_page(1, "http://a.test/p", now)
    for has_changed, gap in zip(bits, gaps, strict=True):
        now += gap * DAY
        row = planner.record_visit(row, Observation(now, has_changed))
    return (row.due_at - now) / DAY


@given(st.lists(st.tuples(st.booleans(), st.floats(0.05, 20)), min_size=1, max_size=12), st.data())
def test_more_changes_found_mean_an_earlier_next_visit(visits: list[tuple[bool, float]], data: st.DataObject) -> None:
    bits, gaps = [bit for bit, _ in visits], [gap for _, gap in visits]
    where = data.draw(st.integers(0, len(bits) - 1))
    fewer, more = ([*bits[:where], bit, *bits[where + 1 :]] for bit in (False, True))
    assert plan_pattern(more, gaps) <= plan_pattern(fewer, gaps) * 1.02  # the solver stops at 2 %


def test_eager_checks_are_sooner() -> None:
    fresh, normal, thrifty = (
        plan_pattern([False, True] * 4, [2.0] * 8, eager) for eager in ("fresh", "normal", "thrifty")
    )
    assert fresh < 0.7 * normal < 0.7 * 0.7 * thrifty


def test_page_with_random_hourly_changes_is_checked_about_hourly() -> None:
    planner, chance = Planner(POLICIES[DEFAULT_POLICY], MemoryPlanStore()), random.Random(3)
    row = planner.add_page(1, "http://a.test/p", 0.5 * DAY)
    gaps = []
    for _ in range(120):
        gaps.append((row.due_at - row.history.last_visit) / 3600)
        has_changed = chance.expovariate(1.0) < gaps[-1]
        row = planner.record_visit(row, Observation(row.due_at, has_changed))
    assert 0.99 < sum(gaps[30:]) / 90 < 2


def test_page_that_changes_at_every_visit_is_soon_checked_hourly() -> None:
    planner = Planner(POLICIES[DEFAULT_POLICY], MemoryPlanStore())
    row = planner.add_page(1, "http://a.test/p", 0.5 * DAY)
    gaps = []
    for _ in range(60):
        gaps.append((row.due_at - row.history.last_visit) / 3600)
        row = planner.record_visit(row, Observation(row.due_at, has_changed=True))
    assert gaps[0] <= 6
    assert max(gaps[10:]) < 4
    assert max(gaps[40:]) < 1.5


def test_unchanged_new_page_is_checked_after_hours_then_days() -> None:
    planner = Planner(POLICIES[DEFAULT_POLICY], MemoryPlanStore())
    row = planner.add_page(1, "http://a.test/p", 0.5 * DAY)
    gaps = []
    for _ in range(4):
        gaps.append((row.due_at - row.history.last_visit) / DAY)
        row = planner.record_visit(row, Observation(row.due_at))
    assert gaps[0] < 0.3
    assert gaps[0] < gaps[1] < 1 < gaps[2] < 4


def test_page_given_up_under_a_budget_is_explained() -> None:
    planner = Planner(POLICIES[DEFAULT_POLICY], store := MemoryPlanStore(), RevisitBudget(1 / DAY))
    store.update_rows([planner.add_page(n, f"http://a.test/{n}", DAY) for n in range(10)])
    now = DAY
    for _ in range(60):
        now += DAY
        for row in planner.select_due(now, 1, include_early=True):
            store.update_rows([planner.record_visit(row, Observation(now, row.id < 5))])
        planner.replan_oldest(now, 1)
    assert store.rows[0].history.changes >= 2
    reason = planner.explain_row(store.rows[0], now).reason
    found = re.search(
        r"the budget of 1 requests a day allows a check about every .*, (\S+) requests a day would", reason
    )
    assert found
    assert 1 < float(found[1]) < 100
    assert "would follow" not in planner.explain_row(store.rows[9], now).reason


def test_bound_that_decides_is_explained() -> None:
    def explain(interval: CheckInterval) -> str:
        planner = Planner(POLICIES[DEFAULT_POLICY], MemoryPlanStore(), find_interval=lambda _: interval)
        row = planner.record_visit(planner.add_page(1, "http://a.test/p", DAY), Observation(40 * DAY))
        return planner.explain_row(row, 40 * DAY).reason

    assert explain(CheckInterval(every=2 * DAY)).endswith("set to every 2 days")
    assert "the shortest interval is 200 days (--min-interval)" in explain(
        CheckInterval(shortest=200 * DAY, longest=300 * DAY)
    )
    assert "the longest interval is 24 hours (--max-interval)" in explain(CheckInterval(longest=DAY))
    assert "interval" not in explain(CheckInterval())
