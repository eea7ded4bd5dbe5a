"""Join the parts of a site that look alike: a site that is divided by what URLs and titles say is divided too far."""

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from sanderling.templates.bitsets import members, union
from sanderling.templates.file_names import NAME
from sanderling.templates.named_types import split_kind_name
from sanderling.templates.page_sets import PageSets, compute_distinctness, containment, overlap, profile
from sanderling.templates.titles import ENDS

ALIKE = 0.55  # parts whose profiles share this much are one template ...
TOLD = 0.9  # ... unless some feature tells them apart this surely ...
SAME = 0.8  # ... and they do not hold this much of each other's blocks
MUTUAL = 0.6  # parts that share less but hold this much of each other's blocks are one template too ...
APART = 0.97  # ... unless some feature tells them apart this surely
HALF = 0.5  # of one of two kinds with a word in common and the same company is in the other: they are one
NEARLY = 0.45  # shared by two kinds with a word in common that no feature tells apart for certain
THIRD, HARDLY = 0.35, 0.6  # kinds with a word in common that share a third, and that no feature tells apart more surely


class CompanionMatch(Enum):
    """What stands beside the pages of two parts: the same kind of page, nothing, or beside one part only."""

    SAME = "same"
    NONE = "none"
    OTHER = "other"


class PartPair(Struct, frozen=True):
    """Two parts of a site, and what stands beside their pages."""

    small: Mapping[int, float]
    large: Mapping[int, float]
    weight: Mapping[int, float]
    beside: CompanionMatch = CompanionMatch.NONE

    @property
    def shared(self) -> float:
        return overlap(self.small, self.large, self.weight)

    @property
    def distinctness(self) -> float:
        return compute_distinctness(self.small, self.large)

    @property
    def contained(self) -> tuple[float, float]:
        """How much of the small part's blocks the large part holds, and the other way round."""
        small, large, weight = self.small, self.large, self.weight
        return containment(small, large, weight), containment(large, small, weight)


def compute_merge_score(pair: PartPair) -> float:
    """How much two parts share, if it is enough to be one template; 0 if it is not."""
    shared, told = pair.shared, pair.distinctness
    least = min(pair.contained)
    if shared >= ALIKE:
        return shared if least >= SAME or told <= TOLD else 0.0
    return shared if least >= MUTUAL and told <= APART else 0.0


def score_described_parts(pair: PartPair) -> float:
    """The same for two parts that one kind of page tells of: half of one must be in the other."""
    return pair.shared if max(pair.contained) >= HALF else 0.0


def akin(pair: PartPair, word: bool) -> float:
    """The same for two kinds that titles name, with a word in common or without: more is asked for."""
    shared, told = pair.shared, pair.distinctness
    same = shared >= ALIKE and (min(pair.contained) >= SAME or told <= TOLD)
    if not word:
        return shared if same else 0.0
    if pair.beside is CompanionMatch.SAME:
        return shared if same or max(pair.contained) >= HALF else 0.0
    if pair.beside is CompanionMatch.OTHER:
        return 0.0
    hardly = (shared >= THIRD and told <= HARDLY) or (shared >= NEARLY and told <= TOLD)
    return shared if same or (hardly and pair.beside is CompanionMatch.NONE) else 0.0


MINOR = 0.2  # a kind that titles name has so many pages for each without a name, or may be of those
MOSTLY = 0.5  # share of pages that have the same kind of page beside them


def merge_parts(parts: Sequence[int], sets: PageSets) -> list[int]:
    """Join parts that look alike, the most alike first."""
    groups = {number: part for number, part in enumerate(parts) if part}
    profiles = {number: profile(sets, part) for number, part in groups.items()}
    told = {number: _telling(part, sets.tellers) for number, part in groups.items()}
    settled, titled = (union(pages for name, pages in sets.kinds.items() if name.startswith(p)) for p in (NAME, ENDS))

    def near(a: int, b: int) -> float:
        one, other = groups[a], groups[b]
        if (one | other) & settled or (sets.believed and is_named_kind(one, other, titled)):
            return 0.0
        small, large = sorted((a, b), key=lambda number: groups[number].bit_count())
        pair = PartPair(profiles[small], profiles[large], sets.weight, compare_companions(one, other, sets.company))
        served = replace(pair, beside=CompanionMatch.SAME)
        if one & titled and other & titled:
            lists = akin(served, True) if one & sets.lists and other & sets.lists else 0.0
            return lists or akin(pair, share_word(one, other, sets.kinds))
        told_of = are_described_together({one: told[a], other: told[b]}, groups.values())
        return compute_merge_score(pair) or (score_described_parts(served) if told_of else 0.0)

    pairs = {(a, b): near(a, b) for a in groups for b in groups if a < b}
    while pairs and (closest := max(pairs, key=pairs.__getitem__)) and pairs[closest] > 0:
        kept, gone = closest
        groups[kept] |= groups.pop(gone)
        told[kept] |= told.pop(gone)
        profiles[kept] = profile(sets, groups[kept])
        pairs = {pair: likeness for pair, likeness in pairs.items() if gone not in pair}
        for pair in pairs:
            if kept in pair:
                pairs[pair] = near(*pair)
    return list(groups.values())


def is_named_kind(one: int, other: int, titled: int) -> bool:
    """One of two parts is a kind that titles name, the other pages without a name, and not many more."""
    named, rest = (one, other) if one & titled else (other, one)
    return bool(named & titled) and not rest & titled and named.bit_count() >= MINOR * rest.bit_count()


def compare_companions(one: int, other: int, beside: Mapping[str, int]) -> CompanionMatch:
    """Compare what stands beside most pages of two parts."""
    found = CompanionMatch.NONE
    for pages in beside.values():
        mostly = sum((part & pages).bit_count() >= MOSTLY * part.bit_count() for part in (one, other))
        if mostly == 2:
            return CompanionMatch.SAME
        if mostly:
            found = CompanionMatch.OTHER
    return found


def share_word(one: int, other: int, kinds: Mapping[str, int]) -> bool:
    """Two parts are called by names with a word in common."""
    words = [
        {word for name, pages in kinds.items() if pages & part for word in split_kind_name(name)}
        for part in (one, other)
    ]
    return not words[0].isdisjoint(words[1])


def are_described_together(telling: Mapping[int, int], groups: Iterable[int]) -> bool:
    """Pages of a third part tell of most pages of two parts."""
    return any(
        all((group & tell).bit_count() >= MOSTLY * part.bit_count() for part, tell in telling.items())
        for group in groups
        if group not in telling
    )


def _telling(part: int, tellers: Mapping[int, int]) -> int:
    """The pages that tell of the pages of a part, as a set."""
    return union(1 << tellers[page] for page in members(part) if page in tellers) if tellers else 0
