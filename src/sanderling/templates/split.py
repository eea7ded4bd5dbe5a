"""Divide the pages of a site until each part is one template.

A part is split by a token of URL or title (`organise.tokens`) that foretells structure: knowing whether a page carries
the token must say, nearly always, whether it has some structural feature. Sections that are there on some pages only do
not split a template, because URL and title know nothing of them; words in titles do not, because structure knows
nothing of them. This agreement of two views replaces a similarity threshold, which cannot tell "the same template, with
an optional section" from "another template in the same chrome".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import log2
from typing import TypeVar

from msgspec import Struct

from sanderling.fingerprint.structure import is_block_feature
from sanderling.templates.bitsets import mutual, union
from sanderling.templates.discriminators import SURE, Markers, Split
from sanderling.templates.page_sets import PageSets, containment, has_own_block, profile

Key = TypeVar("Key")

DEEPEST = 100  # questions asked of a page
LEAST = 4  # pages on either side of a split
NAMELESS = 0.5  # share of pages without a name where kinds have one: so few are one kind, the other pages
MARGIN_BITS = 7.0  # evidence beyond what the best of so many pairs shows by chance
CONTAINED = 0.92  # a part this much contained in the other has only less on it, unless the views surely agree
CONTAINED_BITS = 60.0  # more evidence is asked of a part the more it is contained in the other
SEPARATE = 0.78  # agreement plus half of what is not contained
TINY, TINY_CONTAINED = 0.02, 0.3  # a very small part must look really different
REACHED, ELSEWHERE = 0.95, 0.01  # a block on nearly all pages of a part and nowhere else: it is a template already
TELLING = 0.5  # share of a token's information that one block gives: then it counts how much either part holds of the
# other, for a page that has only the frame of a site is contained in all others and still is another template
UNLIKE = 0.4  # parts that hold no more of each other are two templates, whatever else speaks for one


class DecisionNode(Struct, frozen=True):
    """A question asked of a page: does it carry this token?"""

    token: str
    yes: DecisionNode | int
    no: DecisionNode | int


def divide(sets: PageSets) -> tuple[DecisionNode | int, list[int]]:
    """Ask for the kinds that have a name, split the rest until nothing splits: the tree of questions, and its parts."""
    names = list(sets.kinds)
    parts = list(sets.kinds.values())
    rest = sets.everything & ~union(parts)
    few = bool(names) and rest.bit_count() <= NAMELESS * sets.size

    def grow(pages: int, depth: int) -> DecisionNode | int:
        split = best_split(sets, pages) if depth < DEEPEST and not few else None
        if split is None:
            parts.append(pages)
            return len(parts) - 1
        return DecisionNode(split.token, grow(split.pages, depth + 1), grow(pages & ~split.pages, depth + 1))

    node = grow(rest, 0)
    for number in reversed(range(len(names))):  # one kind is asked for after the other
        node = DecisionNode(names[number], number, node)
    return node, parts


def best_split(sets: PageSets, pages: int) -> Split | None:
    """Find the token that says most about structure and really parts two templates; None if there is none."""
    count = pages.bit_count()
    said = _extents(sets.tokens, pages, count)
    had = _extents(sets.features, pages, count)
    if not said or not had:
        return None
    chance = log2(len(said) * len(had)) + MARGIN_BITS
    markers = Markers(had, pages)
    found = [split for extent, names in said.items() if (split := markers.foretold(names[0], extent, chance))]
    weights = [(extent, sum(sets.weight[feature] for feature in features)) for extent, features in had.items()]
    found.sort(key=lambda split: -split.agreement * _told(split.pages, weights, count))
    reached = is_template(sets, pages)
    return next((split for split in found if parts_templates(sets, pages, split, chance, reached)), None)


def parts_templates(sets: PageSets, pages: int, split: Split, chance: float, reached: bool) -> bool:
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


def is_template(sets: PageSets, pages: int) -> bool:
    """A part is a template when some block is on its pages and on no others."""
    count, rest = pages.bit_count(), sets.size - pages.bit_count()
    if not rest:
        return False
    for feature, having in sets.features.items():
        if is_block_feature(feature):
            here = (having & pages).bit_count()
            if here >= REACHED * count and having.bit_count() - here <= ELSEWHERE * rest:
                return True
    return False


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
