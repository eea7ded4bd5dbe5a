"""Every rival behind the one seam."""

from collections import Counter

import pytest

from sanderling.errors import UsageError
from sanderling.models import Host, Vitals
from sanderling.workers.assignment.criteria import Standing
from sanderling.workers.assignment.strategies import CHOOSERS, ConsistentHash, chooser, host_hash, host_key, task_weight

HOSTS = [Host(f"http://host{number}.example") for number in range(400)]


def crew(*names: str) -> list[Standing]:
    return [Standing(Vitals(migrant=name, at=0.0)) for name in names]


@pytest.mark.parametrize("name", CHOOSERS)
def test_every_chooser_gives_one_of_the_migrants(name: str) -> None:
    choose = chooser(name)
    migrants = crew("a", "b", "c")
    assert {choose(migrants, host) for host in HOSTS} <= {"a", "b", "c"}
    assert choose(migrants[:1], HOSTS[0]) == "a"


def test_an_unknown_name_is_answered_with_those_that_exist() -> None:
    with pytest.raises(UsageError, match="choose one of ahp, round-robin"):
        chooser("lottery")


def test_round_robin_takes_turns_even_when_a_migrant_leaves() -> None:
    choose = chooser("round-robin")
    assert [choose(crew("a", "b", "c"), HOSTS[0]) for _ in range(4)] == ["a", "b", "c", "a"]
    assert [choose(crew("a", "c"), HOSTS[0]) for _ in range(2)] == ["c", "a"]


def test_wans_key_is_the_sum_of_characters() -> None:
    assert host_key("www.ymcaust.ac.in", 4) == sum(map(ord, "www.ymcaust.ac.in")) % 4
    assert host_hash(crew("a", "b"), HOSTS[0]) == host_hash(crew("b", "a"), HOSTS[0])


def test_on_the_ring_only_the_hosts_of_the_one_that_left_move() -> None:
    choose = ConsistentHash()
    before = {host: choose(crew("a", "b", "c", "d"), host) for host in HOSTS}
    after = {host: choose(crew("a", "b", "d"), host) for host in HOSTS}
    assert all(after[host] == owner for host, owner in before.items() if owner != "c")
    assert min(Counter(before.values()).values()) > 40


def test_the_weight_of_ge_and_ding() -> None:
    assert task_weight([2, 2, 2, 2], 0) == 0.5
    assert task_weight([2, 2, 2, 2], 3) == 0.125


def test_weighted_round_robin_deals_in_proportion_and_starves_nobody() -> None:
    choose = chooser("wrr")
    migrants = [
        Standing(Vitals(migrant=name, at=0.0), recent_seconds=(seconds,))
        for name, seconds in (("fast", 1.0), ("half", 2.0), ("slow", 1000.0))
    ]
    dealt = Counter(choose(migrants, HOSTS[0]) for _ in range(310))
    assert dealt == {"fast": 200, "half": 100, "slow": 10}


def test_fuzzy_clusters_keep_a_host_with_one_migrant_once_fitted() -> None:
    choose = chooser("fuzzy")
    migrants = crew("a", "b", "c", "d")
    for host in HOSTS:
        choose(migrants, host)
    assert [choose(migrants, host) for host in HOSTS] == [choose(migrants, host) for host in HOSTS]
    assert len({choose(migrants, host) for host in HOSTS}) > 1
