"""Combine text, links, freshness, and learned behavior into a score.

tantivy's BM25 has fixed k1 = 1.2 and b = 0.75.
"""

import math

from msgspec import Struct

from sanderling.search.search_types import ScoreParts


class RankingWeights(Struct, frozen=True):
    link: float = 0.25  # gain of the best-linked page over a page without links
    freshness: float = 0.15  # gain of a page changed just now over an old page
    half_life_days: float = 90.0
    behavior: float = 1.0  # a weight of 1 gives twice the score, -1 half


FULL_LINK_RANK = 100.0  # times the average; a higher link rank has no further effect
_FULL_LINK_LOG = math.log1p(FULL_LINK_RANK)


def combine_scores(
    text: float, link_rank: float, age_seconds: float, behavior: float, weights: RankingWeights
) -> ScoreParts:
    link = min(1.0, math.log1p(link_rank) / _FULL_LINK_LOG) if link_rank > 0 else 0.0
    fresh = 0.5 ** (age_seconds / (weights.half_life_days * 86400)) if age_seconds > 0 else 1.0
    learned = max(-1.0, min(1.0, behavior)) * weights.behavior if behavior else 0.0
    return ScoreParts(
        text=text,
        link=1 + weights.link * link,
        freshness=1 + weights.freshness * fresh,
        behavior=1 + learned if learned >= 0 else 1 / (1 - learned),
    )
