"""Tests of price and stock detection."""

import pytest

from sanderling.content.prices import PRICE_FLAG, flag_price_lines

PRICES = (
    *("$12.99", "12,99 €", "CHF 12.–", "1.200円", "₹1,20,000", "12 990 руб.", "kr 1 299,-", "1.299 kr.", "129,00 zł"),
    *("Rp 120.000", "RM 12.00", "129 TL", "129 lei", "129 лв.", "AUD 12", "99¢", "120 درهم", "฿120", "In stock"),
    *("Ausverkauft", "Op voorraad", "Vyprodáno", "품절", "متوفر", "Hết hàng", "สินค้าหมด"),
)
OTHER_LINES = ("carpet 3", "form 3", "12 tls", "Europe", "Currency: $", "Chapter 12")


@pytest.mark.parametrize("line", PRICES)
def test_prices_and_stock_are_flagged(line: str) -> None:
    assert flag_price_lines([line], b"\1") == bytes([1 | PRICE_FLAG])


def test_lines_are_flagged_independently() -> None:
    lines = ["kr 1", "x", *OTHER_LINES, "kr 2", "kr 3", "5 tl", "6 tl", "x"]
    flagged = [
        line
        for line, flags in zip(lines, flag_price_lines(lines, b"\1" * len(lines)), strict=True)
        if flags & PRICE_FLAG
    ]
    assert flagged == ["kr 1", "kr 2", "kr 3", "5 tl", "6 tl"]


def test_non_ascii_text_is_flagged() -> None:
    lines = ["Größe 5", "12 $", "12 ₽", "в наличии", "in stock \u2013 now", ""]
    assert [flags & PRICE_FLAG > 0 for flags in flag_price_lines(lines, b"\1" * 6)] == [
        False,
        True,
        True,
        True,
        True,
        False,
    ]
