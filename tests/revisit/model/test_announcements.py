"""What announcements and silence say of a page."""

import pytest

from sanderling.revisit.model import change_rate
from sanderling.revisit.model.announcements import (
    apply_announcements,
    compute_announced_value,
    compute_dated_likelihood,
    compute_unannounced_likelihood,
)
from sanderling.revisit.model.announcer_trust import AnnouncerTrust

HONEST = AnnouncerTrust(true_count=99, missed_count=1, false_count=1, observed_days=10_000)


def mean(weights: list[float], total: float) -> float:
    return change_rate.compute_mean_rate(weights, total)


def test_silence_makes_a_page_slow_and_a_word_makes_it_faster() -> None:
    prior = mean(change_rate.WEB_PRIOR, 1.0)
    silent = mean(*apply_announcements(change_rate.WEB_PRIOR, HONEST, 100.0, 0))
    told = mean(*apply_announcements(change_rate.WEB_PRIOR, HONEST, 100.0, 1))
    assert silent < told < prior


def test_a_visit_to_an_announced_page_is_worth_its_whole_quiet_time() -> None:
    slow = [1.0 if n == 10 else 0.0 for n in range(change_rate.RATE_COUNT)]
    assert compute_announced_value(slow, HONEST, 1.0, 1) == pytest.approx(1 / change_rate.RATES[10], rel=0.35)


def test_the_word_of_a_liar_is_worth_little() -> None:
    liar = AnnouncerTrust(true_count=1, missed_count=1, false_count=500, observed_days=500)
    assert compute_announced_value(change_rate.WEB_PRIOR, liar, 10.0, 1) < 0.2 * compute_announced_value(
        change_rate.WEB_PRIOR, HONEST, 10.0, 1
    )
    assert not liar.is_trusted


def test_a_change_that_nobody_announced_speaks_for_a_fast_page() -> None:
    told, silent = compute_dated_likelihood(5.0), compute_unannounced_likelihood(0.9, 5.0)
    assert len(told) == len(silent) == change_rate.RATE_COUNT
    assert all(0 <= chance <= 1 for chance in silent)
    assert silent.index(max(silent)) > 0
