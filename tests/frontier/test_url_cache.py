"""URL cache: occurrence counts and eviction."""

from hypothesis import given
from hypothesis import strategies as st

from sanderling.frontier.url_cache import OCCURRENCE_UNIT, EvictionPolicy, UrlCache


def test_occurrences_are_counted() -> None:
    cache = UrlCache()
    cache.put(1, 77)
    assert (cache.get(1), cache.get(1), cache.get(2)) == (77, 77, None)
    assert cache.values[1] // OCCURRENCE_UNIT == 3
    assert 2 not in cache.values


def test_lfu_evicts_rarest_then_least_recent() -> None:
    cache = UrlCache(8)
    for key in range(8):
        cache.put(key, key)
    for key in (0, 1, 2, 3):
        cache.get(key)
    cache.put(8, 8)
    assert list(cache.values) == [6, 7, 0, 1, 2, 3, 8]


def test_lru_evicts_least_recent() -> None:
    cache = UrlCache(8, EvictionPolicy.LRU)
    for key in range(8):
        cache.put(key, key)
    for key in (0, 0, 1):
        cache.get(key)
    cache.put(8, 8)
    assert list(cache.values) == [4, 5, 6, 7, 0, 1, 8]
    assert cache.evictions == 2


def test_new_value_keeps_the_count() -> None:
    cache = UrlCache()
    cache.put(1, 5)
    cache.get(1)
    cache.put(1, 6)
    assert (cache.values[1] // OCCURRENCE_UNIT, cache.get(1)) == (2, 6)


@given(st.lists(st.integers(0, 40)), st.sampled_from(EvictionPolicy))
def test_capacity_and_values_are_invariant(keys: list[int], policy: EvictionPolicy) -> None:
    cache = UrlCache(8, policy)
    for key in keys:
        if cache.get(key) is None:
            cache.put(key, key * 3)
        assert len(cache.values) <= 8
        assert all(packed % OCCURRENCE_UNIT == known * 3 for known, packed in cache.values.items())
