"""The cache of known URLs with occurrence counts."""

import random
from collections import OrderedDict

import pytest

from sanderling.dedupe.cache import OccurrenceCache, Policy


def test_lfu_drops_the_rarest_and_of_those_the_oldest() -> None:
    cache = OccurrenceCache(3)
    for url in "abc":
        cache.keep(url)
    cache.look("a")
    cache.look("c")
    cache.keep("d")
    assert "b" not in cache
    cache.keep("e")  # d was met once like b before it; a and c twice
    assert "d" not in cache
    assert cache.counts == {"a": 2, "c": 2, "e": 1}


def test_lru_drops_the_one_seen_longest_ago_however_often_it_was_met() -> None:
    cache = OccurrenceCache(2, Policy.LRU)
    cache.keep("a")
    for _ in range(5):
        cache.look("a")
    cache.keep("b")
    cache.keep("c")
    assert "a" not in cache
    assert cache.evictions == 1


def test_the_hit_ratio_counts_look_ups() -> None:
    cache = OccurrenceCache(2)
    assert cache.hit_ratio == 0
    assert not cache.look("a")
    cache.keep("a")
    assert cache.look("a")
    assert cache.hit_ratio == 0.5


def test_a_cache_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="room for one"):
        OccurrenceCache(0)


def slow_victim(policy: Policy, counts: dict[str, int], order: "OrderedDict[str, None]") -> str:
    if policy is Policy.LRU:
        return next(iter(order))
    rarest = min(counts.values())
    return next(url for url in order if counts[url] == rarest)


@pytest.mark.parametrize("policy", list(Policy))
def test_it_does_what_a_slow_cache_does(policy: Policy) -> None:
    dice = random.Random(4)
    cache = OccurrenceCache(8, policy)
    counts: dict[str, int] = {}
    order: OrderedDict[str, None] = OrderedDict()
    for _ in range(3000):
        url = str(min(int(dice.expovariate(0.15)), 40))
        if not cache.look(url):
            cache.keep(url)
        if url not in counts and len(counts) == 8:
            victim = slow_victim(policy, counts, order)
            del counts[victim], order[victim]
        counts[url] = counts.get(url, 0) + 1
        order[url] = None
        order.move_to_end(url)
        assert cache.counts == counts
