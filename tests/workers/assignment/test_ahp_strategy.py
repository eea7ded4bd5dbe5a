"""Choice of workers by AHP."""

import pytest

from sanderling.errors import UsageError
from sanderling.models import Heartbeat, Host
from sanderling.workers.assignment.ahp import parse_matrix
from sanderling.workers.assignment.ahp_strategy import MAX_CANDIDATES, AhpStrategy
from sanderling.workers.assignment.criteria import CPU_CRITERION, DEFAULT_CRITERIA, WorkerState

HOST = Host("http://a.example")


def build_state(
    name: str, load: int = 0, speed: float = 1e6, free_slots: int = 10, affinity: float = 0.0
) -> WorkerState:
    return WorkerState(
        Heartbeat(worker=name, sent_at=0.0, pending_tasks=load, bytes_per_second=speed, free_disk_bytes=10**9),
        free_slots,
        affinity,
    )


def test_faster_worker_is_chosen() -> None:
    assert AhpStrategy()([build_state("slow"), build_state("fast", speed=5e6)], HOST) == "fast"


def test_less_loaded_worker_is_chosen() -> None:
    assert AhpStrategy()([build_state("busy", load=50), build_state("idle")], HOST) == "idle"


def test_worker_with_affinity_is_chosen() -> None:
    assert AhpStrategy()([build_state("new"), build_state("known", affinity=3.0)], HOST) == "known"


def test_tie_is_won_by_the_smallest_id() -> None:
    assert AhpStrategy()([build_state("b"), build_state("a"), build_state("c")], HOST) == "a"


def test_choice_contains_its_scores() -> None:
    choice = AhpStrategy().score_workers([build_state("slow"), build_state("fast", speed=3e6)], HOST)
    assert choice.workers == ("fast", "slow")
    assert sum(choice.scores) == pytest.approx(1)
    assert choice.criterion_weights[3] == pytest.approx((0.75, 0.25))


def test_least_loaded_workers_are_candidates() -> None:
    states = [build_state(f"m{n:03}", load=n) for n in range(100)]
    assert len(AhpStrategy().score_workers(states, HOST).workers) == MAX_CANDIDATES


def test_criteria_can_be_configured() -> None:
    strategy = AhpStrategy((DEFAULT_CRITERIA[0], CPU_CRITERION), parse_matrix("1 1/9\n9 1"))
    calm = WorkerState(Heartbeat(worker="calm", sent_at=0.0, pending_tasks=5, cpu_share=0.1))
    hot = WorkerState(Heartbeat(worker="hot", sent_at=0.0, pending_tasks=1, cpu_share=0.95))
    assert strategy([calm, hot], HOST) == "calm"


def test_matrix_of_the_wrong_size_is_refused() -> None:
    with pytest.raises(UsageError, match="7 criteria need a matrix of 7 rows"):
        AhpStrategy(DEFAULT_CRITERIA, parse_matrix("1 2\n1/2 1"))
