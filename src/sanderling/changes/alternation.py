"""What came or went on a page lately, and what of it comes and goes in turn.

Each time that the same words come or go again adds to their number, each visit at which they do not takes from it. So
two versions of a page that are shown in turn are known after a few visits, and a notice that comes back after weeks, or
a road that is open again, is not.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import islice

from sanderling.changes.fingerprint_diff import BlockAction, BlockChange

FIRST_SCORE = 1  # the number of what came or went for the first time
REPEAT_SCORE = 2  # is added when it does so again
MIN_ALTERNATING_SCORE = 5  # from this number on it comes and goes in turn: three times in a row, or a few more
MAX_SCORE = 8
MAX_KEYS = 100  # of one page
MIN_SENTENCE_SIZE = 24  # bytes of a block that is known by its words alone

AlternationScores = dict[int, int]


def update_alternation(
    scores: AlternationScores, blocks: Sequence[BlockChange], asset_keys: Iterable[int] = ()
) -> AlternationScores:
    """Take into account what came or went at one visit: blocks, and names of links, pictures and the like."""
    now = dict.fromkeys((*_get_added_keys(blocks), *_get_removed_keys(blocks), *asset_keys))
    kept = {key: number - 1 for key, number in scores.items() if number > 0 and key not in now}
    again = {key: min(scores[key] + REPEAT_SCORE, MAX_SCORE) for key in now if key in scores}
    fresh = dict.fromkeys((key for key in now if key not in scores), FIRST_SCORE)
    return dict(islice((again | fresh | kept).items(), MAX_KEYS))


def is_alternating(keys: Collection[int], scores: AlternationScores) -> bool:
    """Say whether what came and went somewhere does so in turn: one of it surely, all of it for the second time."""
    numbers = [scores.get(name, 0) for name in keys]
    return max(numbers, default=0) >= MIN_ALTERNATING_SCORE and min(numbers) >= REPEAT_SCORE


def has_removed_recent_addition(blocks: Iterable[BlockChange], scores: AlternationScores) -> bool:
    """Say whether something goes that came lately, for the first time: another thing has its turn."""
    return any(scores.get(name, REPEAT_SCORE) <= FIRST_SCORE for name in _get_removed_keys(blocks))


def get_block_keys(block: BlockChange) -> list[int]:
    """Name what went and what came with a block; a short one by where it stands, for a number may be in many rows."""
    place = block.context << 32 if block.size < MIN_SENTENCE_SIZE else 0
    return [place + key for key in block.keys]


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
