"""What tokens tell about an outcome."""

from hypothesis import given
from hypothesis import strategies as st

from sanderling.templates.logistic import Belief


def test_what_is_unknown_has_the_chance_of_the_start() -> None:
    assert abs(Belief(0.05).chance(["never", "seen"]) - 0.05) < 1e-9


def test_the_token_that_decides_is_told_from_those_that_are_always_there() -> None:
    belief = Belief(0.05)
    for n in range(20):
        belief.learn(["page", "depth:2", "kind:book", f"name:{n}"], 1.0)
        belief.learn(["page", "depth:2", "kind:shelf", f"name:{n}"], 0.0)
    assert belief.chance(["page", "depth:2", "kind:book"]) > 0.8
    assert belief.chance(["page", "depth:2", "kind:shelf"]) < 0.2


def test_tokens_that_always_come_together_share_what_they_say() -> None:
    one, three = Belief(0.05), Belief(0.05)
    for _ in range(10):
        one.learn(["a"], 1.0)
        three.learn(["a", "b", "c"], 1.0)
    assert three.weights["a"] < one.weights["a"]


def test_a_belief_can_be_changed() -> None:
    belief = Belief(0.05)
    for _ in range(30):
        belief.learn(["a"], 1.0)
    before = belief.chance(["a"])
    for _ in range(60):
        belief.learn(["a"], 0.0)
    assert belief.chance(["a"]) < 0.3 < before


@given(st.lists(st.tuples(st.lists(st.sampled_from("abcdef"), unique=True), st.floats(0, 1), st.floats(0.01, 5))))
def test_a_chance_stays_between_nothing_and_one(lessons: list[tuple[list[str], float, float]]) -> None:
    belief = Belief(0.05)
    for said, outcome, weight in lessons:
        belief.learn(said, outcome, weight)
        assert 0 < belief.chance(said) < 1
        assert all(variance > 0 for variance in belief.variances.values())
