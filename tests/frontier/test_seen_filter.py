"""The compact roll of known URLs."""

from hypothesis import given
from hypothesis import strategies as st

from sanderling.frontier.seen_filter import CELLS_PER_ROW, INITIAL_ROWS, SeenFilter
from sanderling.models import Url

KEYS = st.integers(-(2**63), 2**63 - 1)


@given(st.dictionaries(KEYS, st.integers(1, 2**56)))
def test_it_gives_what_was_noted_or_nothing_and_never_calls_a_known_url_new(noted: dict[int, int]) -> None:
    roll = SeenFilter()
    for key, value in noted.items():
        roll.put(key, value)
    for key, value in noted.items():
        assert roll.get(key) in (value, 0)
        assert not roll.is_new(key)


def test_it_doubles_up_to_its_limit_and_forgets_nobody() -> None:
    roll = SeenFilter(4 * INITIAL_ROWS)
    keys = [hash(f"http://a/{number}") for number in range(10 * INITIAL_ROWS)]
    for number, key in enumerate(keys):
        roll.put(key, number + 1)
    assert len(roll.cells) == CELLS_PER_ROW * (roll.mask + 1) == CELLS_PER_ROW * 4 * INITIAL_ROWS
    assert not any(map(roll.is_new, keys))
    assert sum(roll.get(key) == number + 1 for number, key in enumerate(keys)) > INITIAL_ROWS


def test_of_a_row_the_three_noted_last_are_kept_and_the_others_apart() -> None:
    roll = SeenFilter()
    keys = [number << 20 for number in (1, 2, 3, 4)]
    for key in keys:
        roll.put(key, key + 1)
    assert [roll.get(key) for key in keys] == [key + 1 for key in keys]
    assert roll.overflow == {keys[0]: keys[0] + 1}
    roll.put(keys[3], 5)
    roll.put(keys[2], 6)
    assert [roll.get(key) for key in keys] == [keys[0] + 1, keys[1] + 1, 6, 5]


def test_of_those_that_were_set_apart_the_newest_value_counts() -> None:
    roll = SeenFilter()
    keys = [number << 20 for number in range(1, 9)]
    roll.put(keys[0], 1)
    roll.put(keys[1], 2)
    roll.put(keys[0], 3)
    for key in keys[2:]:
        roll.put(key, 9)
    assert [roll.get(key) for key in keys[:2]] == [3, 2]
    found: dict[Url, int] = {}
    urls = [Url(f"http://a/{number}") for number in range(20 * INITIAL_ROWS)]
    for number, url in enumerate(urls):
        roll.put(hash(url), number + 1)
    roll.lookup(urls, found)
    assert [found[url] for url in urls] == list(range(1, len(urls) + 1))


def test_too_many_apart_are_forgotten_but_never_called_new() -> None:
    roll = SeenFilter(max_overflow=2)
    keys = [number << 20 for number in range(1, 8)]
    for key in keys:
        roll.put(key, 1)
    assert [roll.get(key) for key in keys] == [0, 0, 1, 1, 1, 1, 1]
    assert not any(map(roll.is_new, keys))


def test_a_url_that_was_never_met_is_nearly_always_new() -> None:
    roll = SeenFilter()
    for number in range(10_000):
        roll.put(hash(f"http://a/{number}"), 1)
    strangers = [hash(f"http://b/{number}") for number in range(10_000)]
    assert sum(map(roll.is_new, strangers)) > 9_000
    assert not any(map(roll.get, strangers))


def test_what_was_passed_by_is_known_without_a_value() -> None:
    roll = SeenFilter()
    roll.mark_seen(7)
    assert (roll.is_new(7), roll.get(7)) == (False, 0)


def test_it_answers_for_many_at_once_and_says_who_was_asked_for_before() -> None:
    roll = SeenFilter()
    urls = [Url(f"http://a/{number}") for number in range(100)]
    for number, url in enumerate(urls):
        roll.put(hash(url), number + 1)
    strangers = [Url(f"http://b/{number}") for number in range(100)]
    found: dict[Url, int] = {}
    often, unsure = roll.lookup([*urls, *strangers], found)
    assert not often
    assert found.keys() | unsure >= set(urls)
    assert all(found[url] == roll.get(hash(url)) == urls.index(url) + 1 for url in found)
    again: dict[Url, int] = {}
    often, _ = roll.lookup(urls, again)
    assert often == list(again)


def test_what_stands_in_the_wrong_half_makes_room_first() -> None:
    roll = SeenFilter()
    low, high, third = 1, INITIAL_ROWS + 1, 4 * INITIAL_ROWS + 1
    roll.put(low, 5)
    roll.put(high, 6)
    for number in range(INITIAL_ROWS):
        roll.put(2 + number % 7 + (number << 30), 9)
    assert roll.mask >= 2 * INITIAL_ROWS - 1
    roll.put(third, 7)
    assert [roll.get(key) for key in (low, high, third)] == [5, 6, 7]
