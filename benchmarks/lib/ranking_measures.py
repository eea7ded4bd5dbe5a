"""Measures of retrieval quality."""

import math
from collections.abc import Collection, Mapping, Sequence


def compute_average_precision(ranking: Sequence[str], relevant: Collection[str]) -> float:
    """Compute the mean precision at relevant pages. Missed pages count as 0."""
    found, total = 0, 0.0
    for position, page in enumerate(ranking, 1):
        if page in relevant:
            found += 1
            total += found / position
    return total / len(relevant) if relevant else 0.0


def compute_precision(ranking: Sequence[str], relevant: Collection[str], depth: int = 10) -> float:
    return sum(page in relevant for page in ranking[:depth]) / depth


def compute_ndcg(ranking: Sequence[str], gains: Mapping[str, float], depth: int = 10) -> float:
    dcg = _compute_dcg([gains.get(page, 0.0) for page in ranking[:depth]])
    ideal_dcg = _compute_dcg(sorted(gains.values(), reverse=True)[:depth])
    return dcg / ideal_dcg if ideal_dcg else 0.0


def _compute_dcg(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(position + 1) for position, gain in enumerate(gains, 1))
