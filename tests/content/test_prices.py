"""What a thing costs, and whether it can be had."""

import pytest

from sanderling.content.prices import PRICE_FLAG, flag_price_lines

PRICES = (
    *("$12.99", "12,99 €", "CHF 12.–", "1.200円", "₹1,20,000", "12 990 руб.", "kr 1 299,-", "1.299 kr.", "129,00 zł"),
    *("Rp 120.000", "RM 12.00", "129 TL", "129 lei", "129 лв.", "AUD 12", "99¢", "120 درهم", "฿120", "In stock"),
    *("Ausverkauft", "Op voorraad", "Vyprodáno", "품절", "متوفر", "Hết hàng", "สินค้าหมด"),
)
OTHERS = ("carpet 3", "form 3", "12 tls", "Europe", "Currency: $", "Chapter 12")


@pytest.mark.parametrize("line", PRICES)
def test_prices_and_stock_are_known_in_many_countries(line: str) -> None:
    assert flag_price_lines([line], b"\1") == bytes([1 | PRICE_FLAG])


def test_each_line_is_told_for_itself() -> None:
    lines = ["kr 1", "x", *OTHERS, "kr 2", "kr 3", "5 tl", "6 tl", "x"]
    worth = [
        line
        for line, place in zip(lines, flag_price_lines(lines, b"\1" * len(lines)), strict=True)
        if place & PRICE_FLAG
    ]
    assert worth == ["kr 1", "kr 2", "kr 3", "5 tl", "6 tl"]


def test_letters_of_other_languages_hide_no_sign() -> None:
    lines = ["Größe 5", "12 $", "12 ₽", "в наличии", "in stock \u2013 now", ""]
    assert [place & PRICE_FLAG > 0 for place in flag_price_lines(lines, b"\1" * 6)] == [
        False,
        True,
        True,
        True,
        True,
        False,
    ]
