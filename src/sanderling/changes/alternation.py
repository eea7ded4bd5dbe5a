"""Detect content shown in turn: on a page, such as variants of an A/B test, or on many pages, such as advertisements.

The score of a key rises whenever it is added or removed again and falls at every other visit. Variants shown in turn
are detected after a few visits; a notice that returns after weeks is not.

Content of a pool, such as recommendations, is added on some pages while it is removed from others. A banner is first
added on all pages, and later removed from all.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import islice

from msgspec import Struct

from sanderling.changes.fingerprint_diff import AssetDelta, BlockAction, BlockChange

FIRST_SCORE = 1
REPEAT_SCORE = 2  # added at each repetition
MIN_ALTERNATING_SCORE = 5  # three times in a row, or a few more with pauses
MAX_SCORE = 8
MAX_KEYS = 100  # per page
MIN_SENTENCE_SIZE = 24  # bytes; a shorter block is identified by its place too

MIN_TURNS = 3  # changes of direction on different pages
MIN_REPLACED_TURNS = 2  # of a text that replaces another; the partners say more
MIN_PARTNERS = 3  # texts that replaced it, or that it replaced; a status has fewer values
MAX_PARTNERS = 8
MAX_EVENTS_PER_TURN = 4  # a banner that comes and goes has as many as pages
MIN_ROTATING_SIZE = 12  # bytes; short values, such as a status, may be right on many pages
MAX_ROTATIONS = 20_000  # keys per site

AlternationScores = dict[int, int]


class Rotation(Struct, array_like=True):
    """How a text or link came and went on the pages of a site."""

    was_added: bool
    page_id: int  # of the last event
    turns: int = 0  # changes of direction from page to page
    events: int = 0
    partners: tuple[int, ...] = ()
    is_text: bool = False  # also in blocks without a price

    @property
    def is_dense(self) -> bool:
        return self.events <= MAX_EVENTS_PER_TURN * (self.turns + 1)


Rotations = dict[int, Rotation]


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


def update_rotations(rotations: Rotations, page_id: int, blocks: Iterable[BlockChange], delta: AssetDelta) -> None:
    """Count how often texts and links change their direction from page to page."""
    for block in blocks:
        if block.size >= MIN_ROTATING_SIZE and block.keys and block.action is not BlockAction.MOVED:
            removed = block.keys[:1] if block.action is not BlockAction.ADDED else ()
            added = block.keys[-1:] if block.action is not BlockAction.REMOVED else ()
            _record_events(rotations, page_id, removed, added, is_text=not block.is_price)
    _record_events(rotations, page_id, delta.removed, delta.added)
    while len(rotations) > MAX_ROTATIONS:
        rotations.pop(next(iter(rotations)))


def _record_events(
    rotations: Rotations, page_id: int, removed: Sequence[int], added: Sequence[int], *, is_text: bool = False
) -> None:
    for keys, others, is_added in ((removed, added, False), (added, removed, True)):
        for key in keys:
            one = rotations.pop(key, None) or Rotation(is_added, page_id)
            one.turns += one.was_added is not is_added and one.page_id != page_id
            one.was_added, one.page_id, one.events = is_added, page_id, one.events + 1
            one.is_text = one.is_text or is_text
            one.partners = tuple(dict.fromkeys((*one.partners, *others[:1])))[-MAX_PARTNERS:]
            rotations[key] = one  # the most recent is last


def is_rotating_block(block: BlockChange, rotations: Rotations) -> bool:
    """Return whether a block is content of a pool that pages of the site show in turn."""
    is_replaced = block.action is BlockAction.CHANGED
    for key in block.keys:
        one = rotations.get(key)
        if one is None or not one.is_dense or one.turns < MIN_REPLACED_TURNS:
            return False
        if is_replaced and _count_text_partners(one, rotations) < MIN_PARTNERS:
            return False
        if not is_replaced and (block.is_price or one.turns < MIN_TURNS):
            return False
    return bool(block.keys)


def _count_text_partners(one: Rotation, rotations: Rotations) -> int:
    """Count the partners without a price: advertisements may name prices, but a price is replaced by a price."""
    return sum(key in rotations and rotations[key].is_text for key in one.partners)


def is_rotating_asset(key: int, rotations: Rotations) -> bool:
    """Return whether a link or image is from a pool that pages of the site show in turn."""
    one = rotations.get(key)
    return one is not None and one.turns >= MIN_TURNS and one.is_dense
