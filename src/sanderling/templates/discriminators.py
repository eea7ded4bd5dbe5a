"""How well structure agrees with a token: the features that tell whether a page carries it."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from sanderling.fingerprint.structure import is_block_feature
from sanderling.templates.bitsets import entropy, mutual

FORETELLS = 0.5  # share of a token's information that two structural features give
GLIMPSE = 0.25  # share that the better of the two gives alone
SURE = 0.97  # share from which two views agree


class Split(Struct, frozen=True):
    """A way to divide a part, and how well structure agrees with it."""

    token: str
    pages: int
    agreement: float
    bits: float
    block_agreement: float


class Markers:
    """The features of a part, by how many pages have them, to find the one that a token foretells best."""

    def __init__(self, had: Mapping[int, Sequence[int]], pages: int) -> None:
        self.pages, self.count = pages, pages.bit_count()
        ordered = sorted(had.items(), key=lambda item: item[0].bit_count())
        self.extents = [extent for extent, _ in ordered]
        self.sizes = [extent.bit_count() for extent in self.extents]
        self.blocks = [any(is_block_feature(feature) for feature in features) for _, features in ordered]

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
