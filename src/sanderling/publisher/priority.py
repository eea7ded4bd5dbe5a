"""Live priority of a page, from its human views. The paper (DPS) gives no formula; these are ours.

    hits    views / views of the most viewed page            (default)
    log     log(1 + views) / log(1 + most views)             one page that runs away does not flatten all others
    decay   the same share as `hits`, of views that fade      a view counts half after each half-life

All three are rounded to two decimals and lie between 0 and 1. Fading needs no upkeep: instead of shrinking old views,
each new one counts more, by 2^(time since an epoch / half-life); in the quotient the common factor falls out.
"""

import math

FORMULAS = ("hits", "log", "decay")
DEFAULT_PRIORITY = 0.5  # while nothing has been viewed: what sitemaps mean by no priority
MAX_EPOCH_HALF_LIVES = 200.0  # half-lives after which the epoch is moved, long before numbers run out


def compute_view_weight(formula: str, viewed_at: int, epoch: int, half_life: int) -> float:
    """Say how much one view at a time adds to a page's score."""
    return 2.0 ** ((viewed_at - epoch) / half_life) if formula == "decay" else 1.0


def compute_priority(formula: str, score: float, top_score: float) -> float:
    """Turn a score into a priority, given the highest score of the site."""
    if top_score <= 0:
        return DEFAULT_PRIORITY
    share = math.log1p(score) / math.log1p(top_score) if formula == "log" else score / top_score
    return round(min(share, 1.0), 2)
