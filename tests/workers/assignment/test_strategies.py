"""Every rival behind the one seam."""

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


def crew(*names: str) -> list[WorkerState]:
    return [WorkerState(Heartbeat(worker=name, sent_at=0.0)) for name in names]


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_chooser_gives_one_of_the_migrants(name: str) -> None:
    choose = build_named_strategy(name)
    migrants = crew("a", "b", "c")
    assert {choose(migrants, host) for host in HOSTS} <= {"a", "b", "c"}
    assert choose(migrants[:1], HOSTS[0]) == "a"


def test_an_unknown_name_is_answered_with_those_that_exist() -> None:
    with pytest.raises(UsageError, match="choose one of ahp, round-robin"):
        build_named_strategy("lottery")


def test_round_robin_takes_turns_even_when_a_migrant_leaves() -> None:
    choose = build_named_strategy("round-robin")
    assert [choose(crew("a", "b", "c"), HOSTS[0]) for _ in range(4)] == ["a", "b", "c", "a"]
    assert [choose(crew("a", "c"), HOSTS[0]) for _ in range(2)] == ["c", "a"]


def test_wans_key_is_the_sum_of_characters() -> None:
    assert hash_host("www.ymcaust.ac.in", 4) == sum(map(ord, "www.ymcaust.ac.in")) % 4
    assert choose_by_host_hash(crew("a", "b"), HOSTS[0]) == choose_by_host_hash(crew("b", "a"), HOSTS[0])


def test_on_the_ring_only_the_hosts_of_the_one_that_left_move() -> None:
    choose = ConsistentHashStrategy()
    before = {host: choose(crew("a", "b", "c", "d"), host) for host in HOSTS}
    after = {host: choose(crew("a", "b", "d"), host) for host in HOSTS}
    assert all(after[host] == owner for host, owner in before.items() if owner != "c")
    assert min(Counter(before.values()).values()) > 40


def test_the_weight_of_ge_and_ding() -> None:
    assert compute_task_weight([2, 2, 2, 2], 0) == 0.5
    assert compute_task_weight([2, 2, 2, 2], 3) == 0.125


def test_weighted_round_robin_deals_in_proportion_and_starves_nobody() -> None:
    choose = build_named_strategy("wrr")
    migrants = [
        WorkerState(Heartbeat(worker=name, sent_at=0.0), recent_seconds=(seconds,))
        for name, seconds in (("fast", 1.0), ("half", 2.0), ("slow", 1000.0))
    ]
    dealt = Counter(choose(migrants, HOSTS[0]) for _ in range(310))
    assert dealt == {"fast": 200, "half": 100, "slow": 10}


def test_fuzzy_clusters_keep_a_host_with_one_migrant_once_fitted() -> None:
    choose = build_named_strategy("fuzzy")
    migrants = crew("a", "b", "c", "d")
    for host in HOSTS:
        choose(migrants, host)
    assert [choose(migrants, host) for host in HOSTS] == [choose(migrants, host) for host in HOSTS]
    assert len({choose(migrants, host) for host in HOSTS}) > 1
