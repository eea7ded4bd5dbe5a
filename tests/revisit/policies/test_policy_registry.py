"""Every policy behind the one seam."""

import pytest

from sanderling.revisit.plan_store import MemoryShelf
from sanderling.revisit.planner import LATEST, SOONEST, Planner
from sanderling.revisit.policies.learned import in_words
from sanderling.revisit.policies.policy_registry import POLICIES
from sanderling.revisit.visit_history import Look, decode, encode

DAY = 86_400.0


def year(name: str, every: float) -> int:
    """How often a page that changes every so many days (0: never) is visited in a year without a budget."""
    planner = Planner(POLICIES[name], MemoryShelf())
    row, seen = planner.enter(1, "http://a.org/d/p.html", 0.5 * DAY), 0
    while row.due_at < 365 * DAY:
        now = row.due_at
        changes = int(now / (every * DAY)) if every else 0
        row = planner.seen(row, Look(now, changes > seen))
        assert now + SOONEST <= row.due_at <= now + LATEST
        assert planner.explain(row, now).why
        assert decode(encode(row.history)) == row.history
        assert len(encode(row.history)) < 200
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
    planner = Planner(POLICIES[name], MemoryShelf())
    row = planner.enter(1, "http://a.org/x", 10 * DAY)
    back = planner.seen(row, Look(9 * DAY, True))
    assert 9 * DAY < back.due_at < 400 * DAY
    assert back.history.belief == b""
    again = planner.seen(back, Look(12 * DAY, False))
    assert again.due_at > 12 * DAY


def test_every_policy_is_named_as_it_is_registered() -> None:
    assert all(policy.name == name and policy.tells for name, policy in POLICIES.items())


@pytest.mark.parametrize(
    ("days", "said"), [(0.0, "0 minutes"), (0.0007, "1 minute"), (0.1, "2 hours"), (3.0, "3 days")]
)
def test_a_time_is_said_as_people_say_it(days: float, said: str) -> None:
    assert in_words(days) == said
