"""Detect content that alternates on a page, such as the variants of an A/B test.

The score of a key rises whenever it is added or removed again and falls at every other visit. Variants shown in turn
are detected after a few visits; a notice that returns after weeks is not.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import islice

from sanderling.changes.fingerprint_diff import BlockAction, BlockChange

FIRST_SCORE = 1
REPEAT_SCORE = 2  # added at each repetition
MIN_ALTERNATING_SCORE = 5  # three times in a row, or a few more with pauses
MAX_SCORE = 8
MAX_KEYS = 100  # per page
MIN_SENTENCE_SIZE = 24  # bytes; a shorter block is identified by its place too

AlternationScores = dict[int, int]


def update_alternation(
    scores: AlternationScores, blocks: Sequence[BlockChange], asset_keys: Iterable[int] = ()
) -> AlternationScores:
    """Return the scores after a visit with these changed blocks and assets."""
    changed_keys = dict.fromkeys((*_get_added_keys(blocks), *_get_removed_keys(blocks), *asset_keys))
    decayed = {key: score - 1 for key, score in scores.items() if score > 0 and key not in changed_keys}
    repeated = {key: min(scores[key] + REPEAT_SCORE, MAX_SCORE) for key in changed_keys if key in scores}
    first = dict.fromkeys((key for key in changed_keys if key not in scores), FIRST_SCORE)
    return dict(islice((repeated | first | decayed).items(), MAX_KEYS))


def is_alternating(keys: Collection[int], scores: AlternationScores) -> bool:
    """Return whether all keys have repeated and at least a single key alternates."""
    key_scores = [scores.get(key, 0) for key in keys]
    return max(key_scores, default=0) >= MIN_ALTERNATING_SCORE and min(key_scores) >= REPEAT_SCORE


def has_removed_recent_addition(blocks: Iterable[BlockChange], scores: AlternationScores) -> bool:
    """Return whether a block is removed that was added recently for the first time."""
    return any(scores.get(key, REPEAT_SCORE) <= FIRST_SCORE for key in _get_removed_keys(blocks))


def get_block_keys(block: BlockChange) -> list[int]:
    """Return the keys of a block; a short block includes its place: a number may be in many rows."""
    place_offset = block.context << 32 if block.size < MIN_SENTENCE_SIZE else 0
    return [place_offset + key for key in block.keys]


def _get_added_keys(blocks: Iterable[BlockChange]) -> Iterable[int]:
    return (
        get_block_keys(block)[-1]
        for block in blocks
        if block.keys and block.action in (BlockAction.ADDED, BlockAction.CHANGED)
    )


def _get_removed_keys(blocks: Iterable[BlockChange]) -> Iterable[int]:
    return (
        get_block_keys(block)[0]
        for block in blocks
        if block.keys and block.action in (BlockAction.REMOVED, BlockAction.CHANGED)
    )
