"""Join the parts of a site that look alike: a site that is divided by what URLs and titles say is divided too far."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from sanderling.index.structure_alike import Company, Pair, akin, alike
from sanderling.index.structure_bits import union
from sanderling.index.structure_kinds import words_of
from sanderling.index.structure_recurring import NAME
from sanderling.index.structure_sets import Sets, profile
from sanderling.index.structure_titles import ENDS

MOSTLY = 0.5  # share of pages that have the same kind of page beside them


def join(parts: Sequence[int], sets: Sets) -> list[int]:
    """Join parts that look alike, the most alike first."""
    groups = {number: part for number, part in enumerate(parts) if part}
    profiles = {number: profile(sets, part) for number, part in groups.items()}
    settled, titled = (union(pages for name, pages in sets.kinds.items() if name.startswith(p)) for p in (NAME, ENDS))

    def near(a: int, b: int) -> float:
        if (groups[a] | groups[b]) & settled:
            return 0.0
        small, large = sorted((a, b), key=lambda number: groups[number].bit_count())
        pair = Pair(profiles[small], profiles[large], sets.weight, company(groups[a], groups[b], sets.company))
        if groups[a] & titled and groups[b] & titled:
            word = share_word(groups[a], groups[b], sets.kinds)
            lists = are_lists(groups[a], groups[b], sets) and akin(replace(pair, beside=Company.SAME), True)
            return lists or akin(pair, word)
        return alike(pair)

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


def are_lists(one: int, other: int, sets: Sets) -> bool:
    """Both parts are lists that go on in other files under one title: `functions_vars.html`, `globals_enum.html`."""
    listed = [sets.kinds[name] for name, ways in sets.series.items() if ways and name.removeprefix(ENDS) in sets.titles.repeated]
    return all(any(part & pages for pages in listed) for part in (one, other))
