"""What came or went on a page lately, and what of it comes and goes in turn."""

from sanderling.changes.difference import Action, Block
from sanderling.changes.turns import MAX_KEYS, Turns, has_turned, is_in_turn, turned


def changed(old: int, new: int) -> Block:
    return Block(Action.CHANGED, 9, True, keys=(old, new))


def after(*visits: list[Block]) -> Turns:
    turns: Turns = {}
    for blocks in visits:
        turns = turned(turns, blocks)
    return turns


def test_what_comes_and_goes_three_times_in_a_row_does_so_in_turn() -> None:
    there, back = changed(1, 2), changed(2, 1)
    assert not is_in_turn((1, 2), after([there], [back]))
    assert is_in_turn((1, 2), after([there], [back], [there]))
    assert not is_in_turn((1, 3), after([there], [back], [there]))


def test_visits_at_which_nothing_differs_take_from_it() -> None:
    there, back = changed(1, 2), changed(2, 1)
    assert is_in_turn((1, 2), after([there], [back], [], [there], [], [back], [there]))
    assert not is_in_turn((1, 2), after([there], [], [], [back], [], [], [there], [], [], [back]))
    assert after([there], [], []) == {}


def test_another_thing_has_its_turn_when_what_came_goes() -> None:
    before = after([changed(1, 2)])
    assert has_turned([changed(2, 3)], before)
    assert has_turned([Block(Action.REMOVED, 9, True, keys=(2,))], before)
    assert not has_turned([Block(Action.ADDED, 9, True, keys=(3,))], before)
    assert not has_turned([changed(7, 8)], before)


def test_what_is_remembered_of_a_page_is_bounded() -> None:
    assert len(after([changed(number, number + 1000) for number in range(MAX_KEYS)])) == MAX_KEYS
