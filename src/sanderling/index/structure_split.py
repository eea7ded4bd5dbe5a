"""Divide the pages of a site until each part is one template.

A part is split by a token of URL or title (`organise.tokens`) that foretells structure: knowing whether a page carries
the token must say, nearly always, whether it has some structural feature. Sections that are there on some pages only do
not split a template, because URL and title know nothing of them; words in titles do not, because structure knows
nothing of them. This agreement of two views replaces a similarity threshold, which cannot tell "the same template, with
an optional section" from "another template in the same chrome".

Sets of pages are integers, one bit a page: counting a set is one instruction per 64 pages.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import log, log2
from typing import TypeVar

from msgspec import Struct

from sanderling.index.structure_kinds import companions, entropy, named_kinds, union
from sanderling.index.structure_titles import Titles, read_titles
from sanderling.index.structure_views import Look
from sanderling.organise.tokens import common_depth, tokens
from sanderling.pages.structure import is_block

Key = TypeVar("Key")

DEEPEST = 100  # questions asked of a page
LEAST = 4  # pages on either side of a split
NAMELESS = 0.1  # share of pages without a name where kinds have one: so few are one kind, the other pages
FORETELLS = 0.5  # share of a token's information that two structural features give
GLIMPSE = 0.3  # share that the better of the two gives alone
MARGIN_BITS = 7.0  # evidence beyond what the best of so many pairs shows by chance
CONTAINED = 0.92  # a part this much contained in the other has only less on it, unless the views surely agree
CONTAINED_BITS = 60.0  # more evidence is asked of a part the more it is contained in the other
SEPARATE = 0.78  # agreement plus half of what is not contained
TINY, TINY_CONTAINED = 0.02, 0.3  # a very small part must look really different
REACHED = 0.99  # a block on all pages of a part and nowhere else: the part is a template already
SURE = 0.97
TELLING = 0.5  # share of a token's information that one block gives: then it counts how much either part holds of the
# other, for a page that has only the frame of a site is contained in all others and still is another template
UNLIKE = 0.4  # parts that hold no more of each other are two templates, whatever else speaks for one
MOST, FEW = 0.8, 0.1


class Sets(Struct, frozen=True):
    """The pages of a site as sets: which pages carry a token, which have a feature."""

    size: int
    skip: int
    tokens: Mapping[str, int]
    features: Mapping[int, int]
    weight: Mapping[int, float]
    titles: Titles = Titles()
    kinds: Mapping[str, int] = {}  # pages of each kind that the site names
    company: Mapping[str, int] = {}  # pages that have another beside them, by what its name has more

    @property
    def everything(self) -> int:
        return (1 << self.size) - 1


class Fork(Struct, frozen=True):
    """A question asked of a page: does it carry this token?"""

    token: str
    yes: Fork | int
    no: Fork | int


class Split(Struct, frozen=True):
    """A way to divide a part, and how well structure agrees with it."""

    token: str
    pages: int
    agreement: float
    bits: float
    block_agreement: float


def gather(looks: Sequence[Look]) -> Sets:
    """Turn pages into sets; what is on one page only says nothing."""
    skip = common_depth(look.url for look in looks)
    said: defaultdict[str, int] = defaultdict(int)
    had: defaultdict[int, int] = defaultdict(int)
    for position, look in enumerate(looks):
        bit = 1 << position
        for token in tokens(look.url, look.title, skip):
            said[token] |= bit
        for feature in look.features:
            had[feature] |= bit
    kept = {feature: pages for feature, pages in had.items() if pages.bit_count() > 1}
    titles = read_titles([look.title for look in looks])
    return Sets(
        size=len(looks),
        skip=skip,
        tokens={token: pages for token, pages in said.items() if pages.bit_count() >= LEAST},
        features=kept,
        weight={feature: log(len(looks) / pages.bit_count()) for feature, pages in kept.items()},
        titles=titles,
        kinds=named_kinds(looks, skip, titles, kept),
        company=companions([look.url for look in looks]),
    )


def divide(sets: Sets) -> tuple[Fork | int, list[int]]:
    """Ask for the kinds that have a name, split the rest until nothing splits: the tree of questions, and its parts."""
    names = list(sets.kinds)
    parts = list(sets.kinds.values())
    rest = sets.everything & ~union(parts)
    few = bool(names) and rest.bit_count() <= NAMELESS * sets.size

    def grow(pages: int, depth: int) -> Fork | int:
        split = best_split(sets, pages) if depth < DEEPEST and not few else None
        if split is None:
            parts.append(pages)
            return len(parts) - 1
        return Fork(split.token, grow(split.pages, depth + 1), grow(pages & ~split.pages, depth + 1))

    node = grow(rest, 0)
    for number in reversed(range(len(names))):  # one kind is asked for after the other
        node = Fork(names[number], number, node)
    return node, parts


def best_split(sets: Sets, pages: int) -> Split | None:
    """Find the token that says most about structure and really parts two templates; None if there is none."""
    count = pages.bit_count()
    said = _extents(sets.tokens, pages, count)
    had = _extents(sets.features, pages, count)
    if not said or not had:
        return None
    chance = log2(len(said) * len(had)) + MARGIN_BITS
    markers = _Markers(had, pages)
    found = [split for extent, names in said.items() if (split := markers.foretold(names[0], extent, chance))]
    weights = [(extent, sum(sets.weight[feature] for feature in features)) for extent, features in had.items()]
    found.sort(key=lambda split: -split.agreement * _told(split.pages, weights, count))
    reached = is_template(sets, pages)
    return next((split for split in found if parts_templates(sets, pages, split, chance, reached)), None)


def parts_templates(sets: Sets, pages: int, split: Split, chance: float, reached: bool) -> bool:
    """Decide whether a split parts two templates, or one template's pages by what they happen to hold."""
    count, inside = pages.bit_count(), split.pages.bit_count()
    one, other = profile(sets, split.pages), profile(sets, pages & ~split.pages)
    small, large = (one, other) if inside * 2 <= count else (other, one)
    alone = containment(small, large, sets.weight)
    telling = split.block_agreement >= TELLING
    contained = min(alone, containment(large, small, sets.weight)) if telling else alone
    both_own = has_own_block(one, other) and has_own_block(other, one)
    if reached and split.block_agreement < SURE and not both_own and (contained > UNLIKE or split.agreement < SURE):
        return False
    if contained >= CONTAINED and split.agreement < SURE:
        return False
    if split.bits < chance + CONTAINED_BITS * max(0.0, contained - 0.5):
        return False
    if min(inside, count - inside) < TINY * count and contained > TINY_CONTAINED:
        return False
    return split.agreement + (1 - alone) / 2 >= SEPARATE


