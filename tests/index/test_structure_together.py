"""What several samples say together."""

from sanderling.index.structure_together import asked_for

PLAIN, RARE = frozenset({1, 2, 3}), frozenset({1, 2, 3, 9})
MEMBERS = [PLAIN] * 57 + [RARE] * 3


def test_a_rare_block_on_all_of_three_samples_is_asked_for() -> None:
    assert asked_for([RARE] * 3, MEMBERS) == {9}


def test_one_sample_with_a_rare_block_may_be_an_accident() -> None:
    assert asked_for([RARE], MEMBERS) == frozenset()
    assert asked_for([RARE, PLAIN, RARE], MEMBERS) == frozenset()


def test_what_many_pages_have_is_not_asked_for() -> None:
    assert asked_for([RARE] * 3, [PLAIN, RARE] * 30) == frozenset()


def test_nothing_is_asked_for_where_nothing_was_found() -> None:
    assert asked_for([RARE] * 3, []) == frozenset()
