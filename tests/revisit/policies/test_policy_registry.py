"""Every policy behind the one seam."""

import pytest

from sanderling.revisit.plan_store import MemoryPlanStore
from sanderling.revisit.planner import MAX_INTERVAL, MIN_INTERVAL, Planner
from sanderling.revisit.policies.learned import format_days
from sanderling.revisit.policies.policy_registry import POLICIES
from sanderling.revisit.visit_history import Observation, decode_history, encode_history

DAY = 86_400.0


def year(name: str, every: float) -> int:
    """How often a page that changes every so many days (0: never) is visited in a year without a budget."""
    planner = Planner(POLICIES[name], MemoryPlanStore())
    row, seen = planner.add_page(1, "http://a.org/d/p.html", 0.5 * DAY), 0
    while row.due_at < 365 * DAY:
        now = row.due_at
        changes = int(now / (every * DAY)) if every else 0
        row = planner.record_visit(row, Observation(now, changes > seen))
        assert now + MIN_INTERVAL <= row.due_at <= now + MAX_INTERVAL
        assert planner.explain_row(row, now).reason
        assert decode_history(encode_history(row.history)) == row.history
        assert len(encode_history(row.history)) < 200
        seen = changes
    return row.history.visits


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_every_policy_lives_through_a_year(name: str) -> None:
    assert year(name, 7) >= 2


@pytest.mark.parametrize("name", ["learned", "self-adjusting", "nutch", "heritrix", "cho", "lambda-crawl"])
def test_an_adaptive_policy_visits_lively_pages_more_often_than_quiet_ones(name: str) -> None:
    assert year(name, 3) > 1.5 * year(name, 0)


def test_the_learned_policy_neither_starves_nor_hammers() -> None:
    assert 4 <= year("learned", 0) <= 40
    assert year("learned", 1) <= 400


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_a_clock_that_jumps_back_teaches_nothing_and_breaks_nothing(name: str) -> None:
    planner = Planner(POLICIES[name], MemoryPlanStore())
    row = planner.add_page(1, "http://a.org/x", 10 * DAY)
    back = planner.record_visit(row, Observation(9 * DAY, True))
    assert 9 * DAY < back.due_at < 400 * DAY
    assert back.history.rate_evidence == b""
    again = planner.record_visit(back, Observation(12 * DAY, False))
    assert again.due_at > 12 * DAY


def test_every_policy_is_named_as_it_is_registered() -> None:
    assert all(policy.name == name and policy.description for name, policy in POLICIES.items())


@pytest.mark.parametrize(
    ("days", "said"), [(0.0, "0 minutes"), (0.0007, "1 minute"), (0.1, "2 hours"), (3.0, "3 days")]
)
def test_a_time_is_said_as_people_say_it(days: float, said: str) -> None:
    assert format_days(days) == said
