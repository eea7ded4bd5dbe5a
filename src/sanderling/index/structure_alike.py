"""Whether two parts of a site are one template: what they share, and how surely a block tells them apart.

Optional sections make pages of one template share less than half, but each part still holds most of what is usual on
the other, and no section tells the parts apart for certain.
"""

from collections.abc import Mapping
from enum import Enum

from msgspec import Struct

from sanderling.index.structure_sets import containment, distance, overlap

ALIKE = 0.55  # parts whose profiles share this much are one template ...
TOLD = 0.9  # ... unless some feature tells them apart this surely ...
SAME = 0.8  # ... and they do not hold this much of each other's blocks
MUTUAL = 0.6  # parts that share less but hold this much of each other's blocks are one template too ...
APART = 0.97  # ... unless some feature tells them apart this surely
HALF = 0.5  # of one of two kinds with a word in common and the same company is in the other: they are one
NEARLY = 0.45  # shared by two kinds with a word in common that no feature tells apart for certain
THIRD, HARDLY = 0.35, 0.6  # kinds with a word in common that share a third, and that no feature tells apart more surely


class Company(Enum):
    """What stands beside the pages of two parts: the same kind of page, nothing, or beside one part only."""

    SAME = "same"
    NONE = "none"
    OTHER = "other"


class Pair(Struct, frozen=True):
    """Two parts of a site, and what stands beside their pages."""

    small: Mapping[int, float]
    large: Mapping[int, float]
    weight: Mapping[int, float]
    beside: Company = Company.NONE

    @property
    def shared(self) -> float:
        return overlap(self.small, self.large, self.weight)

    @property
    def told(self) -> float:
        return distance(self.small, self.large)

    @property
    def contained(self) -> tuple[float, float]:
        """How much of the small part's blocks the large part holds, and the other way round."""
        small, large, weight = self.small, self.large, self.weight
        return containment(small, large, weight), containment(large, small, weight)


def alike(pair: Pair) -> float:
    """How much two parts share, if it is enough to be one template; 0 if it is not."""
    shared, told = pair.shared, pair.told
    least = min(pair.contained)
    if shared >= ALIKE:
        return shared if least >= SAME or told <= TOLD else 0.0
    return shared if least >= MUTUAL and told <= APART else 0.0


def served_alike(pair: Pair) -> float:
    """The same for two parts that one kind of page tells of: half of one must be in the other."""
    return pair.shared if max(pair.contained) >= HALF else 0.0


def akin(pair: Pair, word: bool) -> float:
    """The same for two kinds that titles name, with a word in common or without: more is asked for."""
    shared, told = pair.shared, pair.told
    same = shared >= ALIKE and (min(pair.contained) >= SAME or told <= TOLD)
    if not word:
        return shared if same else 0.0
    if pair.beside is Company.SAME:
        return shared if same or max(pair.contained) >= HALF else 0.0
    if pair.beside is Company.OTHER:
        return 0.0
    hardly = (shared >= THIRD and told <= HARDLY) or (shared >= NEARLY and told <= TOLD)
    return shared if same or (hardly and pair.beside is Company.NONE) else 0.0
