import pytest

from sanderling.errors import UsageError
from sanderling.monitor.conditions import WatchReading, are_conditions_met, parse_condition
from sanderling.monitor.page_values import IN_STOCK, OUT_OF_STOCK, PageValues


def read(number: float | None = None, text: str = "", stock: str = "", low: float | None = None) -> WatchReading:
    return WatchReading(text, PageValues(number, "EUR", stock), low, None)


@pytest.mark.parametrize(
    ("condition", "old", "new", "is_met"),
    [
        ("below 100", 105, 95, True),
        ("price < 100 €", 105, 95, True),
        ("below 100", 95, 95, False),
        ("below 100", 120, 105, False),
        ("above 1,000", 999, 1001, True),
        ("changes by 5%", 100, 104, False),
        ("changes by 5%", 100, 94, True),
        ("changes by 5 EUR", 100, 94, True),
        ("new low", 100, 89, True),
        ("new low", 100, 91, False),
    ],
)
def test_number_condition(condition: str, old: float, new: float, is_met: bool) -> None:
    found = are_conditions_met([parse_condition(condition)], read(old), read(new, low=90.0), reported=100.0)
    assert found is is_met


def test_slow_drift_is_counted_from_the_last_report() -> None:
    condition = [parse_condition("changes by 5%")]
    assert are_conditions_met(condition, read(104), read(106), reported=100.0)


def test_text_appears_and_disappears() -> None:
    appears, disappears = parse_condition("appears 'Sold out'"), parse_condition("disappears Sold out")
    there, away = read(text="SOLD OUT today"), read(text="buy now")
    assert are_conditions_met([appears], away, there, None)
    assert not are_conditions_met([appears], there, there, None)
    assert are_conditions_met([disappears], there, away, None)


def test_in_stock_again() -> None:
    condition = [parse_condition("in stock")]
    assert are_conditions_met(condition, read(stock=OUT_OF_STOCK), read(stock=IN_STOCK), None)
    assert not are_conditions_met(condition, read(stock=IN_STOCK), read(stock=IN_STOCK), None)


def test_all_conditions_must_hold_and_one_must_be_new() -> None:
    conditions = [parse_condition("below 100"), parse_condition("in stock")]
    assert are_conditions_met(conditions, read(90, stock=OUT_OF_STOCK), read(90, stock=IN_STOCK), None)
    assert not are_conditions_met(conditions, read(110, stock=IN_STOCK), read(90, stock=OUT_OF_STOCK), None)


def test_unknown_condition_is_rejected_with_examples() -> None:
    with pytest.raises(UsageError, match="below 100"):
        parse_condition("when it is cheap")
