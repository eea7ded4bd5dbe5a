"""Known URLs in memory, with how often each was met."""

from hypothesis import given
from hypothesis import strategies as st

from sanderling.frontier.url_cache import MET, Leaving, Occurrences


def test_a_url_is_counted_each_time_it_is_met() -> None:
    cache = Occurrences()
    cache.keep(1, 77)
    assert (cache.look(1), cache.look(1), cache.look(2)) == (77, 77, None)
    assert (cache.count(1), cache.count(2)) == (3, 0)


def test_the_rarest_go_first_and_of_those_the_ones_met_longest_ago() -> None:
    cache = Occurrences(8)
    for key in range(8):
        cache.keep(key, key)
    for key in (0, 1, 2, 3):
        cache.look(key)
    cache.keep(8, 8)
    assert list(cache.values) == [6, 7, 0, 1, 2, 3, 8]


def test_without_counting_the_ones_met_longest_ago_go() -> None:
    cache = Occurrences(8, Leaving.LRU)
    for key in range(8):
        cache.keep(key, key)
    for key in (0, 0, 1):
        cache.look(key)
    cache.keep(8, 8)
    assert list(cache.values) == [4, 5, 6, 7, 0, 1, 8]
    assert cache.evicted == 2


def test_another_value_keeps_the_count() -> None:
    cache = Occurrences()
    cache.keep(1, 5)
    cache.look(1)
    cache.keep(1, 6)
    assert (cache.count(1), cache.look(1)) == (2, 6)


@given(st.lists(st.integers(0, 40)), st.sampled_from(Leaving))
def test_it_never_holds_more_than_it_may_nor_another_value(keys: list[int], policy: Leaving) -> None:
    cache = Occurrences(8, policy)
    for key in keys:
        if cache.look(key) is None:
            cache.keep(key, key * 3)
        assert len(cache.values) <= 8
        assert all(packed % MET == known * 3 for known, packed in cache.values.items())
