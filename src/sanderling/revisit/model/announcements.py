"""What an announcement of change, or its absence, says of a page (noisy signals, Busa-Fekete et al. 2025).

An announcer tells a share r of the changes, and says falsely that something changed nu times a day. So its silence
is evidence of a slow page, its word one of a fast one, and after it the copy is fresh with chance nu / (r rate + nu).
"""

from functools import lru_cache
from math import exp, expm1, log1p

from sanderling.revisit.model import change_rate
from sanderling.revisit.model.announcer_trust import Trust
from sanderling.revisit.model.change_rate import RATES, Row

MOST_SIGNALS = 8  # that are counted of one page
LEAST_FALSE = 1e-4  # false announcements a day that are always thought possible


def heard(weights: Row, trust: Trust, days: float, signals: int) -> tuple[Row, float]:
    """The belief about a page's rate after so many days of silence, but for so many announcements; and its sum."""
    silence = change_rate.quiet_table()[change_rate.slot(trust.recall * days)]
    if signals:
        recall, false, count = trust.recall, max(trust.false_rate, LEAST_FALSE), min(signals, MOST_SIGNALS)
        told = [w * s * (recall * rate + false) ** count for w, s, rate in zip(weights, silence, RATES, strict=True)]
    else:
        told = [w * s for w, s in zip(weights, silence, strict=True)]
    total = sum(told)
    return (told, total) if total > 0 else (weights, sum(weights))


def worth_announced(weights: Row, trust: Trust, days: float, signals: int) -> float:
    """Days of freshness won by a visit to an announced page: (1 - (1 + x) e^-x) / rate, e^-x the chance it is fresh."""
    recall, false = trust.recall, max(trust.false_rate, LEAST_FALSE)
    return sum(
        weight * _worth(rate, (1 - recall) * rate * days + signals * log1p(recall * rate / false))
        for weight, rate in zip(weights, RATES, strict=True)
    )


def _worth(rate: float, x: float) -> float:
    return (-expm1(-x) - x * exp(-x)) / rate


def dated(quiet: float) -> Row:
    """How probable each rate makes one change at a known time, after so many quiet days."""
    since = change_rate.quiet_table()[change_rate.slot(quiet)]
    return [rate * chance for rate, chance in zip(RATES, since, strict=True)]


def unannounced(recall: float, days: float) -> Row:
    """How probable each rate makes a change that an announcer kept silent about."""
    return _unannounced(round(recall, 2), change_rate.slot(days))


@lru_cache(4096)
def _unannounced(recall: float, place: int) -> Row:
    days = change_rate.time_at(place)
    return [exp(-recall * rate * days) * -expm1(-(1 - recall) * rate * days) for rate in RATES]
