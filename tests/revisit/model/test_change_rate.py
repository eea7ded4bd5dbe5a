"""Change rate estimation."""

import pytest

from sanderling.revisit.model import change_rate


def estimate_rate(visits: list[tuple[float, bool]]) -> float:
    evidence: list[float] = change_rate.NO_EVIDENCE
    for days, changed in visits:
        table = change_rate.get_changed_table() if changed else change_rate.get_unchanged_table()
        evidence = change_rate.update_evidence(
            evidence, change_rate.WEB_PRIOR, table[change_rate.get_slot(days)], change_rate.compute_forgetting(days)
        )
    return change_rate.compute_mean_rate(*change_rate.compute_posterior(evidence, change_rate.WEB_PRIOR))


def test_rate_is_learned_from_visits() -> None:
    assert estimate_rate([(5.0, n % 4 == 0) for n in range(80)]) == pytest.approx(0.0575, rel=0.25)  # -ln(3/4) / 5
    assert estimate_rate([(10.0, False)] * 40) < 0.005


def test_rate_can_switch() -> None:
    quiet, active = [(7.0, False)] * 60, [(7.0, True)] * 6
    assert estimate_rate(quiet + active) > 10 * estimate_rate(quiet)


def test_visits_override_stated_rate() -> None:
    prior = change_rate.build_rate_prior(1.0)
    assert change_rate.compute_mean_rate(prior, sum(prior)) > 0.5
    evidence: list[float] = change_rate.NO_EVIDENCE
    for _ in range(40):
        evidence = change_rate.update_evidence(
            evidence,
            prior,
            change_rate.get_unchanged_table()[change_rate.get_slot(10.0)],
            change_rate.compute_forgetting(10.0),
        )
    assert change_rate.compute_mean_rate(*change_rate.compute_posterior(evidence, prior)) < 0.02


def test_evidence_survives_half_precision() -> None:
    evidence = [1.4**n for n in range(change_rate.RATE_COUNT)]
    assert list(change_rate.unpack_evidence(change_rate.pack_evidence(evidence))) == pytest.approx(evidence, rel=1e-3)
    assert change_rate.unpack_evidence(b"") is change_rate.NO_EVIDENCE


def test_due_slot_does_not_depend_on_guess() -> None:
    table = change_rate.get_value_table(0.01)
    price = change_rate.dot(change_rate.WEB_PRIOR, table[200])
    for guess in (1, 200, 500):
        assert change_rate.find_due_slot(change_rate.WEB_PRIOR, table, price, guess) == 200
