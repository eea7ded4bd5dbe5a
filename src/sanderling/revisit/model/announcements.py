"""Evidence from announcements of changes, or their absence (noisy signals, Busa-Fekete et al. 2025).

An announcer reports a share r of the changes, and falsely reports nu changes per day. Silence is evidence of a slow
page; after an announcement the copy is fresh with probability nu / (r rate + nu).
"""

from functools import lru_cache
from math import exp, expm1, log1p

from sanderling.revisit.model import change_rate
from sanderling.revisit.model.announcer_trust import AnnouncerTrust
from sanderling.revisit.model.change_rate import RATES, RateVector

MAX_ANNOUNCEMENTS = 8  # counted per page
MIN_FALSE_RATE = 1e-4  # per day, as a lower bound


def apply_announcements(
    weights: RateVector, trust: AnnouncerTrust, days: float, announcement_count: int
) -> tuple[RateVector, float]:
    """Update rate weights after days with this number of announcements. Returns the weights and their sum."""
    silence = change_rate.get_unchanged_table()[change_rate.get_slot(trust.recall * days)]
    if announcement_count:
        recall, false_rate, count = (
            trust.recall,
            max(trust.false_rate, MIN_FALSE_RATE),
            min(announcement_count, MAX_ANNOUNCEMENTS),
        )
        updated = [
            w * s * (recall * rate + false_rate) ** count for w, s, rate in zip(weights, silence, RATES, strict=True)
        ]
    else:
        updated = [w * s for w, s in zip(weights, silence, strict=True)]
    total = sum(updated)
    return (updated, total) if total > 0 else (weights, sum(weights))


def compute_announced_value(weights: RateVector, trust: AnnouncerTrust, days: float, announcement_count: int) -> float:
    """Days of freshness won by a visit after announcements: (1 - (1 + x) e^-x) / rate, P(fresh) = e^-x."""
    recall, false_rate = trust.recall, max(trust.false_rate, MIN_FALSE_RATE)
    return sum(
        weight
        * _compute_value(rate, (1 - recall) * rate * days + announcement_count * log1p(recall * rate / false_rate))
        for weight, rate in zip(weights, RATES, strict=True)
    )


def _compute_value(rate: float, x: float) -> float:
    return (-expm1(-x) - x * exp(-x)) / rate


def compute_dated_likelihood(quiet_days: float) -> RateVector:
    """Likelihood of each rate given a change at a known time after so many quiet days."""
    since = change_rate.get_unchanged_table()[change_rate.get_slot(quiet_days)]
    return [rate * chance for rate, chance in zip(RATES, since, strict=True)]


def compute_unannounced_likelihood(recall: float, days: float) -> RateVector:
    """Likelihood of each rate given a change that was not announced."""
    return _compute_unannounced_likelihood(round(recall, 2), change_rate.get_slot(days))


@lru_cache(4096)
def _compute_unannounced_likelihood(recall: float, slot: int) -> RateVector:
    days = change_rate.get_slot_days(slot)
    return [exp(-recall * rate * days) * -expm1(-(1 - recall) * rate * days) for rate in RATES]
