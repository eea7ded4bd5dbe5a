"""Evidence from announcements and silence."""

import pytest

from sanderling.revisit.model import change_rate
from sanderling.revisit.model.announcements import (
    apply_announcements,
    compute_announced_value,
    compute_dated_likelihood,
    compute_unannounced_likelihood,
)
from sanderling.revisit.model.announcer_trust import AnnouncerTrust

RELIABLE = AnnouncerTrust(true_count=99, missed_count=1, false_count=1, observed_days=10_000)


def mean(weights: list[float], total: float) -> float:
    return change_rate.compute_mean_rate(weights, total)


def test_silence_lowers_rate_and_announcement_raises_it() -> None:
    prior = mean(change_rate.WEB_PRIOR, 1.0)
    silent = mean(*apply_announcements(change_rate.WEB_PRIOR, RELIABLE, 100.0, 0))
    announced = mean(*apply_announcements(change_rate.WEB_PRIOR, RELIABLE, 100.0, 1))
    assert silent < announced < prior


def test_value_of_visit_to_announced_page() -> None:
    slow = [1.0 if n == 10 else 0.0 for n in range(change_rate.RATE_COUNT)]
    assert compute_announced_value(slow, RELIABLE, 1.0, 1) == pytest.approx(1 / change_rate.RATES[10], rel=0.35)


def test_announcement_of_unreliable_announcer_has_little_value() -> None:
    unreliable = AnnouncerTrust(true_count=1, missed_count=1, false_count=500, observed_days=500)
    assert compute_announced_value(change_rate.WEB_PRIOR, unreliable, 10.0, 1) < 0.2 * compute_announced_value(
        change_rate.WEB_PRIOR, RELIABLE, 10.0, 1
    )
    assert not unreliable.is_trusted


def test_unannounced_change_favors_fast_rates() -> None:
    announced, silent = compute_dated_likelihood(5.0), compute_unannounced_likelihood(0.9, 5.0)
    assert len(announced) == len(silent) == change_rate.RATE_COUNT
    assert all(0 <= chance <= 1 for chance in silent)
    assert silent.index(max(silent)) > 0
