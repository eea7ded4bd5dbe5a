"""What came or went on a page lately, and what of it comes and goes in turn."""

from sanderling.changes.alternation import (
    MAX_KEYS,
    AlternationScores,
    get_block_keys,
    has_removed_recent_addition,
    is_alternating,
    update_alternation,
)
from sanderling.changes.fingerprint_diff import BlockAction, BlockChange


def changed(old: int, new: int, context: int = 0) -> BlockChange:
    return BlockChange(BlockAction.CHANGED, 9, True, keys=(old, new), context=context)


def after(*visits: list[BlockChange]) -> AlternationScores:
    turns: AlternationScores = {}
    for blocks in visits:
        turns = update_alternation(turns, blocks)
    return turns


def test_what_comes_and_goes_three_times_in_a_row_does_so_in_turn() -> None:
    there, back = changed(1, 2), changed(2, 1)
    assert not is_alternating((1, 2), after([there], [back]))
    assert is_alternating((1, 2), after([there], [back], [there]))
    assert not is_alternating((1, 3), after([there], [back], [there]))


def test_of_three_things_that_are_shown_in_turn_one_is_enough_and_none_may_be_new() -> None:
    turns = after([changed(1, 2)], [changed(2, 1)], [changed(1, 3)], [changed(3, 1)])
    assert is_alternating((1, 3), turns)
    assert not is_alternating((1, 4), update_alternation(turns, [changed(1, 4)]))


def test_the_same_number_in_another_row_is_another_thing() -> None:
    turns = after([changed(1, 2, 7)], [changed(2, 1, 8)], [changed(1, 2, 9)])
    assert not any(is_alternating(get_block_keys(changed(1, 2, row)), turns) for row in (7, 8, 9))


def test_visits_at_which_nothing_differs_take_from_it() -> None:
    there, back = changed(1, 2), changed(2, 1)
    assert is_alternating((1, 2), after([there], [back], [], [there], [], [back], [there]))
    assert not is_alternating((1, 2), after([there], [], [], [back], [], [], [there], [], [], [back]))
    assert after([there], [], []) == {}


def test_another_thing_has_its_turn_when_what_came_goes() -> None:
    before = after([changed(1, 2)])
    assert has_removed_recent_addition([changed(2, 3)], before)
    assert has_removed_recent_addition([BlockChange(BlockAction.REMOVED, 9, True, keys=(2,))], before)
    assert not has_removed_recent_addition([BlockChange(BlockAction.ADDED, 9, True, keys=(3,))], before)
    assert not has_removed_recent_addition([changed(7, 8)], before)


def test_what_is_remembered_of_a_page_is_bounded() -> None:
    assert len(after([changed(number, number + 1000) for number in range(MAX_KEYS)])) == MAX_KEYS