def is_template(sets: Sets, pages: int) -> bool:
    """A part is a template when some block is on its pages and on no others."""
    count, rest = pages.bit_count(), sets.size - pages.bit_count()
    if not rest:
        return False
    for feature, having in sets.features.items():
        if is_block(feature):
            here = (having & pages).bit_count()
            if here >= REACHED * count and having.bit_count() - here <= (1 - REACHED) * rest:
                return True
    return False


def profile(sets: Sets, pages: int) -> dict[int, float]:
    """How many of these pages have each feature, as shares."""
    count = pages.bit_count()
    shares = {feature: (having & pages).bit_count() / count for feature, having in sets.features.items()}
    return {feature: share for feature, share in shares.items() if share}


def containment(small: Mapping[int, float], large: Mapping[int, float], weight: Mapping[int, float]) -> float:
    """Share of the blocks of one profile that the other holds too."""
    blocks = [feature for feature in small if is_block(feature)]
    whole = sum(weight[block] * small[block] for block in blocks)
    shared = sum(weight[block] * min(small[block], large.get(block, 0.0)) for block in blocks)
    return shared / whole if whole else 1.0


def has_own_block(one: Mapping[int, float], other: Mapping[int, float]) -> bool:
    """Some block is on most pages of the one part and on hardly any of the other."""
    return any(share >= MOST and other.get(block, 0.0) <= FEW for block, share in one.items() if is_block(block))


