"""Assignment strategies built from settings; invalid settings are refused."""

import pytest

from sanderling.config.settings import AssignmentSettings
from sanderling.errors import UsageError
from sanderling.workers.assignment.ahp_strategy import AhpStrategy
from sanderling.workers.assignment.strategy_registry import build_ahp_strategy, build_strategy, build_worker_assignment


def test_default_weights_are_those_of_the_thesis() -> None:
    strategy = build_ahp_strategy(AssignmentSettings())
    assert [round(weight, 4) for weight in strategy.weights] == [0.0735, 0.2730, 0.3732, 0.0555, 0.1164, 0.0616, 0.0468]


def test_subset_of_criteria_keeps_the_default_judgments() -> None:
    strategy = build_ahp_strategy(AssignmentSettings(criteria=("load", "latency")))
    assert [round(weight, 3) for weight in strategy.weights] == [0.75, 0.25]


def test_additional_criterion_needs_judgments() -> None:
    with pytest.raises(UsageError, match="cpu must be compared"):
        build_ahp_strategy(AssignmentSettings(criteria=("load", "cpu")))
    strategy = build_ahp_strategy(
        AssignmentSettings(criteria=("load", "cpu", "memory"), judgments=("1 2 4", "1/2 1 2", "1/4 1/2 1"))
    )
    assert [round(weight, 3) for weight in strategy.weights] == [0.571, 0.286, 0.143]


def test_inconsistent_matrix_is_refused_with_the_worst_pair() -> None:
    rows = ("1 9 1/9", "1/9 1 9", "9 1/9 1")
    with pytest.raises(UsageError, match=r"contradict each other .* look first at .* over "):
        build_ahp_strategy(AssignmentSettings(criteria=("load", "cpu", "memory"), judgments=rows))


def test_matrix_must_be_reciprocal() -> None:
    with pytest.raises(UsageError, match=r"load over latency is 2, but latency over load is 2"):
        build_ahp_strategy(AssignmentSettings(criteria=("load", "latency"), judgments=("1 2", "2 1")))


def test_unknown_criterion_is_reported_with_a_suggestion() -> None:
    with pytest.raises(UsageError, match="did you mean latency"):
        build_ahp_strategy(AssignmentSettings(criteria=("latenzy",)))


def test_hash_strategies_bind_hosts_to_workers() -> None:
    assert build_worker_assignment(AssignmentSettings(schedule="hash")).is_host_bound
    assert not build_worker_assignment(AssignmentSettings(schedule="wrr")).is_host_bound
    assert isinstance(build_strategy(AssignmentSettings()), AhpStrategy)
