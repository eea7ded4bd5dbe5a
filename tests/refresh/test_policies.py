import pytest

from sanderling.refresh.plans import LONGEST, SHORTEST, Facts, Policy
from sanderling.refresh.policies import POLICIES

DAY = 86_400.0


def year(policy: Policy, every: float, url: int = 1) -> int:
    """How often a page that changes every so many days (0: never) is visited in a year."""
    now, previous, visits, seen, state = 0.5 * DAY, 0.0, 0, 0, b""
    while now < 365 * DAY:
        changes = int(now / (every * DAY)) if every else 0
        facts = Facts(url, "a.org", f"/d/p{url}.html", now, previous, changes > seen, visits + 1, changes, state=state)
        (plan,) = policy.plan([facts])
        assert now + SHORTEST <= plan.due_at <= now + 366 * DAY
        assert plan.why
        seen, state, previous, now, visits = changes, plan.state, now, plan.due_at, visits + 1
    return visits


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_every_policy_lives_through_a_year(name: str) -> None:
    assert year(POLICIES[name](), 7) >= 2


@pytest.mark.parametrize("name", ["learned", "self-adjusting", "nutch", "heritrix"])
def test_an_adaptive_policy_visits_lively_pages_more_often_than_quiet_ones(name: str) -> None:
    assert year(POLICIES[name](), 3) > 1.5 * year(POLICIES[name](), 0)


def test_the_learned_policy_neither_starves_nor_hammers() -> None:
    assert 4 <= year(POLICIES["learned"](), 0) <= 40
    assert year(POLICIES["learned"](), 1) <= 400


def test_what_was_learned_survives_a_restart() -> None:
    policy = POLICIES["learned"]()
    year(policy, 3)
    again = POLICIES["learned"]()
    again.load(policy.dump())
    facts = Facts(2, "a.org", "/d/p2.html", 366 * DAY, 0.0, False)
    assert again.plan([facts])[0].due_at == pytest.approx(policy.plan([facts])[0].due_at, rel=1e-3)
    assert LONGEST > SHORTEST


def test_a_clock_that_jumps_back_teaches_nothing_and_breaks_nothing() -> None:
    policy = POLICIES["learned"]()
    (first,) = policy.plan([Facts(1, "a.org", "/x", 10 * DAY, 0.0, False)])
    (back,) = policy.plan([Facts(1, "a.org", "/x", 9 * DAY, 10 * DAY, True, state=first.state)])
    assert back.due_at > 9 * DAY
