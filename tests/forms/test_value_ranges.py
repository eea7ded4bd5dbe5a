"""Ranges of dates and numbers are divided; short ones are listed."""

import pytest

from sanderling.forms.value_ranges import find_ranges, list_typed_values, split_range
from sanderling.html.form_fields import FormField


@pytest.mark.parametrize(
    ("kind", "low", "high", "parts", "divided"),
    [
        ("number", "0", "9", 2, [("0", "4"), ("5", "9")]),
        ("number", "3", "3", 2, []),
        ("number", "1", "2", 5, [("1", "1"), ("2", "2")]),
        ("date", "2020-02-28", "2020-03-01", 2, [("2020-02-28", "2020-02-28"), ("2020-02-29", "2020-03-01")]),
        ("month", "2020-11", "2021-02", 2, [("2020-11", "2020-12"), ("2021-01", "2021-02")]),
        ("date", "soon", "later", 2, []),
    ],
)
def test_parts(kind: str, low: str, high: str, parts: int, divided: list[tuple[str, str]]) -> None:
    assert split_range(kind, low, high, parts) == divided


def test_open_ranges_have_small_parts_first() -> None:
    parts = split_range("number", "0", "100000", 4, is_open=True)
    widths = [int(high) - int(low) for low, high in parts]
    assert widths == sorted(widths)
    assert (parts[0][0], parts[-1][1]) == ("0", "100000")


def test_pairs_of_fields() -> None:
    fields = [
        FormField("min_price", "number"), FormField("q", "text"), FormField("max_price", "number", maximum="500"),
        FormField("date_from", "date", minimum="2001-01-01"), FormField("date_to", "date"),
    ]  # fmt: skip
    found = list(find_ranges(fields))
    assert [(low, high) for low, high, _ in found] == [(0, 2), (3, 4)]
    assert found[0][2] == ("0", "500")
    assert found[1][2][0] == "2001-01-01"


def test_single_fields_with_few_values_are_listed() -> None:
    assert list_typed_values(FormField("n", "number", minimum="1", maximum="3")) == ["1", "2", "3"]
    assert list_typed_values(FormField("n", "number", minimum="1", maximum="30000")) == []
    assert list_typed_values(FormField("n", "number")) == []
