"""How good a ranking is: the usual measures of retrieval, as pure functions."""

import math
from collections.abc import Collection, Mapping, Sequence


def compute_average_precision(ranking: Sequence[str], relevant: Collection[str]) -> float:
    """The mean of the precision at each relevant page; what is not found counts as nothing."""
    found, total = 0, 0.0
    for place, page in enumerate(ranking, 1):
        if page in relevant:
            found += 1
            total += found / place
    return total / len(relevant) if relevant else 0.0


def compute_precision(ranking: Sequence[str], relevant: Collection[str], depth: int = 10) -> float:
    """The share of relevant pages among the first ones."""
    return sum(page in relevant for page in ranking[:depth]) / depth


def compute_ndcg(ranking: Sequence[str], gains: Mapping[str, float], depth: int = 10) -> float:
    """Discounted gain of the first pages, as a share of the best that was possible."""
    reached = _compute_dcg([gains.get(page, 0.0) for page in ranking[:depth]])
    best = _compute_dcg(sorted(gains.values(), reverse=True)[:depth])
    return reached / best if best else 0.0


def _compute_dcg(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(place + 1) for place, gain in enumerate(gains, 1))
