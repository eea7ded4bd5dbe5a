"""Flag lines with a price or stock status. Such lines are never treated as noise."""

import re
from collections.abc import Iterator, Sequence
from itertools import compress

MAX_LINE_LENGTH = 60  # characters
PRICE_FLAG = 2  # bit in the line flags of a fingerprint
CURRENCY_TERMS = (  # a line feed anchors a term to the start or end of a line
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
"""A text with none of these characters can only contain the ASCII terms."""
STOCK_BYTES, CURRENCY_BYTES = ([term.encode() for term in terms] for terms in (STOCK_TERMS, CURRENCY_TERMS))
ASCII_STOCK_BYTES, ASCII_CURRENCY_BYTES = (
    list(filter(bytes.isascii, terms)) for terms in (STOCK_BYTES, CURRENCY_BYTES)
)
search_digit = re.compile(r"\d").search  # excludes currency selectors and "Europe"


def flag_price_lines(lines: Sequence[str], line_flags: bytes) -> bytes:
    """Return the line flags with `PRICE_FLAG` added to short lines with a price or stock status."""
    short = [n for n in compress(range(len(lines)), line_flags) if 0 < len(lines[n]) <= MAX_LINE_LENGTH]
    if not short:
        return line_flags
    text = "\n".join(["", *[lines[n] for n in short], ""]).lower()
    raw = text.encode("utf-8", "replace")
    is_ascii = NON_ASCII_CHARS.isdisjoint(raw.translate(None, ASCII_BYTES).decode())
    flags = bytearray(line_flags)
    for term in filter(raw.__contains__, ASCII_STOCK_BYTES if is_ascii else STOCK_BYTES):
        for n in _find_lines_with(text, term.decode()):
            flags[short[n]] |= PRICE_FLAG
    for term in filter(raw.__contains__, ASCII_CURRENCY_BYTES if is_ascii else CURRENCY_BYTES):
        for n in _find_lines_with(text, term.decode()):
            if search_digit(lines[short[n]]):
                flags[short[n]] |= PRICE_FLAG
    return bytes(flags)


def _find_lines_with(text: str, term: str) -> Iterator[int]:
    """Yield the numbers of the lines that contain a term; a leading line feed anchors it to the line start."""
    position, number, start = text.find(term), -1, 0
    while position >= 0:
        position += term.startswith("\n")
        number += text.count("\n", start, position)
        yield number
        start = position
        end = text.find("\n", position)
        position = text.find(term, end) if end >= 0 else -1
