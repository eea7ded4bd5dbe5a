"""What came or went on a page lately, and what of it comes and goes in turn.

Each time that the same words come or go again adds to their number, each visit at which they do not takes from it. So
two versions of a page that are shown in turn are known after a few visits, and a notice that comes back after weeks, or
a road that is open again, is not.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import islice

from sanderling.changes.diff import Action, Block

FIRST = 1  # the number of what came or went for the first time
AGAIN = 2  # is added when it does so again
IN_TURN = 5  # from this number on it comes and goes in turn: three times in a row, or a few more
MOST = 8
MAX_KEYS = 100  # of one page
SENTENCE = 24  # bytes of a block that is known by its words alone

Turns = dict[int, int]


def turned(before: Turns, blocks: Sequence[Block], others: Iterable[int] = ()) -> Turns:
    """Take into account what came or went at one visit: blocks, and names of links, pictures and the like."""
    now = dict.fromkeys((*_came(blocks), *_went(blocks), *others))
    kept = {key: number - 1 for key, number in before.items() if number > 0 and key not in now}
    again = {key: min(before[key] + AGAIN, MOST) for key in now if key in before}
    fresh = dict.fromkeys((key for key in now if key not in before), FIRST)
    return dict(islice((again | fresh | kept).items(), MAX_KEYS))


def is_in_turn(names: Collection[int], turns: Turns) -> bool:
    """Say whether what came and went somewhere does so in turn: one of it surely, all of it for the second time."""
    numbers = [turns.get(name, 0) for name in names]
    return max(numbers, default=0) >= IN_TURN and min(numbers) >= AGAIN


def has_turned(blocks: Iterable[Block], before: Turns) -> bool:
    """Say whether something goes that came lately, for the first time: another thing has its turn."""
    return any(before.get(name, AGAIN) <= FIRST for name in _went(blocks))


def named(block: Block) -> list[int]:
    """Name what went and what came with a block; a short one by where it stands, for a number may be in many rows."""
    place = block.context << 32 if block.size < SENTENCE else 0
    return [place + key for key in block.keys]


def _came(blocks: Iterable[Block]) -> Iterable[int]:
    return (named(block)[-1] for block in blocks if block.keys and block.action in (Action.ADDED, Action.CHANGED))


def _went(blocks: Iterable[Block]) -> Iterable[int]:
    return (named(block)[0] for block in blocks if block.keys and block.action in (Action.REMOVED, Action.CHANGED))
