"""Coherence of concepts: how much knowing that a page is in a set of pages tells about its other features.

Measured on reference pages, as the bits that are saved when every other feature is encoded with its frequency inside
and outside of the set, less the cost of the new frequencies (minimum description length, Rissanen 1978). Each view has
the same weight in total.
"""

from collections.abc import Collection, Sequence
from math import log2

from msgspec import Struct

from sanderling.templates.page_features import VIEWS, get_view

MIN_CONCEPT_PAGES, MAX_MIN_PAGES = 2, 4  # pages of the smallest concepts of a small and of a large site
PAGES_PER_STEP = 100  # growth of a site that raises this minimum by one
MAX_SETS = 600  # that are encoded, the most even ones
PENALTY = 0.15  # cost of a frequency, in units of log2 of the number of pages
MAX_MEASURED = 5_000  # sets per site


def is_concept_size(size: int, page_count: int) -> bool:
    least = min(MAX_MIN_PAGES, MIN_CONCEPT_PAGES + page_count // PAGES_PER_STEP)
    return least <= size < page_count


class WeightedSet(Struct, frozen=True):
    """Reference pages that share features; the lowest of the features; weight."""

    feature: int
    pages: int
    weight: float


class BitCosts:
    """Bits that encode which of some pages have a feature, at its frequency."""

    def __init__(self, page_count: int) -> None:
        self._bits = [0.0] + [n * log2(n) for n in range(1, page_count + 1)]

    def compute(self, page_count: int, having: int) -> float:
        bits = self._bits
        return bits[page_count] - bits[having] - bits[page_count - having]

    def compute_split(self, sizes: tuple[int, int], inside: int, outside: int) -> float:
        """Return the bits of a feature that some pages of both parts have."""
        bits, (left, right) = self._bits, sizes
        return bits[left] - bits[inside] - bits[left - inside] + bits[right] - bits[outside] - bits[right - outside]


class ReferencePages:
    """Pages of a site that stand for the others."""

    def __init__(self, pages: Sequence[Collection[int]]) -> None:
        self.page_count = len(pages)
        self.postings = build_postings(pages)
        self.sets = select_sets(self.postings, self.page_count, 1, MAX_SETS)
        self.costs = BitCosts(self.page_count)
        self._counted = [(found.pages, found.pages.bit_count(), found.weight) for found in self.sets]
        self._bits = sum(weight * self.costs.compute(self.page_count, size) for _, size, weight in self._counted)
        self._penalty = PENALTY * log2(max(2, self.page_count)) * sum(weight for _, _, weight in self._counted)
        self._savings: dict[int, float] = {}

    def measure_saving(self, feature: int) -> float:
        """Return the share of all bits that the pages of a feature save; 0 if they are too few."""
        pages = self.postings.get(feature, 0)
        if pages not in self._savings:
            is_measured = pages.bit_count() > 1 and len(self._savings) < MAX_MEASURED and self._bits
            self._savings[pages] = self._measure(pages) / self._bits if is_measured else 0.0
        return self._savings[pages]

    def _measure(self, pages: int) -> float:
        inside, compute = pages.bit_count(), self.costs.compute_split
        sizes = inside, self.page_count - inside
        after = 0.0
        for other, size, weight in self._counted:
            both = (pages & other).bit_count()
            after += weight * compute(sizes, both, size - both)
        return max(0.0, self._bits - after - self._penalty)


def build_postings(pages: Sequence[Collection[int]]) -> dict[int, int]:
    """Return the pages of each feature as a bit set."""
    postings: dict[int, int] = {}
    for number, features in enumerate(pages):
        for feature in features:
            postings[feature] = postings.get(feature, 0) | 1 << number
    return postings


def select_sets(postings: dict[int, int], page_count: int, min_pages: float, limit: int) -> list[WeightedSet]:
    """Return the distinct sets of at least so many pages, the most even first; each view has weight 1 in total."""
    by_pages: dict[int, list[int]] = {}
    for feature in sorted(postings):
        if max(2, min_pages) <= postings[feature].bit_count() < page_count:
            by_pages.setdefault(postings[feature], []).append(feature)
    views = {pages: {get_view(feature) for feature in features} for pages, features in by_pages.items()}
    counts = [sum(view in found for found in views.values()) for view in range(len(VIEWS))]
    sets = [
        WeightedSet(features[0], pages, sum(1 / counts[view] for view in sorted(views[pages])))
        for pages, features in by_pages.items()
    ]
    sets.sort(key=lambda found: (abs(2 * found.pages.bit_count() - page_count), found.feature))
    return sets[:limit]
