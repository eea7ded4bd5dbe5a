"""What an announcement of change, or its absence, says of a page (noisy signals, Busa-Fekete et al. 2025).

An announcer tells a share r of the changes, and says falsely that something changed nu times a day. So its silence
is evidence of a slow page, its word one of a fast one, and after it the copy is fresh with chance nu / (r rate + nu).
"""

from functools import lru_cache
from math import exp, expm1, log1p

from sanderling.revisit.model import change_rate
from sanderling.revisit.model.announcer_trust import AnnouncerTrust
from sanderling.revisit.model.change_rate import RATES, RateVector

MAX_ANNOUNCEMENTS = 8  # that are counted of one page
MIN_FALSE_RATE = 1e-4  # false announcements a day that are always thought possible


def apply_announcements(
    weights: RateVector, trust: AnnouncerTrust, days: float, announcement_count: int
) -> tuple[RateVector, float]:
    """The belief about a page's rate after so many days of silence, but for so many announcements; and its sum."""
    silence = change_rate.get_unchanged_table()[change_rate.get_slot(trust.recall * days)]
    if announcement_count:
        recall, false, count = (
            trust.recall,
            max(trust.false_rate, MIN_FALSE_RATE),
            min(announcement_count, MAX_ANNOUNCEMENTS),
        )
        told = [w * s * (recall * rate + false) ** count for w, s, rate in zip(weights, silence, RATES, strict=True)]
    else:
        told = [w * s for w, s in zip(weights, silence, strict=True)]
    total = sum(told)
    return (told, total) if total > 0 else (weights, sum(weights))


def compute_announced_value(weights: RateVector, trust: AnnouncerTrust, days: float, announcement_count: int) -> float:
    """Days of freshness won by a visit to an announced page: (1 - (1 + x) e^-x) / rate, e^-x the chance it is fresh."""
    recall, false = trust.recall, max(trust.false_rate, MIN_FALSE_RATE)
    return sum(
        weight * _compute_value(rate, (1 - recall) * rate * days + announcement_count * log1p(recall * rate / false))
        for weight, rate in zip(weights, RATES, strict=True)
    )


def _compute_value(rate: float, x: float) -> float:
    return (-expm1(-x) - x * exp(-x)) / rate


def compute_dated_likelihood(quiet_days: float) -> RateVector:
    """How probable each rate makes one change at a known time, after so many quiet days."""
    since = change_rate.get_unchanged_table()[change_rate.get_slot(quiet_days)]
    return [rate * chance for rate, chance in zip(RATES, since, strict=True)]


def compute_unannounced_likelihood(recall: float, days: float) -> RateVector:
    """How probable each rate makes a change that an announcer kept silent about."""
    return _compute_unannounced_likelihood(round(recall, 2), change_rate.get_slot(days))


@lru_cache(4096)
def _compute_unannounced_likelihood(recall: float, slot: int) -> RateVector:
    days = change_rate.get_slot_days(slot)
    return [exp(-recall * rate * days) * -expm1(-(1 - recall) * rate * days) for rate in RATES]
