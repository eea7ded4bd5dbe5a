"""Compute live priorities (0 to 1, two decimals) from human views. The paper (DPS) gives no formula.

    hits    views / views of the most viewed page            (default)
    log     log(1 + views) / log(1 + most views)             an outlier does not flatten the rest
    decay   like `hits`, with fading views                    a view counts half after each half-life
Instead of reducing old views, each new view weighs 2^(time since epoch / half-life).
"""

import math

FORMULAS = ("hits", "log", "decay")
DEFAULT_PRIORITY = 0.5  # without views; the default of the sitemap protocol
MAX_EPOCH_HALF_LIVES = 200.0  # half-lives after which the epoch moves, long before overflow


def compute_view_weight(formula: str, viewed_at: int, epoch: int, half_life: int) -> float:
    """Return how much a view adds to the score of a page."""
    return 2.0 ** ((viewed_at - epoch) / half_life) if formula == "decay" else 1.0


def compute_priority(formula: str, score: float, top_score: float) -> float:
    """Return the priority of a score, relative to the highest of the site."""
    if top_score <= 0:
        return DEFAULT_PRIORITY
    share = math.log1p(score) / math.log1p(top_score) if formula == "log" else score / top_score
    return round(min(share, 1.0), 2)
