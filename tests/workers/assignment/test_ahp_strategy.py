"""Choosing among live migrants."""

import pytest

from sanderling.errors import UsageError
from sanderling.models import Heartbeat, Host
from sanderling.workers.assignment.ahp import parse_matrix
from sanderling.workers.assignment.ahp_strategy import MAX_CANDIDATES, AhpStrategy
from sanderling.workers.assignment.criteria import CPU_CRITERION, DEFAULT_CRITERIA, WorkerState

HOST = Host("http://a.example")


def standing(name: str, load: int = 0, speed: float = 1e6, room: int = 10, affinity: float = 0.0) -> WorkerState:
    return WorkerState(
        Heartbeat(worker=name, sent_at=0.0, pending_tasks=load, bytes_per_second=speed, free_disk_bytes=10**9),
        room,
        affinity,
    )


def test_the_faster_of_two_equals_goes() -> None:
    assert AhpStrategy()([standing("slow"), standing("fast", speed=5e6)], HOST) == "fast"


def test_the_less_loaded_of_two_equals_goes() -> None:
    assert AhpStrategy()([standing("busy", load=50), standing("idle")], HOST) == "idle"


def test_a_migrant_that_holds_the_parents_goes() -> None:
    assert AhpStrategy()([standing("stranger"), standing("friend", affinity=3.0)], HOST) == "friend"


def test_a_tie_goes_to_the_smallest_id() -> None:
    assert AhpStrategy()([standing("b"), standing("a"), standing("c")], HOST) == "a"


def test_the_verdict_says_why() -> None:
    verdict = AhpStrategy().score_workers([standing("slow"), standing("fast", speed=3e6)], HOST)
    assert verdict.workers == ("fast", "slow")
    assert sum(verdict.scores) == pytest.approx(1)
    assert verdict.criterion_weights[3] == pytest.approx((0.75, 0.25))


def test_of_many_migrants_only_the_least_loaded_compete() -> None:
    crowd = [standing(f"m{n:03}", load=n) for n in range(100)]
    assert len(AhpStrategy().score_workers(crowd, HOST).workers) == MAX_CANDIDATES


def test_criteria_are_configuration() -> None:
    scheduler = AhpStrategy((DEFAULT_CRITERIA[0], CPU_CRITERION), parse_matrix("1 1/9\n9 1"))
    calm = WorkerState(Heartbeat(worker="calm", sent_at=0.0, pending_tasks=5, cpu_share=0.1))
    hot = WorkerState(Heartbeat(worker="hot", sent_at=0.0, pending_tasks=1, cpu_share=0.95))
    assert scheduler([calm, hot], HOST) == "calm"


def test_a_matrix_of_the_wrong_size_is_refused_at_once() -> None:
    with pytest.raises(UsageError, match="7 criteria need a matrix of 7 rows"):
        AhpStrategy(DEFAULT_CRITERIA, parse_matrix("1 2\n1/2 1"))
