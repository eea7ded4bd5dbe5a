"""One score out of four parts, each bounded: words first, then links, freshness and what users taught.

BM25 is tantivy's, with k1 = 1.2 and b = 0.75; the library has no way to set them, which docs/explanation/search.md says too.
"""

import math

from msgspec import Struct

from sanderling.search.search_types import ScoreParts


class RankingWeights(Struct, frozen=True):
    """How much each part may move a hit."""

    link: float = 0.25  # the best-linked page gains so much over one without links
    freshness: float = 0.15  # a page changed just now gains so much over an old one
    half_life_days: float = 90.0
    behavior: float = 1.0  # a page users fully agree on doubles its score; one they pass over loses up to half


FULL_LINK_RANK = 100.0  # times the average page; from here on more links add nothing


def combine_scores(
    text: float, link_rank: float, age_seconds: float, behavior: float, weights: RankingWeights
) -> ScoreParts:
    """Weigh the parts of one hit; `behaviour` lies between -1 and 1."""
    link = min(1.0, math.log1p(max(0.0, link_rank)) / math.log1p(FULL_LINK_RANK))
    fresh = 0.5 ** (max(0.0, age_seconds) / (weights.half_life_days * 86400))
    taught = max(-1.0, min(1.0, behavior)) * weights.behavior
    return ScoreParts(
        text=text,
        link=1 + weights.link * link,
        freshness=1 + weights.freshness * fresh,
        behavior=1 + taught if taught >= 0 else 1 / (1 - taught),
    )
