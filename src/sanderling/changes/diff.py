"""The bare facts of what differs between two versions of a page, before anybody says what of it matters."""

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import compress, islice

from msgspec import Struct
from msgspec.structs import replace

from sanderling.changes.align import Hunk, align
from sanderling.changes.reflow import Run, without_recut
from sanderling.changes.resource_changes import Swap
from sanderling.changes.tag_tree_diff import Structure, compare_packed
from sanderling.content.prices import WORTH
from sanderling.fingerprint.assets import unpack as unpack_set
from sanderling.fingerprint.fast.common_affix import ends
from sanderling.fingerprint.model import MAIN, VEILED, Signature

MAX_PAIRED = 10_000  # old blocks times new ones that are paired by their sizes
MAX_BLOCKS = 5_000  # told of one page; where so much differs, more of it says no more
ASSETS = ("links", "main_links", "images", "main_images", "scripts", "handlers", "forms", "frames", "title")


class Action(StrEnum):
    """What happened to a block."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    MOVED = "moved"


class Block(Struct, frozen=True, omit_defaults=True):
    """One block of text that came, went, changed or moved."""

    action: Action
    size: int  # bytes, of the longer version
    main: bool  # main content, not furniture
    old: int = -1  # its number among the old blocks
    new: int = -1  # and among the new ones
    keys: tuple[int, ...] = ()  # hashes of what went and what came
    context: int = 0  # hash of the unchanged block before it
    worth: bool = False  # a price and the like, which is never noise


class Delta(Struct, frozen=True, omit_defaults=True):
    """What was added to and removed from a set of assets."""

    added: tuple[int, ...] = ()
    removed: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)

    @property
    def is_swap(self) -> bool:
        """Say whether about as many came as went; one more or one less hides no other."""
        return bool(self.added and self.removed) and abs(len(self.added) - len(self.removed)) <= 1


class Difference(Struct, frozen=True, omit_defaults=True):
    """All that differs between two full marks."""

    comparable: bool = True  # both marks are of one kind and made under one attention
    text: bool = False  # the visible text differs, stamps and furniture too
    weight: int = 0  # bytes of main content, both versions together
    blocks: tuple[Block, ...] = ()
    structure: Structure = Structure()
    looks: bool = False
    assets: dict[str, Delta] = {}
    resources: tuple[Swap, ...] = ()  # what the page uses and does not contain, replaced under its URL


def difference(old: Signature, new: Signature) -> Difference:
    """Compare two full marks; equal parts cost one comparison each."""
    if (old.version, old.attention) != (new.version, new.attention):
        return Difference(comparable=False)
    if old == new:
        return Difference()
    same_outline = old.outline == new.outline
    return Difference(
        text=old.text != new.text,
        weight=old.weight + new.weight,
        blocks=tuple(islice(_blocks(old, new), MAX_BLOCKS)) if _reads_otherwise(old, new) else (),
        structure=_structure(old, new),
        looks=old.looks[0] != new.looks[0] if same_outline else old.looks[1] != new.looks[1],
        assets={name: delta for name in ASSETS if (delta := _delta(getattr(old, name), getattr(new, name)))},
    )


def _reads_otherwise(old: Signature, new: Signature) -> bool:
    """Say whether other words are shown; the same ones cut into other blocks are no other text."""
    if old.keys == new.keys:
        return old.places != new.places and (VEILED in old.places or VEILED in new.places)
    return old.text != new.text


def _structure(old: Signature, new: Signature) -> Structure:
    cosmetic = old.cosmetic != new.cosmetic
    if old.outline == new.outline:
        return Structure(cosmetic=cosmetic)
    return compare_packed(old.outline, new.outline, cosmetic=cosmetic)


def _delta(old: bytes, new: bytes) -> Delta:
    if old == new:
        return Delta()
    before, after = unpack_set(old), unpack_set(new)
    return Delta(tuple(sorted(after - before)), tuple(sorted(before - after)))


class _Side:
    """The blocks of one version."""

    def __init__(self, mark: Signature) -> None:
        self.keys = array("I", mark.keys)
        self.sizes = array("H", mark.sizes)
        self.places = mark.places
        self.numbers: Sequence[int] = range(mark.start, mark.start + len(self.keys))
        if 0 in self.sizes:  # what is all stamps has a number, no more
            self.keys = array("I", compress(self.keys, self.sizes))
            self.places = bytes(compress(self.places, self.sizes))
            self.numbers = list(compress(self.numbers, self.sizes))
            self.sizes = array("H", filter(None, self.sizes))

    def run(self, part: tuple[int, int]) -> Run:
        """Some of the blocks, in a row."""
        return Run(self.keys, self.sizes, part)

    def text(self, start: int, end: int) -> Sequence[int]:
        """Those blocks between two places that are main content."""
        return array("I", compress(self.keys[start:end], map(MAIN.__and__, self.places[start:end])))

    def shown(self, keys: set[int]) -> Counter[int]:
        """Count those of some blocks that are shown."""
        return Counter(key for key, place in zip(self.keys, self.places, strict=True) if key in keys and place & MAIN)


def _blocks(old: Signature, new: Signature) -> Iterable[Block]:
    """Say of each block that differs what happened to it; forth and back alike, whichever way ties fall."""
    left, right = _Side(old), _Side(new)
    start, tail = ends(left.keys, right.keys)
    mine, yours = (side.keys[start : len(side.keys) - tail].tobytes() for side in (left, right))
    if (mine, left.places) <= (yours, right.places):
        return _happened(left, right)
    return map(_mirror, _happened(right, left))


def _mirror(block: Block) -> Block:
    """Tell the story of a block backwards."""
    back = {Action.ADDED: Action.REMOVED, Action.REMOVED: Action.ADDED}
    action, keys = back.get(block.action, block.action), block.keys[::-1]
    return Block(action, block.size, block.main, block.new, block.old, keys, block.context, block.worth)


def _happened(left: _Side, right: _Side) -> Iterable[Block]:
    hunks = [part for hunk in align(left.keys, right.keys) for part in _without_recut(hunk, left, right)]
    gone = Counter(left.keys[place] for hunk in hunks for place in range(*hunk.old))
    came = Counter(right.keys[place] for hunk in hunks for place in range(*hunk.new))
    moved = gone & came
    arrivals = _arrivals(right, hunks, moved)
    blocks = [block for hunk in hunks for block in _hunk(hunk, left, right, moved, arrivals)]
    yield from _of_text(blocks, hunks, left, right)
    yield from _turned(Action.ADDED, left, right)
    yield from _turned(Action.REMOVED, right, left)


def _of_text(blocks: list[Block], hunks: list[Hunk], left: _Side, right: _Side) -> list[Block]:
    """Call no more than furniture what did not change in the text: its twin beside it came or went, or that moved."""
    told = {key for block in blocks if block.main and block.action is not Action.CHANGED for key in block.keys}
    if not told:
        return blocks
    first, last = hunks[0], hunks[-1]
    mine, yours = left.text(first.old[0], last.old[1]), right.text(first.new[0], last.new[1])
    if told.isdisjoint(mine) or told.isdisjoint(yours):
        return blocks
    parts = align(mine, yours)
    differing = {key for part in parts for key in (*mine[slice(*part.old)], *yours[slice(*part.new)])}
    return [block if differing.intersection(block.keys) else replace(block, main=False) for block in blocks]


def _without_recut(hunk: Hunk, left: _Side, right: _Side) -> Iterable[Hunk]:
    is_recut = hunk.old[0] < hunk.old[1] and hunk.new[0] < hunk.new[1]
    return without_recut(left.run(hunk.old), right.run(hunk.new)) if is_recut else (hunk,)


def _turned(action: Action, dark: _Side, light: _Side) -> Iterable[Block]:
    """Tell of words that one version has and does not show, and that the other one shows."""
    if dark.places == light.places or VEILED not in dark.places:
        return
    veiled = {key for key, place in zip(dark.keys, dark.places, strict=True) if place == VEILED}
    shown = light.shown(veiled) - dark.shown(veiled)
    for place, key in enumerate(light.keys if shown else ()):
        if shown[key] > 0 and light.places[place] & MAIN:
            shown[key] -= 1
            number = light.numbers[place]
            old, new = (-1, number) if action is Action.ADDED else (number, -1)
            yield Block(action, light.sizes[place], True, old, new, (key,), 0, light.places[place] & WORTH > 0)


def _arrivals(right: _Side, hunks: list[Hunk], moved: Counter[int]) -> dict[int, list[int]]:
    """Find where moved blocks came to."""
    found: dict[int, list[int]] = {}
    for hunk in hunks:
        for place in range(*hunk.new):
            if right.keys[place] in moved:
                found.setdefault(right.keys[place], []).append(place)
    return found


def _hunk(
    hunk: Hunk, left: _Side, right: _Side, moved: Counter[int], arrivals: dict[int, list[int]]
) -> Iterable[Block]:
    """Take moved blocks out of a hunk, pair what is left by size in order, and call the rest added or removed."""
    before = hunk.old[0] - 1
    context = left.keys[before] if before >= 0 else 0
    gone = [place for place in range(*hunk.old) if left.keys[place] not in moved]
    came = [place for place in range(*hunk.new) if right.keys[place] not in moved]
    for place in range(*hunk.old):
        key = left.keys[place]
        if key in moved and arrivals[key]:
            yield Block(
                Action.MOVED,
                left.sizes[place],
                left.places[place] & MAIN > 0,
                left.numbers[place],
                right.numbers[arrivals[key].pop(0)],
                (key,),
                context,
            )
    pairs = _pairs([left.sizes[place] for place in gone], [right.sizes[place] for place in came])
    for mine, yours in ((gone[one], came[other]) for one, other in pairs):
        size, kind = max(left.sizes[mine], right.sizes[yours]), left.places[mine] | right.places[yours]
        keys: tuple[int, ...] = (left.keys[mine], right.keys[yours])
        numbers = left.numbers[mine], right.numbers[yours]
        yield Block(Action.CHANGED, size, kind & MAIN > 0, *numbers, keys, context, kind & WORTH > 0)
    for place in _without(gone, {one for one, _ in pairs}):
        size, kind, keys = left.sizes[place], left.places[place], (left.keys[place],)
        yield Block(Action.REMOVED, size, kind & MAIN > 0, left.numbers[place], -1, keys, context, kind & WORTH > 0)
    for place in _without(came, {other for _, other in pairs}):
        size, kind, keys = right.sizes[place], right.places[place], (right.keys[place],)
        yield Block(Action.ADDED, size, kind & MAIN > 0, -1, right.numbers[place], keys, context, kind & WORTH > 0)


def _without(places: list[int], taken: set[int]) -> list[int]:
    return [place for number, place in enumerate(places) if number not in taken]


def _pairs(old: list[int], new: list[int]) -> list[tuple[int, int]]:
    """Pair blocks in order so that their sizes fit best: an inserted paragraph does not make the next one another."""
    if len(old) == len(new) or min(len(old), len(new)) == 0 or len(old) * len(new) > MAX_PAIRED:
        return list(zip(range(len(old)), range(len(new)), strict=False))
    if len(old) > len(new):
        return [(one, other) for other, one in _pairs(new, old)]
    spare = len(new) - len(old)
    costs = [[0.0] * (spare + 1)]  # of the first blocks: with so many new ones left out
    for row, size in enumerate(old):
        reached, least = costs[-1], float("inf")
        costs.append([])
        for left_out in range(spare + 1):
            least = min(least, reached[left_out] + _unlike(size, new[row + left_out]))
            costs[-1].append(least)
    return _traced(old, new, costs)


def _traced(old: list[int], new: list[int], costs: list[list[float]]) -> list[tuple[int, int]]:
    """Read the best pairs off the table, last one first."""
    pairs, left_out = [], len(new) - len(old)
    for row in range(len(old) - 1, -1, -1):
        while left_out and costs[row + 1][left_out] == costs[row + 1][left_out - 1]:
            left_out -= 1
        pairs.append((row, row + left_out))
    return pairs[::-1]


def _unlike(one: int, other: int) -> float:
    return abs(one - other) / max(one, other, 1)
