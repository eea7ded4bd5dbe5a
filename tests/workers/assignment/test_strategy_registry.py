"""Criteria and judgements are configuration; what contradicts itself is refused by name."""

import pytest

from sanderling.config.settings import AssignmentSettings
from sanderling.errors import UsageError
from sanderling.workers.assignment.ahp_strategy import AhpStrategy
from sanderling.workers.assignment.strategy_registry import build_ahp_strategy, build_strategy, build_worker_assignment


def test_without_settings_the_criteria_are_those_of_the_thesis() -> None:
    chosen = build_ahp_strategy(AssignmentSettings())
    assert [round(weight, 4) for weight in chosen.weights] == [0.0735, 0.2730, 0.3732, 0.0555, 0.1164, 0.0616, 0.0468]


def test_some_of_its_criteria_keep_its_judgements_among_each_other() -> None:
    chosen = build_ahp_strategy(AssignmentSettings(criteria=("load", "latency")))
    assert [round(weight, 3) for weight in chosen.weights] == [0.75, 0.25]


def test_a_new_criterion_needs_judgements() -> None:
    with pytest.raises(UsageError, match="cpu must be compared"):
        build_ahp_strategy(AssignmentSettings(criteria=("load", "cpu")))
    chosen = build_ahp_strategy(
        AssignmentSettings(criteria=("load", "cpu", "memory"), judgments=("1 2 4", "1/2 1 2", "1/4 1/2 1"))
    )
    assert [round(weight, 3) for weight in chosen.weights] == [0.571, 0.286, 0.143]


def test_an_inconsistent_matrix_is_refused_with_the_worst_pair_named() -> None:
    rows = ("1 9 1/9", "1/9 1 9", "9 1/9 1")
    with pytest.raises(UsageError, match=r"contradict each other .* look first at .* over "):
        build_ahp_strategy(AssignmentSettings(criteria=("load", "cpu", "memory"), judgments=rows))


def test_a_matrix_that_is_not_reciprocal_is_refused_with_the_pair_named() -> None:
    with pytest.raises(UsageError, match=r"load over latency is 2, but latency over load is 2"):
        build_ahp_strategy(AssignmentSettings(criteria=("load", "latency"), judgments=("1 2", "2 1")))


def test_an_unknown_criterion_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean latency"):
        build_ahp_strategy(AssignmentSettings(criteria=("latenzy",)))


def test_hashing_makes_hosts_owned() -> None:
    assert build_worker_assignment(AssignmentSettings(schedule="hash")).is_host_bound
    assert not build_worker_assignment(AssignmentSettings(schedule="wrr")).is_host_bound
    assert isinstance(build_strategy(AssignmentSettings()), AhpStrategy)
