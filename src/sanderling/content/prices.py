"""Flag lines with a price or stock status. Such lines are never treated as noise."""

import re
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from itertools import compress

from msgspec import Struct

from sanderling.content.word_lists import load_words

MAX_LINE_LENGTH = 60  # characters
PRICE_FLAG = 2  # bit in the line flags of a fingerprint
CURRENCY_TERMS = (  # a line feed anchors a term to the start or end of a line
    *("$", "€", "£", "¥", "₹", "₽", "₩", "₺", "円", "元", "원", "zł", "kč", " kr", "руб", "eur", "usd", "gbp", "chf"),
    *("฿", "บาท", "₫", "₴", "₪", "₱", "₦", "دينار", "ريال", "درهم", "جنيه", "تومان", "¢", "грн", " лв", " lei", "aud "),
    *(" aud", "cad ", " cad", "\nkr ", "\nkr.", "\nrp ", "\nrp.", "\nrm ", "\nrs ", "\nrs.", " tl\n", " pln", " huf"),
)
ASCII_BYTES = bytes(range(128))
search_digit = re.compile(r"\d").search  # excludes currency selectors and "Europe"


class PriceTerms(Struct, frozen=True, dict=True):
    """Terms of stock status and prices, encoded; `ascii_only`: a text without other characters has only these."""

    stock: list[bytes]
    currencies: list[bytes]

    @classmethod
    @cache
    def load(cls, ascii_only: bool) -> "PriceTerms":
        terms = ([term.encode() for term in group] for group in (load_words("content.stock"), CURRENCY_TERMS))
        return cls(*([term for term in group if term.isascii() or not ascii_only] for group in terms))

    @cached_property
    def non_ascii_chars(self) -> frozenset[str]:
        """A text without these characters can only contain the ASCII terms."""
        return frozenset(b"".join((*self.stock, *self.currencies)).translate(None, ASCII_BYTES).decode())


def flag_price_lines(lines: Sequence[str], line_flags: bytes) -> bytes:
    """Return the line flags with `PRICE_FLAG` added to short lines with a price or stock status."""
    short = [n for n in compress(range(len(lines)), line_flags) if 0 < len(lines[n]) <= MAX_LINE_LENGTH]
    if not short:
        return line_flags
    text = "\n".join(["", *[lines[n] for n in short], ""]).lower()
    raw = text.encode("utf-8", "replace")
    terms = PriceTerms.load(ascii_only=False)
    if terms.non_ascii_chars.isdisjoint(raw.translate(None, ASCII_BYTES).decode()):
        terms = PriceTerms.load(ascii_only=True)
    flags = bytearray(line_flags)
    for term in filter(raw.__contains__, terms.stock):
        for n in _find_lines_with(text, term.decode()):
            flags[short[n]] |= PRICE_FLAG
    for term in filter(raw.__contains__, terms.currencies):
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
