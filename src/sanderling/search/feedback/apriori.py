"""Frequent sets of actions, and the weight a page gets from them (MIG-14).

A transaction is what one user did on one page: a set of action numbers. Sets are mined depth first over bit sets of
transactions (Eclat), which finds what Apriori's join and prune find, without counting anything twice.
"""

import math
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TypeVar

from msgspec import Struct

MIN_SUPPORT = 0.2  # MIG 6.2.3
MIN_CONFIDENCE = 0.6
MAX_PATTERN_SIZE = 16  # a pattern of n actions has 2^n - 2 subsets; there are 13 actions
_EPSILON = 1e-9

Item = TypeVar("Item", bound=Hashable)


class PatternWeight(Struct, frozen=True):
    """What users' actions say of one page."""

    pattern: tuple[int, ...]  # the largest frequent set, empty if there is none with two actions
    weight: float  # sum of the confidences that reach the threshold
    normalized_weight: float  # the same by the number of proper subsets, so that pages compare: 0..1
    confidences: dict[tuple[int, ...], float] = {}


def compute_min_count(min_support: float, transactions: int) -> int:
    """How many transactions make a set frequent."""
    return max(1, math.ceil(min_support * transactions - _EPSILON))


def find_frequent_sets(transactions: Sequence[Collection[Item]], min_count: int) -> dict[frozenset[Item], int]:
    """Find every set of items that at least `least` transactions hold, with its count."""
    holders: dict[Item, int] = {}
    for place, transaction in enumerate(transactions):
        for item in set(transaction):
            holders[item] = holders.get(item, 0) | 1 << place
    single = [(item, bits) for item, bits in holders.items() if bits.bit_count() >= min_count]
    single.sort(key=lambda pair: pair[1].bit_count())
    return dict(_extend_sets((), single, min_count))


def _extend_sets(
    prefix: tuple[Item, ...], candidates: list[tuple[Item, int]], min_count: int
) -> Iterator[tuple[frozenset[Item], int]]:
    for i, (item, bits) in enumerate(candidates):
        found = (*prefix, item)
        yield frozenset(found), bits.bit_count()
        both = [(other, bits & theirs) for other, theirs in candidates[i + 1 :]]
        longer = [(other, common) for other, common in both if common.bit_count() >= min_count]
        if longer:
            yield from _extend_sets(found, longer, min_count)


def find_rules(
    counts: Mapping[frozenset[Item], int], min_confidence: float
) -> Iterator[tuple[frozenset[Item], Item, float]]:
    """Give every rule (a set, therefore one more item) that holds often enough."""
    for whole, count in counts.items():
        for item in whole if len(whole) > 1 else ():
            confidence = count / counts[whole - {item}]
            if confidence >= min_confidence - _EPSILON:
                yield whole - {item}, item, confidence


def compute_confidences(pattern: Collection[int], counts: Mapping[frozenset[int], int]) -> dict[tuple[int, ...], float]:
    """C_s = support(F) / support(s) for every proper, non-empty subset s of the pattern F."""
    whole = counts[frozenset(pattern)]
    parts = [s for size in range(1, len(pattern)) for s in combinations(sorted(pattern), size)]
    return {part: whole / counts[frozenset(part)] for part in parts}


def compute_pattern_weight(
    pattern: Collection[int], counts: Mapping[frozenset[int], int], min_confidence: float = MIN_CONFIDENCE
) -> PatternWeight:
    """Sum the confidences that reach the threshold."""
    found = compute_confidences(pattern, counts)
    weight = sum(value for value in found.values() if value >= min_confidence - _EPSILON)
    return PatternWeight(tuple(sorted(pattern)), weight, weight / len(found) if found else 0.0, found)


def compute_page_weight(
    transactions: Sequence[Collection[int]],
    min_support: float = MIN_SUPPORT,
    min_confidence: float = MIN_CONFIDENCE,
) -> PatternWeight:
    """Weigh a page by its largest frequent set of actions; among sets of one size, by the one that weighs most."""
    counts = find_frequent_sets(transactions, compute_min_count(min_support, len(transactions)))
    size = min(max(map(len, counts), default=0), MAX_PATTERN_SIZE)
    if size < 2:
        return PatternWeight((), 0.0, 0.0)
    largest = [pattern for pattern in counts if len(pattern) == size]
    weighed = [compute_pattern_weight(pattern, counts, min_confidence) for pattern in largest]
    return max(weighed, key=lambda w: (w.weight, [-action for action in w.pattern]))
