"""Price, currency and availability of a page: from JSON-LD, microdata or OpenGraph, else from its text."""

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from sanderling.content.prices import MAX_LINE_LENGTH, flag_price_lines
from sanderling.content.word_lists import load_words
from sanderling.html.parser import Document

MAX_NODES = 10_000  # of structured data
IN_STOCK, OUT_OF_STOCK = "in stock", "out of stock"
CURRENCY_SYMBOLS = {"€": "EUR", "$": "USD", "£": "GBP", "¥": "JPY", "₹": "INR", "₽": "RUB", "₩": "KRW", "zł": "PLN"}
CURRENCY_SYMBOLS |= {"kč": "CZK", "₺": "TRY", "₴": "UAH", "₪": "ILS", "฿": "THB", "₫": "VND"}
CURRENCY = re.compile(r"\b[A-Z]{3}\b")
NUMBER = re.compile(r"[-−]?\d(?:[\d.,'’\u00a0\u202f ]*\d)?")
PRICE_TAGS = ("product:price:amount", "og:price:amount")
CURRENCY_TAGS = ("product:price:currency", "og:price:currency")
AVAILABILITY_TAGS = ("product:availability", "og:availability")


class PageValues(Struct, frozen=True, omit_defaults=True):
    """The number a watch follows. None and "": not found."""

    number: float | None = None
    unit: str = ""  # currency
    availability: str = ""  # in stock, out of stock


def extract_page_values(tree: Document) -> PageValues:
    """Extract price and availability; structured data precedes text."""
    found = [*_read_json_ld(tree), _read_microdata(tree), _read_meta(tree)]
    number = next((one for one in found if one.number is not None), PageValues())
    text = PageValues() if number.number is not None else _read_text(tree)
    availability = next((one.availability for one in found if one.availability), "")
    return PageValues(
        number.number if number.number is not None else text.number,
        number.unit or text.unit,
        availability or text.availability,
    )


def parse_number(text: str) -> float | None:
    """Parse the first number: 1,299.00, 1.299,00, 1 299 or 12,5."""
    match = NUMBER.search(text)
    if match is None:
        return None
    digits = re.sub(r"['’\u00a0\u202f ]", "", match[0]).replace("−", "-")
    last = max(digits.rfind("."), digits.rfind(","))
    if last >= 0:
        sign, decimals = digits[last], digits[last + 1 :]
        is_grouping = digits.count(sign) > 1 or (len(decimals) == 3 and not digits.startswith("0") and sign == ",")
        whole = re.sub(r"[.,]", "", digits[:last])
        digits = whole + decimals if is_grouping else f"{whole}.{decimals}"
    try:
        return float(digits)
    except ValueError:
        return None


def parse_text_values(text: str) -> PageValues:
    """Return number, currency and availability of a text."""
    symbol = next((code for sign, code in CURRENCY_SYMBOLS.items() if sign in text.lower()), "")
    code = CURRENCY.search(text)
    return PageValues(parse_number(text), symbol or (code[0] if code else ""), parse_availability(text))


def parse_availability(text: str) -> str:
    lower = text.lower()
    if any(term in lower for term in load_words("content.out_of_stock")):
        return OUT_OF_STOCK
    return IN_STOCK if any(term in lower for term in load_words("content.in_stock")) else ""


def _read_json_ld(tree: Document) -> Iterator[PageValues]:
    for node in _walk(tree.json_ld() if callable(tree.json_ld) else tree.json_ld):
        price = node.get("price", node.get("lowPrice"))
        if isinstance(price, (str, int, float)) and not isinstance(price, bool):
            yield PageValues(
                parse_number(str(price)),
                str(node.get("priceCurrency", "")),
                parse_availability(str(node.get("availability", ""))),
            )


def _walk(value: Any) -> Iterator[dict[str, Any]]:
    waiting, count = [value], 0
    while waiting and count < MAX_NODES:
        node, count = waiting.pop(0), count + 1
        if isinstance(node, dict):
            yield node
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node


def _read_microdata(tree: Document) -> PageValues:
    values = {}
    for name in ("price", "lowPrice", "priceCurrency", "availability"):
        element = tree.select_one(f'[itemprop="{name}"]')
        if element is not None:
            values[name] = element.attr("content") or element.attr("href") or element.text
    price = values.get("price", values.get("lowPrice", ""))
    found = parse_text_values(price)
    return PageValues(
        found.number,
        values.get("priceCurrency", found.unit).strip(),
        parse_availability(values.get("availability", "")),
    )


def _read_meta(tree: Document) -> PageValues:
    price, currency, availability = (
        next((e.attr("content") or "" for name in names if (e := tree.select_one(f'meta[property="{name}"]'))), "")
        for names in (PRICE_TAGS, CURRENCY_TAGS, AVAILABILITY_TAGS)
    )
    return PageValues(parse_number(price), currency, parse_availability(availability))


def _read_text(tree: Document) -> PageValues:
    """Read the first short line with a price, and the first with a stock status."""
    body = tree.select_one("main") or tree.select_one("body") or tree.root
    lines = [" ".join(line.split()) for line in body.to_text().splitlines()] if body is not None else []
    flags = flag_price_lines(lines, bytes([1] * len(lines)))
    flagged = [line for line, flag in zip(lines, flags, strict=True) if flag > 1 and len(line) <= MAX_LINE_LENGTH]
    values = list(map(parse_text_values, flagged))
    priced = next((one for one in values if one.number is not None and one.unit), PageValues())
    return PageValues(priced.number, priced.unit, next((one.availability for one in values if one.availability), ""))
