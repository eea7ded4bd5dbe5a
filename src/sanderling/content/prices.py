"""What is asked of a page most of all: what a thing costs, and whether it can be had. That is never noise."""

import re
from collections.abc import Iterator, Sequence
from itertools import compress

MAX_LINE_LENGTH = 60  # characters of a line that is about one thing
PRICE_FLAG = 2  # is added to the place of such a line in a mark
CURRENCY_TERMS = (  # wherever they stand, or at an end of the line; to look for one that the text cannot have costs nothing
    *("$", "€", "£", "¥", "₹", "₽", "₩", "₺", "円", "元", "원", "zł", "kč", " kr", "руб", "eur", "usd", "gbp", "chf"),
    *("฿", "บาท", "₫", "₴", "₪", "₱", "₦", "دينار", "ريال", "درهم", "جنيه", "تومان", "¢", "грн", " лв", " lei", "aud "),
    *(" aud", "cad ", " cad", "\nkr ", "\nkr.", "\nrp ", "\nrp.", "\nrm ", "\nrs ", "\nrs.", " tl\n", " pln", " huf"),
)
STOCK_TERMS = (
    *("stock", "sold out", "available", "auf lager", "lieferbar", "ausverkauft", "disponib", "rupture", "épuisé"),
    *("agotado", "esaurito", "uitverkocht", "slutsåld", "в наличии", "有货", "缺货", "售罄", "在庫", "品切れ"),
    *("op voorraad", "i lager", "på lager", "udsolgt", "utsolgt", "loppuunmyyty", "esgotado", "disponív", "wyprzedan"),
    *("dostępny", "skladem", "vyprodáno", "raktáron", "stokta", "tükendi", "нет в продаже", "متوفر", "نفد", "במלאי"),
    *("אזל", "재고", "품절", "มีสินค้า", "สินค้าหมด", "còn hàng", "hết hàng"),
)
ASCII_BYTES = bytes(range(128))
NON_ASCII_CHARS = frozenset("".join((*STOCK_TERMS, *CURRENCY_TERMS)).encode().translate(None, ASCII_BYTES).decode())
"""The letters beyond ASCII of all signs: a text with none of them has none of the signs but the plain ones."""
STOCK_BYTES, CURRENCY_BYTES = ([sign.encode() for sign in signs] for signs in (STOCK_TERMS, CURRENCY_TERMS))
ASCII_STOCK_BYTES, ASCII_CURRENCY_BYTES = (
    list(filter(bytes.isascii, signs)) for signs in (STOCK_BYTES, CURRENCY_BYTES)
)
search_digit = re.compile(r"\d").search  # a currency alone is to choose, and "Europe" begins like one


def flag_price_lines(lines: Sequence[str], line_flags: bytes) -> bytes:
    """Mark those short lines of main content that tell a price, or whether a thing is there."""
    short = [n for n in compress(range(len(lines)), line_flags) if 0 < len(lines[n]) <= MAX_LINE_LENGTH]
    if not short:
        return line_flags
    whole = "\n".join(["", *[lines[n] for n in short], ""]).lower()
    raw = whole.encode("utf-8", "replace")
    is_plain = NON_ASCII_CHARS.isdisjoint(raw.translate(None, ASCII_BYTES).decode())
    marked = bytearray(line_flags)
    for sign in filter(
        raw.__contains__, ASCII_STOCK_BYTES if is_plain else STOCK_BYTES
    ):  # most pages have none of them
        for number in _find_lines_with(whole, sign.decode()):
            marked[short[number]] |= PRICE_FLAG
    for sign in filter(raw.__contains__, ASCII_CURRENCY_BYTES if is_plain else CURRENCY_BYTES):
        for number in _find_lines_with(whole, sign.decode()):
            if search_digit(lines[short[number]]):
                marked[short[number]] |= PRICE_FLAG
    return bytes(marked)


def _find_lines_with(text: str, term: str) -> Iterator[int]:
    """Number the lines that have a sign; one begins with the end of the line before."""
    at, number, start = text.find(term), -1, 0
    while at >= 0:
        at += term.startswith("\n")
        number += text.count("\n", start, at)
        yield number
        start = at
        end = text.find("\n", at)
        at = text.find(term, end) if end >= 0 else -1
