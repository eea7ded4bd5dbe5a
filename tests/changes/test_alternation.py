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


def score_visits(*visits: list[BlockChange]) -> AlternationScores:
    scores: AlternationScores = {}
    for blocks in visits:
        scores = update_alternation(scores, blocks)
    return scores


def test_three_changes_in_a_row_are_alternating() -> None:
    forward, back = changed(1, 2), changed(2, 1)
    assert not is_alternating((1, 2), score_visits([forward], [back]))
    assert is_alternating((1, 2), score_visits([forward], [back], [forward]))
    assert not is_alternating((1, 3), score_visits([forward], [back], [forward]))


def test_variants_alternate_unless_one_is_new() -> None:
    scores = score_visits([changed(1, 2)], [changed(2, 1)], [changed(1, 3)], [changed(3, 1)])
    assert is_alternating((1, 3), scores)
    assert not is_alternating((1, 4), update_alternation(scores, [changed(1, 4)]))


def test_short_block_in_another_place_has_another_key() -> None:
    scores = score_visits([changed(1, 2, 7)], [changed(2, 1, 8)], [changed(1, 2, 9)])
    assert not any(is_alternating(get_block_keys(changed(1, 2, row)), scores) for row in (7, 8, 9))


def test_unchanged_visits_lower_the_score() -> None:
    forward, back = changed(1, 2), changed(2, 1)
    assert is_alternating((1, 2), score_visits([forward], [back], [], [forward], [], [back], [forward]))
    assert not is_alternating((1, 2), score_visits([forward], [], [], [back], [], [], [forward], [], [], [back]))
    assert score_visits([forward], [], []) == {}


def test_removed_recent_addition_is_detected() -> None:
    before = score_visits([changed(1, 2)])
    assert has_removed_recent_addition([changed(2, 3)], before)
    assert has_removed_recent_addition([BlockChange(BlockAction.REMOVED, 9, True, keys=(2,))], before)
    assert not has_removed_recent_addition([BlockChange(BlockAction.ADDED, 9, True, keys=(3,))], before)
    assert not has_removed_recent_addition([changed(7, 8)], before)


def test_number_of_keys_is_limited() -> None:
    assert len(score_visits([changed(number, number + 1000) for number in range(MAX_KEYS)])) == MAX_KEYS
