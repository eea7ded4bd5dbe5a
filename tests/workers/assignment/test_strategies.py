"""All assignment strategies behind the same interface."""

from collections import Counter

import pytest

from sanderling.errors import UsageError
from sanderling.models import Heartbeat, Host
from sanderling.workers.assignment.criteria import WorkerState
from sanderling.workers.assignment.strategies import (
    STRATEGIES,
    ConsistentHashStrategy,
    build_named_strategy,
    choose_by_host_hash,
    compute_task_weight,
    hash_host,
)

HOSTS = [Host(f"http://host{number}.example") for number in range(400)]


def build_states(*names: str) -> list[WorkerState]:
    return [WorkerState(Heartbeat(worker=name, sent_at=0.0)) for name in names]


@pytest.mark.parametrize("name", STRATEGIES)
def test_strategy_returns_a_worker(name: str) -> None:
    choose = build_named_strategy(name)
    states = build_states("a", "b", "c")
    assert {choose(states, host) for host in HOSTS} <= {"a", "b", "c"}
    assert choose(states[:1], HOSTS[0]) == "a"


def test_unknown_strategy_is_reported_with_all_names() -> None:
    with pytest.raises(UsageError, match="choose one of ahp, round-robin"):
        build_named_strategy("lottery")


def test_round_robin_continues_when_a_worker_leaves() -> None:
    choose = build_named_strategy("round-robin")
    assert [choose(build_states("a", "b", "c"), HOSTS[0]) for _ in range(4)] == ["a", "b", "c", "a"]
    assert [choose(build_states("a", "c"), HOSTS[0]) for _ in range(2)] == ["c", "a"]


def test_host_hash_is_the_sum_of_characters() -> None:
    assert hash_host("www.ymcaust.ac.in", 4) == sum(map(ord, "www.ymcaust.ac.in")) % 4
    assert choose_by_host_hash(build_states("a", "b"), HOSTS[0]) == choose_by_host_hash(
        build_states("b", "a"), HOSTS[0]
    )


def test_consistent_hash_moves_only_hosts_of_the_removed_worker() -> None:
    choose = ConsistentHashStrategy()
    before = {host: choose(build_states("a", "b", "c", "d"), host) for host in HOSTS}
    after = {host: choose(build_states("a", "b", "d"), host) for host in HOSTS}
    assert all(after[host] == owner for host, owner in before.items() if owner != "c")
    assert min(Counter(before.values()).values()) > 40


def test_task_weight() -> None:
    assert compute_task_weight([2, 2, 2, 2], 0) == 0.5
    assert compute_task_weight([2, 2, 2, 2], 3) == 0.125


def test_weighted_round_robin_is_proportional_with_a_minimum_share() -> None:
    choose = build_named_strategy("wrr")
    states = [
        WorkerState(Heartbeat(worker=name, sent_at=0.0), recent_seconds=(seconds,))
        for name, seconds in (("fast", 1.0), ("half", 2.0), ("slow", 1000.0))
    ]
    counts = Counter(choose(states, HOSTS[0]) for _ in range(310))
    assert counts == {"fast": 200, "half": 100, "slow": 10}


def test_fuzzy_clusters_are_stable_once_fitted() -> None:
    choose = build_named_strategy("fuzzy")
    states = build_states("a", "b", "c", "d")
    for host in HOSTS:
        choose(states, host)
    assert [choose(states, host) for host in HOSTS] == [choose(states, host) for host in HOSTS]
    assert len({choose(states, host) for host in HOSTS}) > 1
