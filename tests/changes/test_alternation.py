from sanderling.changes.alternation import (
    MAX_KEYS,
    AlternationScores,
    Rotations,
    get_block_keys,
    has_removed_recent_addition,
    is_alternating,
    is_rotating_asset,
    is_rotating_block,
    update_alternation,
    update_rotations,
)
from sanderling.changes.fingerprint_diff import AssetDelta, BlockAction, BlockChange


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


def replace_advertisement(page: int, old: int, new: int, rotations: Rotations, *, is_price: bool = False) -> bool:
    """Record a replaced block. Returns whether it is rotating now."""
    block = BlockChange(BlockAction.CHANGED, 30, True, keys=(old, new), is_price=is_price)
    update_rotations(rotations, page, [block], AssetDelta())
    return is_rotating_block(block, rotations)


def test_advertisements_shown_in_turn_on_several_pages_are_rotating() -> None:
    rotations: Rotations = {}
    cycle = [(1, 2), (2, 3), (3, 4), (4, 1), (1, 3), (3, 2), (2, 4), (4, 3)]
    found = [replace_advertisement(n % 5, *pair, rotations) for n, pair in enumerate(cycle * 2)]
    assert not any(found[:4])
    assert all(found[8:])


def test_banner_that_comes_and_goes_is_not_rotating() -> None:
    rotations: Rotations = {}
    for action in (BlockAction.ADDED, BlockAction.REMOVED) * 3:
        for page in range(20):
            block = BlockChange(action, 30, True, keys=(7,))
            update_rotations(rotations, page, [block], AssetDelta())
            assert not is_rotating_block(block, rotations)


def test_status_with_two_values_is_not_rotating() -> None:
    rotations: Rotations = {}
    assert not any(replace_advertisement(n % 7, *((1, 2) if n % 2 else (2, 1)), rotations) for n in range(5))


def test_prices_that_return_on_other_pages_are_not_rotating() -> None:
    rotations: Rotations = {}
    cycle = [(1, 2), (2, 3), (3, 4), (4, 1), (1, 3), (3, 2), (2, 4), (4, 3)] * 3
    assert not any(replace_advertisement(n % 5, *pair, rotations, is_price=True) for n, pair in enumerate(cycle))


def test_links_of_a_pool_are_rotating() -> None:
    rotations: Rotations = {}
    for page in range(6):
        update_rotations(rotations, page, [], AssetDelta(*(((5,), ()) if page % 2 else ((), (5,)))))
    assert is_rotating_asset(5, rotations)
    assert not is_rotating_asset(6, rotations)