def _extents(sets: Mapping[Key, int], pages: int, count: int) -> dict[int, list[Key]]:
    """Group what has the same pages here, or just the others; leave out what too few, or nearly all, have."""
    grouped: dict[int, list[Key]] = {}
    for key, having in sets.items():
        extent = having & pages
        if LEAST <= extent.bit_count() <= count - LEAST:
            grouped.setdefault(extent, []).append(key)
    return grouped


def _told(token: int, weights: Iterable[tuple[int, float]], count: int) -> float:
    """All that a token tells about structure, rare features counting more."""
    size = token.bit_count()
    return sum(
        weight * mutual(count, size, extent.bit_count(), (token & extent).bit_count()) for extent, weight in weights
    )


class _Markers:
    """The features of a part, by how many pages have them, to find the one that a token foretells best."""

    def __init__(self, had: Mapping[int, Sequence[int]], pages: int) -> None:
        self.pages, self.count = pages, pages.bit_count()
        ordered = sorted(had.items(), key=lambda item: item[0].bit_count())
        self.extents = [extent for extent, _ in ordered]
        self.sizes = [extent.bit_count() for extent in self.extents]
        self.blocks = [any(is_block(feature) for feature in features) for _, features in ordered]

    def foretold(self, token: str, extent: int, chance: float) -> Split | None:
        """Measure the best marker of a token; None if none is good enough."""
        count, size = self.count, extent.bit_count()
        whole = count * entropy(size / count)
        first, best, best_block = -1, 0.0, 0.0
        for index in self._possible(size, max(GLIMPSE * whole, chance)):
            told = mutual(count, size, self.sizes[index], (extent & self.extents[index]).bit_count())
            if told > best:
                first, best = index, told
            if self.blocks[index]:
                best_block = max(best_block, told)
        if best < max(GLIMPSE * whole, chance):
            return None
        both = best + self._second(extent, self.extents[first]) if best < SURE * whole else best
        return Split(token, extent, both / whole, best, best_block / whole) if both >= FORETELLS * whole else None

    def _second(self, token: int, first: int) -> float:
        """Bits that one more feature adds to what the first tells."""
        here, there = first, self.pages & ~first
        counts = [(part, part.bit_count(), (part & token).bit_count()) for part in (here, there)]
        return max(
            sum(
                mutual(count, inside, (part & extent).bit_count(), (part & token & extent).bit_count())
                for part, count, inside in counts
            )
            for extent in self.extents
        )

    def _possible(self, size: int, needed: float) -> Iterable[int]:
        """Features whose page count alone does not rule them out, as they would be or as they would be missing."""
        seen: set[int] = set()
        for centre in (size, self.count - size):
            middle = bisect_left(self.sizes, centre)
            for step, start in ((1, middle), (-1, middle - 1)):
                index = start
                while 0 <= index < len(self.sizes) and self._most(size, self.sizes[index]) >= needed:
                    seen.add(index)
                    index += step
        return seen

    def _most(self, size: int, other: int) -> float:
        """The most two sets of these sizes can tell about each other."""
        together, apart = min(size, other), max(0, size + other - self.count)
        return max(mutual(self.count, size, other, together), mutual(self.count, size, other, apart))


def mutual(count: int, first: int, second: int, both: int) -> float:
    """Bits that membership in one set tells about membership in another, over all pages."""
    told = 0.0
    for joint, row, column in (
        (both, first, second),
        (first - both, first, count - second),
        (second - both, count - first, second),
        (count - first - second + both, count - first, count - second),
    ):
        if joint:
            told += joint * log2(joint * count / (row * column))
    return told
