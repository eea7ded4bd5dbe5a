"""Choosing among live migrants."""

import pytest

from sanderling.errors import UsageError
from sanderling.models import Host, Vitals
from sanderling.workers.assignment.ahp import read
from sanderling.workers.assignment.ahp_strategy import SHORTLIST, Ahp
from sanderling.workers.assignment.criteria import CPU, CRITERIA, Standing

HOST = Host("http://a.example")


def standing(name: str, load: int = 0, speed: float = 1e6, room: int = 10, affinity: float = 0.0) -> Standing:
    return Standing(Vitals(migrant=name, at=0.0, load=load, bytes_per_second=speed, disk_left=10**9), room, affinity)


def test_the_faster_of_two_equals_goes() -> None:
    assert Ahp()([standing("slow"), standing("fast", speed=5e6)], HOST) == "fast"


def test_the_less_loaded_of_two_equals_goes() -> None:
    assert Ahp()([standing("busy", load=50), standing("idle")], HOST) == "idle"


def test_a_migrant_that_holds_the_parents_goes() -> None:
    assert Ahp()([standing("stranger"), standing("friend", affinity=3.0)], HOST) == "friend"


def test_a_tie_goes_to_the_smallest_id() -> None:
    assert Ahp()([standing("b"), standing("a"), standing("c")], HOST) == "a"


def test_the_verdict_says_why() -> None:
    verdict = Ahp().judge([standing("slow"), standing("fast", speed=3e6)], HOST)
    assert verdict.migrants == ("fast", "slow")
    assert sum(verdict.scores) == pytest.approx(1)
    assert verdict.parts[3] == pytest.approx((0.75, 0.25))


def test_of_many_migrants_only_the_least_loaded_compete() -> None:
    crowd = [standing(f"m{n:03}", load=n) for n in range(100)]
    assert len(Ahp().judge(crowd, HOST).migrants) == SHORTLIST


def test_criteria_are_configuration() -> None:
    scheduler = Ahp((CRITERIA[0], CPU), read("1 1/9\n9 1"))
    calm = Standing(Vitals(migrant="calm", at=0.0, load=5, cpu_share=0.1))
    hot = Standing(Vitals(migrant="hot", at=0.0, load=1, cpu_share=0.95))
    assert scheduler([calm, hot], HOST) == "calm"


def test_a_matrix_of_the_wrong_size_is_refused_at_once() -> None:
    with pytest.raises(UsageError, match="7 criteria need a matrix of 7 rows"):
        Ahp(CRITERIA, read("1 2\n1/2 1"))
