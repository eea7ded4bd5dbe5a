"""Mine frequent sets of user actions and weight pages by them (MIG).

A transaction is the set of actions of a user on a page. Eclat gives the result of Apriori.
"""

import math
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TypeVar

from msgspec import Struct

MIN_SUPPORT = 0.2  # MIG 6.2.3
MIN_CONFIDENCE = 0.6
MAX_PATTERN_SIZE = 16  # a pattern of n actions has 2^n - 2 proper subsets; there are 13 actions
_EPSILON = 1e-9

Item = TypeVar("Item", bound=Hashable)


class PatternWeight(Struct, frozen=True):
    pattern: tuple[int, ...]  # the largest frequent set; empty if none has two actions
    weight: float  # sum of the confidences above the threshold
    normalized_weight: float  # divided by the number of proper subsets: 0..1, comparable between pages
    confidences: dict[tuple[int, ...], float] = {}


def compute_min_count(min_support: float, transactions: int) -> int:
    return max(1, math.ceil(min_support * transactions - _EPSILON))


def find_frequent_sets(transactions: Sequence[Collection[Item]], min_count: int) -> dict[frozenset[Item], int]:
    """Return sets in at least `min_count` transactions, with counts."""
    item_bits: dict[Item, int] = {}
    for number, transaction in enumerate(transactions):
        for item in set(transaction):
            item_bits[item] = item_bits.get(item, 0) | 1 << number
    single = [(item, bits) for item, bits in item_bits.items() if bits.bit_count() >= min_count]
    single.sort(key=lambda pair: pair[1].bit_count())
    return dict(_extend_sets((), single, min_count))


def _extend_sets(
    prefix: tuple[Item, ...], candidates: list[tuple[Item, int]], min_count: int
) -> Iterator[tuple[frozenset[Item], int]]:
    for i, (item, bits) in enumerate(candidates):
        found = (*prefix, item)
        yield frozenset(found), bits.bit_count()
        intersections = [(other, bits & other_bits) for other, other_bits in candidates[i + 1 :]]
        longer = [(other, common) for other, common in intersections if common.bit_count() >= min_count]
        if longer:
            yield from _extend_sets(found, longer, min_count)


def compute_confidences(pattern: Collection[int], counts: Mapping[frozenset[int], int]) -> dict[tuple[int, ...], float]:
    """Compute support(F) / support(s) for every proper subset s of F."""
    support = counts[frozenset(pattern)]
    subsets = [s for size in range(1, len(pattern)) for s in combinations(sorted(pattern), size)]
    return {subset: support / counts[frozenset(subset)] for subset in subsets}


def compute_pattern_weight(
    pattern: Collection[int], counts: Mapping[frozenset[int], int], min_confidence: float = MIN_CONFIDENCE
) -> PatternWeight:
    """Sum the confidences that reach the threshold."""
    confidences = compute_confidences(pattern, counts)
    weight = sum(value for value in confidences.values() if value >= min_confidence - _EPSILON)
    return PatternWeight(tuple(sorted(pattern)), weight, weight / len(confidences) if confidences else 0.0, confidences)


def compute_page_weight(
    transactions: Sequence[Collection[int]],
    min_support: float = MIN_SUPPORT,
    min_confidence: float = MIN_CONFIDENCE,
) -> PatternWeight:
    """Weight a page by its largest, then heaviest frequent set."""
    counts = find_frequent_sets(transactions, compute_min_count(min_support, len(transactions)))
    size = min(max(map(len, counts), default=0), MAX_PATTERN_SIZE)
    if size < 2:
        return PatternWeight((), 0.0, 0.0)
    largest = [pattern for pattern in counts if len(pattern) == size]
    weights = [compute_pattern_weight(pattern, counts, min_confidence) for pattern in largest]
    return max(weights, key=lambda w: (w.weight, [-action for action in w.pattern]))
