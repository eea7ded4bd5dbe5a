"""Revisit budgets."""

import pytest

from sanderling.errors import UsageError
from sanderling.revisit.budget import RevisitBudget, parse_budget


@pytest.mark.parametrize(
    ("text", "per_day", "in_bytes"),
    [
        ("5000/day", 5000, False),
        ("10/minute", 14_400, False),
        ("200MB/day", 200_000_000, True),
        (" 1.5 GiB / week ", 1.5 * 2**30 / 7, True),
        ("7 requests/hour", 168, False),
    ],
)
def test_budget_is_parsed(text: str, per_day: float, in_bytes: bool) -> None:
    budget = parse_budget(text)
    assert budget.compute_allowance(86_400) == pytest.approx(per_day)
    assert budget.is_in_bytes is in_bytes


@pytest.mark.parametrize(
    "text", ["", "5000", "x/day", "5000/fortnight", "5 apples/day", "0/day", "-3/day", "1e9/day", "/day"]
)
def test_invalid_budget_is_rejected_with_example(text: str) -> None:
    with pytest.raises(UsageError, match=r"5000/day"):
        parse_budget(text)


def test_clock_set_back_earns_nothing() -> None:
    assert RevisitBudget(1.0).compute_allowance(-100) == 0


def test_budget_is_formatted_per_day() -> None:
    assert str(parse_budget("10/minute")) == "14400 requests a day"
