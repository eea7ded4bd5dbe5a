"""All policies through their common interface."""

import pytest
from benchmarks.lib.memory_plan_store import MemoryPlanStore

from sanderling.revisit.intervals import SHORTEST_INTERVAL
from sanderling.revisit.planner import MAX_INTERVAL, Planner
from sanderling.revisit.policies import POLICIES
from sanderling.revisit.policies.policy import format_days
from sanderling.revisit.visit_history import Observation, decode_history, encode_history

DAY = 86_400.0


def count_visits_in_year(name: str, every: float) -> int:
    """Count the visits in a year of a page that changes every so many days (0: never)."""
    planner = Planner(POLICIES[name], MemoryPlanStore())
    row, seen = planner.add_page(1, "http://a.org/d/p.html", 0.5 * DAY), 0
    while row.due_at < 365 * DAY:
        now = row.due_at
        changes = int(now / (every * DAY)) if every else 0
        row = planner.record_visit(row, Observation(now, changes > seen))
        assert now + SHORTEST_INTERVAL <= row.due_at <= now + MAX_INTERVAL
        assert planner.explain_row(row, now).reason
        assert decode_history(encode_history(row.history)) == row.history
        assert len(encode_history(row.history)) < 200
        seen = changes
    return row.history.visits


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_policy_simulates_a_year(name: str) -> None:
    assert count_visits_in_year(name, 7) >= 2


@pytest.mark.parametrize("name", ["learned", "self-adjusting", "nutch", "heritrix", "cho", "lambda-crawl"])
def test_adaptive_policy_visits_changing_pages_more_often(name: str) -> None:
    assert count_visits_in_year(name, 3) > 1.5 * count_visits_in_year(name, 0)


def test_learned_policy_visit_counts_are_bounded() -> None:
    assert 4 <= count_visits_in_year("learned", 0) <= 50
    assert 300 <= count_visits_in_year("learned", 1) <= 1000


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_policy_ignores_clock_set_back(name: str) -> None:
    planner = Planner(POLICIES[name], MemoryPlanStore())
    row = planner.add_page(1, "http://a.org/x", 10 * DAY)
    back = planner.record_visit(row, Observation(9 * DAY, True))
    assert 9 * DAY < back.due_at < 400 * DAY
    assert back.history.exposure == 0
    again = planner.record_visit(back, Observation(12 * DAY, False))
    assert again.due_at > 12 * DAY


def test_policy_names_match_registry() -> None:
    assert all(policy.name == name and policy.description for name, policy in POLICIES.items())


@pytest.mark.parametrize(
    ("days", "text"), [(0.0, "0 minutes"), (0.0007, "1 minute"), (0.1, "2 hours"), (3.0, "3 days")]
)
def test_days_are_formatted(days: float, text: str) -> None:
    assert format_days(days) == text
