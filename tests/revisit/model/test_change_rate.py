"""The belief about a page's rate."""

import pytest

from sanderling.revisit.model import change_rate


def believed(looks: list[tuple[float, bool]]) -> float:
    evidence: list[float] = change_rate.BLANK
    for days, changed in looks:
        table = change_rate.changed_table() if changed else change_rate.quiet_table()
        evidence = change_rate.learn(
            evidence, change_rate.WEB, table[change_rate.slot(days)], change_rate.forgotten(days)
        )
    return change_rate.mean(*change_rate.belief(evidence, change_rate.WEB))


def test_a_rate_is_learned_from_looks() -> None:
    assert believed([(5.0, n % 4 == 0) for n in range(80)]) == pytest.approx(0.0575, rel=0.25)  # -ln(3/4) / 5
    assert believed([(10.0, False)] * 40) < 0.005


def test_a_rate_may_switch() -> None:
    quiet, lively = [(7.0, False)] * 60, [(7.0, True)] * 6
    assert believed(quiet + lively) > 10 * believed(quiet)


def test_what_is_said_is_a_prior_and_what_is_seen_wins() -> None:
    said = change_rate.around(1.0)
    assert change_rate.mean(said, sum(said)) > 0.5
    evidence: list[float] = change_rate.BLANK
    for _ in range(40):
        evidence = change_rate.learn(
            evidence, said, change_rate.quiet_table()[change_rate.slot(10.0)], change_rate.forgotten(10.0)
        )
    assert change_rate.mean(*change_rate.belief(evidence, said)) < 0.02


def test_half_precision_is_enough() -> None:
    evidence = [1.4**n for n in range(change_rate.POINTS)]
    assert list(change_rate.unpack(change_rate.pack(evidence))) == pytest.approx(evidence, rel=1e-3)
    assert change_rate.unpack(b"") is change_rate.BLANK


def test_a_visit_is_worth_its_price_at_one_time_only() -> None:
    table = change_rate.value_table(0.01)
    price = change_rate.dot(change_rate.WEB, table[200])
    for guess in (1, 200, 500):
        assert change_rate.ripening(change_rate.WEB, table, price, guess) == 200
