"""Two small learners for a few numbers per page: a decision tree and nearest neighbours. They guess a class by mean."""

from collections.abc import Callable, Sequence
from functools import cache
from heapq import nsmallest

from msgspec import Struct

CLASSES = 3
DEEPEST = 6
LEAVES = 5  # samples in the smallest leaf
CUTS = 16  # places of each feature where a cut is tried
NEIGHBOURS = 7
MOST_SAMPLES = 500
GRAIN = 4  # steps in which features are told apart by nearest neighbours

Sample = Sequence[float]
Guess = Callable[[Sample], float]


class Tree(Struct, frozen=True):
    """A node: a leaf with a mean, or a question with two answers."""

    mean: float
    feature: int = -1
    cut: float = 0.0
    below: "Tree | None" = None
    above: "Tree | None" = None

    @staticmethod
    def grow(samples: Sequence[Sample], labels: Sequence[int], depth: int = DEEPEST) -> "Tree":
        """Split where the variance of the labels falls most."""
        mean = sum(labels) / len(labels)
        best = _best_cut(samples, labels) if depth and len(samples) >= 2 * LEAVES else None
        if best is None:
            return Tree(mean)
        feature, cut = best
        sides = [[n for n, s in enumerate(samples) if (s[feature] >= cut) is side] for side in (False, True)]
        low, high = (Tree.grow([samples[n] for n in side], [labels[n] for n in side], depth - 1) for side in sides)
        return Tree(mean, feature, cut, low, high)

    def guess(self, sample: Sample) -> float:
        """The mean class of the leaf a sample falls into."""
        node = self
        while node.below is not None and node.above is not None:
            node = node.above if sample[node.feature] >= node.cut else node.below
        return node.mean


def _best_cut(samples: Sequence[Sample], labels: Sequence[int]) -> tuple[int, float] | None:
    best, found = _spread(labels) - 1e-9, None
    for feature in range(len(samples[0])):
        values = sorted({sample[feature] for sample in samples})
        for cut in values[1 :: max(1, len(values) // CUTS)]:
            low = [label for sample, label in zip(samples, labels, strict=True) if sample[feature] < cut]
            high = [label for sample, label in zip(samples, labels, strict=True) if sample[feature] >= cut]
            if min(len(low), len(high)) >= LEAVES and (left := _spread(low) + _spread(high)) < best:
                best, found = left, (feature, cut)
    return found


def _spread(labels: Sequence[int]) -> float:
    """The sum of squares around the mean."""
    total = sum(labels)
    return sum(label * label for label in labels) - total * total / len(labels) if labels else 0.0


def neighbours(samples: Sequence[Sample], labels: Sequence[int], k: int = NEIGHBOURS) -> Guess:
    """Guess by the mean class of the k samples that are nearest."""
    step = max(1, len(samples) // MOST_SAMPLES)
    known = list(zip(samples[::step], labels[::step], strict=True))

    @cache
    def near(sample: Sample) -> float:
        nearest = nsmallest(k, known, key=lambda one: sum((a - b) ** 2 for a, b in zip(one[0], sample, strict=True)))
        return sum(label for _, label in nearest) / len(nearest)

    return lambda sample: near(tuple(round(GRAIN * value) / GRAIN for value in sample))
