"""Seen filter: values, Bloom bits, growth and overflow."""

from hypothesis import given
from hypothesis import strategies as st

from sanderling.frontier.seen_filter import CELLS_PER_ROW, INITIAL_ROWS, SeenFilter
from sanderling.models import Url

KEYS = st.integers(-(2**63), 2**63 - 1)


@given(st.dictionaries(KEYS, st.integers(1, 2**56)))
def test_known_url_has_its_value_or_none_and_is_never_new(stored: dict[int, int]) -> None:
    seen_filter = SeenFilter()
    for key, value in stored.items():
        seen_filter.put(key, value)
    for key, value in stored.items():
        assert seen_filter.get(key) in (value, 0)
        assert not seen_filter.is_new(key)


def test_table_grows_up_to_its_limit() -> None:
    seen_filter = SeenFilter(4 * INITIAL_ROWS)
    keys = [hash(f"http://a/{number}") for number in range(10 * INITIAL_ROWS)]
    for number, key in enumerate(keys):
        seen_filter.put(key, number + 1)
    assert len(seen_filter.cells) == CELLS_PER_ROW * (seen_filter.mask + 1) == CELLS_PER_ROW * 4 * INITIAL_ROWS
    assert not any(map(seen_filter.is_new, keys))
    assert sum(seen_filter.get(key) == number + 1 for number, key in enumerate(keys)) > INITIAL_ROWS


def test_row_holds_three_entries_and_overflow_the_rest() -> None:
    seen_filter = SeenFilter()
    keys = [number << 20 for number in (1, 2, 3, 4)]
    for key in keys:
        seen_filter.put(key, key + 1)
    assert [seen_filter.get(key) for key in keys] == [key + 1 for key in keys]
    assert seen_filter.overflow == {keys[0]: keys[0] + 1}
    seen_filter.put(keys[3], 5)
    seen_filter.put(keys[2], 6)
    assert [seen_filter.get(key) for key in keys] == [keys[0] + 1, keys[1] + 1, 6, 5]


def test_newest_value_wins_over_overflow() -> None:
    seen_filter = SeenFilter()
    keys = [number << 20 for number in range(1, 9)]
    seen_filter.put(keys[0], 1)
    seen_filter.put(keys[1], 2)
    seen_filter.put(keys[0], 3)
    for key in keys[2:]:
        seen_filter.put(key, 9)
    assert [seen_filter.get(key) for key in keys[:2]] == [3, 2]
    found: dict[Url, int] = {}
    urls = [Url(f"http://a/{number}") for number in range(20 * INITIAL_ROWS)]
    for number, url in enumerate(urls):
        seen_filter.put(hash(url), number + 1)
    seen_filter.lookup(urls, found)
    assert [found[url] for url in urls] == list(range(1, len(urls) + 1))


def test_full_overflow_is_cleared_but_urls_are_never_new() -> None:
    seen_filter = SeenFilter(max_overflow=2)
    keys = [number << 20 for number in range(1, 8)]
    for key in keys:
        seen_filter.put(key, 1)
    assert [seen_filter.get(key) for key in keys] == [0, 0, 1, 1, 1, 1, 1]
    assert not any(map(seen_filter.is_new, keys))


def test_false_positive_rate_is_low() -> None:
    seen_filter = SeenFilter()
    for number in range(10_000):
        seen_filter.put(hash(f"http://a/{number}"), 1)
    new_urls = [hash(f"http://b/{number}") for number in range(10_000)]
    assert sum(map(seen_filter.is_new, new_urls)) > 9_000
    assert not any(map(seen_filter.get, new_urls))


def test_marked_url_is_known_without_value() -> None:
    seen_filter = SeenFilter()
    seen_filter.mark_seen(7)
    assert (seen_filter.is_new(7), seen_filter.get(7)) == (False, 0)


def test_lookup_reports_repeated_urls() -> None:
    seen_filter = SeenFilter()
    urls = [Url(f"http://a/{number}") for number in range(100)]
    for number, url in enumerate(urls):
        seen_filter.put(hash(url), number + 1)
    new_urls = [Url(f"http://b/{number}") for number in range(100)]
    found: dict[Url, int] = {}
    repeated, unsure = seen_filter.lookup([*urls, *new_urls], found)
    assert not repeated
    assert found.keys() | unsure >= set(urls)
    assert all(found[url] == seen_filter.get(hash(url)) == urls.index(url) + 1 for url in found)
    again: dict[Url, int] = {}
    repeated, _ = seen_filter.lookup(urls, again)
    assert repeated == list(again)


def test_entry_in_the_wrong_half_is_overwritten_first() -> None:
    seen_filter = SeenFilter()
    low, high, third = 1, INITIAL_ROWS + 1, 4 * INITIAL_ROWS + 1
    seen_filter.put(low, 5)
    seen_filter.put(high, 6)
    for number in range(INITIAL_ROWS):
        seen_filter.put(2 + number % 7 + (number << 30), 9)
    assert seen_filter.mask >= 2 * INITIAL_ROWS - 1
    seen_filter.put(third, 7)
    assert [seen_filter.get(key) for key in (low, high, third)] == [5, 6, 7]
