"""Join the parts of a site that look alike: a site that is divided by what URLs and titles say is divided too far."""

from collections.abc import Mapping, Sequence
from enum import Enum

from sanderling.index.structure_kinds import words_of
from sanderling.index.structure_sets import Sets, containment, distance, has_own_block, overlap, profile

ALIKE = 0.55  # parts whose profiles share this much are one template ...
TOLD = 0.9  # ... unless some feature tells them apart this surely ...
SAME = 0.8  # ... and they do not hold this much of each other's blocks
MUTUAL = 0.6  # parts that share less but hold this much of each other's blocks are one template too ...
APART = 0.97  # ... unless some feature tells them apart this surely ...
WITHIN = 0.97  # ... and that is not just one part having less, with nothing beside its pages
MOSTLY = 0.5  # share of pages that have the same kind of page beside them: then one part ...
LESS = 0.9  # ... that is this much contained in the other has only less on it
CALLED = 0.95  # a part that is named with a word of a larger one, and holds so little else, is of its template ...
DOUBT = 0.85  # ... unless some feature tells them apart this surely
HALF, VAGUE = 0.5, 0.4  # parts that share half, and that no feature tells apart any more surely than this, are one


def join(parts: Sequence[int], sets: Sets) -> list[int]:
    """Join parts that look alike, the most alike first."""
    groups = {number: part for number, part in enumerate(parts) if part}
    profiles = {number: profile(sets, part) for number, part in groups.items()}

    def near(a: int, b: int) -> float:
        small, large = sorted((a, b), key=lambda number: groups[number].bit_count())
        beside = company(groups[a], groups[b], sets.company)
        called = share_word(groups[a], groups[b], sets.kinds)
        return alike(profiles[small], profiles[large], sets.weight, beside, called)

    pairs = {(a, b): near(a, b) for a in groups for b in groups if a < b}
    while pairs and (closest := max(pairs, key=pairs.__getitem__)) and pairs[closest] > 0:
        kept, gone = closest
        groups[kept] |= groups.pop(gone)
        profiles[kept] = profile(sets, groups[kept])
        pairs = {pair: likeness for pair, likeness in pairs.items() if gone not in pair}
        for pair in pairs:
            if kept in pair:
                pairs[pair] = near(*pair)
    return list(groups.values())


class Company(Enum):
    """What stands beside the pages of two parts: the same kind of page, nothing, or beside one part only."""

    SAME = "same"
    NONE = "none"
    OTHER = "other"


def company(one: int, other: int, beside: Mapping[str, int]) -> Company:
    """Compare what stands beside most pages of two parts."""
    found = Company.NONE
    for pages in beside.values():
        mostly = sum((part & pages).bit_count() >= MOSTLY * part.bit_count() for part in (one, other))
        if mostly == 2:
            return Company.SAME
        if mostly:
            found = Company.OTHER
    return found


def share_word(one: int, other: int, kinds: Mapping[str, int]) -> bool:
    """Two parts are called by names with a word in common."""
    words = [
        {word for name, pages in kinds.items() if pages & part for word in words_of(name)} for part in (one, other)
    ]
    return not words[0].isdisjoint(words[1])


def alike(
    small: Mapping[int, float],
    large: Mapping[int, float],
    weight: Mapping[int, float],
    beside: Company = Company.NONE,
    called: bool = False,
) -> float:
    """How much two parts share, if it is enough to be one template; 0 if it is not.

    Optional sections make pages of one template share less than half, but each part still holds most of what is usual
    on the other, and no section tells the parts apart for certain, unless one part has only less on it.
    """
    shared, told = overlap(small, large, weight), distance(small, large)
    first, second = containment(small, large, weight), containment(large, small, weight)
    least, most = min(first, second), max(first, second)
    if beside is Company.SAME and most >= LESS:
        return shared
    if shared >= HALF and told <= VAGUE:
        return shared
    if called and first >= CALLED and told <= DOUBT and not has_own_block(large, small):
        return shared
    within = most >= WITHIN and beside is Company.NONE
    near = least >= SAME or told <= TOLD if shared >= ALIKE else least >= MUTUAL and (within or told <= APART)
    return shared if near else 0.0
