"""The belief about a page's rate."""

import pytest

from sanderling.refresh import rates


def believed(looks: list[tuple[float, bool]]) -> float:
    evidence: list[float] = rates.BLANK
    for days, changed in looks:
        table = rates.changed_table() if changed else rates.quiet_table()
        evidence = rates.learn(evidence, rates.WEB, table[rates.slot(days)], rates.forgotten(days))
    return rates.mean(*rates.belief(evidence, rates.WEB))


def test_a_rate_is_learned_from_looks() -> None:
    assert believed([(5.0, n % 4 == 0) for n in range(80)]) == pytest.approx(0.0575, rel=0.25)  # -ln(3/4) / 5
    assert believed([(10.0, False)] * 40) < 0.005


def test_a_rate_may_switch() -> None:
    quiet, lively = [(7.0, False)] * 60, [(7.0, True)] * 6
    assert believed(quiet + lively) > 10 * believed(quiet)


def test_what_is_said_is_a_prior_and_what_is_seen_wins() -> None:
    said = rates.around(1.0)
    assert rates.mean(said, sum(said)) > 0.5
    evidence: list[float] = rates.BLANK
    for _ in range(40):
        evidence = rates.learn(evidence, said, rates.quiet_table()[rates.slot(10.0)], rates.forgotten(10.0))
    assert rates.mean(*rates.belief(evidence, said)) < 0.02


def test_half_precision_is_enough() -> None:
    evidence = [1.4**n for n in range(rates.POINTS)]
    assert list(rates.unpack(rates.pack(evidence))) == pytest.approx(evidence, rel=1e-3)
    assert rates.unpack(b"") is rates.BLANK


def test_a_visit_is_worth_its_price_at_one_time_only() -> None:
    table = rates.value_table(0.01)
    price = rates.dot(rates.WEB, table[200])
    for guess in (1, 200, 500):
        assert rates.ripening(rates.WEB, table, price, guess) == 200
