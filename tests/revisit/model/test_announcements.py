"""What announcements and silence say of a page."""

import pytest

from sanderling.revisit.model import change_rate
from sanderling.revisit.model.announcements import dated, heard, unannounced, worth_announced
from sanderling.revisit.model.announcer_trust import Trust

HONEST = Trust(hit=99, missed=1, false=1, days=10_000)


def mean(weights: list[float], total: float) -> float:
    return change_rate.mean(weights, total)


def test_silence_makes_a_page_slow_and_a_word_makes_it_faster() -> None:
    prior = mean(change_rate.WEB, 1.0)
    silent = mean(*heard(change_rate.WEB, HONEST, 100.0, 0))
    told = mean(*heard(change_rate.WEB, HONEST, 100.0, 1))
    assert silent < told < prior


def test_a_visit_to_an_announced_page_is_worth_its_whole_quiet_time() -> None:
    slow = [1.0 if n == 10 else 0.0 for n in range(change_rate.POINTS)]
    assert worth_announced(slow, HONEST, 1.0, 1) == pytest.approx(1 / change_rate.RATES[10], rel=0.35)


def test_the_word_of_a_liar_is_worth_little() -> None:
    liar = Trust(hit=1, missed=1, false=500, days=500)
    assert worth_announced(change_rate.WEB, liar, 10.0, 1) < 0.2 * worth_announced(change_rate.WEB, HONEST, 10.0, 1)
    assert not liar.is_believed


def test_a_change_that_nobody_announced_speaks_for_a_fast_page() -> None:
    told, silent = dated(5.0), unannounced(0.9, 5.0)
    assert len(told) == len(silent) == change_rate.POINTS
    assert all(0 <= chance <= 1 for chance in silent)
    assert silent.index(max(silent)) > 0
