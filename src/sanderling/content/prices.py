"""What is asked of a page most of all: what a thing costs, and whether it can be had. That is never noise."""

import re
from collections.abc import Iterator, Sequence
from itertools import compress

LONGEST = 60  # characters of a line that is about one thing
WORTH = 2  # is added to the place of such a line in a mark
MONEY = (  # wherever they stand, or at an end of the line; to look for one that the text cannot have costs nothing
    *("$", "€", "£", "¥", "₹", "₽", "₩", "₺", "円", "元", "원", "zł", "kč", " kr", "руб", "eur", "usd", "gbp", "chf"),
    *("฿", "บาท", "₫", "₴", "₪", "₱", "₦", "دينار", "ريال", "درهم", "جنيه", "تومان", "¢", "грн", " лв", " lei", "aud "),
    *(" aud", "cad ", " cad", "\nkr ", "\nkr.", "\nrp ", "\nrp.", "\nrm ", "\nrs ", "\nrs.", " tl\n", " pln", " huf"),
)
STOCK = (
    *("stock", "sold out", "available", "auf lager", "lieferbar", "ausverkauft", "disponib", "rupture", "épuisé"),
    *("agotado", "esaurito", "uitverkocht", "slutsåld", "в наличии", "有货", "缺货", "售罄", "在庫", "品切れ"),
    *("op voorraad", "i lager", "på lager", "udsolgt", "utsolgt", "loppuunmyyty", "esgotado", "disponív", "wyprzedan"),
    *("dostępny", "skladem", "vyprodáno", "raktáron", "stokta", "tükendi", "нет в продаже", "متوفر", "نفد", "במלאי"),
    *("אזל", "재고", "품절", "มีสินค้า", "สินค้าหมด", "còn hàng", "hết hàng"),
)
ASCII = bytes(range(128))
STRANGE = frozenset("".join((*STOCK, *MONEY)).encode().translate(None, ASCII).decode())
"""The letters beyond ASCII of all signs: a text with none of them has none of the signs but the plain ones."""
STOCKED, PAID = ([sign.encode() for sign in signs] for signs in (STOCK, MONEY))
PLAINLY_STOCKED, PLAINLY_PAID = (list(filter(bytes.isascii, signs)) for signs in (STOCKED, PAID))
PRICED = re.compile(r"\d").search  # a currency alone is to choose, and "Europe" begins like one


def weighed(lines: Sequence[str], places: bytes) -> bytes:
    """Mark those short lines of main content that tell a price, or whether a thing is there."""
    short = [n for n in compress(range(len(lines)), places) if 0 < len(lines[n]) <= LONGEST]
    if not short:
        return places
    whole = "\n".join(["", *[lines[n] for n in short], ""]).lower()
    raw = whole.encode("utf-8", "replace")
    is_plain = STRANGE.isdisjoint(raw.translate(None, ASCII).decode())
    marked = bytearray(places)
    for sign in filter(raw.__contains__, PLAINLY_STOCKED if is_plain else STOCKED):  # most pages have none of them
        for number in _lines(whole, sign.decode()):
            marked[short[number]] |= WORTH
    for sign in filter(raw.__contains__, PLAINLY_PAID if is_plain else PAID):
        for number in _lines(whole, sign.decode()):
            if PRICED(lines[short[number]]):
                marked[short[number]] |= WORTH
    return bytes(marked)


def _lines(whole: str, sign: str) -> Iterator[int]:
    """Number the lines that have a sign; one begins with the end of the line before."""
    at, number, start = whole.find(sign), -1, 0
    while at >= 0:
        at += sign.startswith("\n")
        number += whole.count("\n", start, at)
        yield number
        start = at
        end = whole.find("\n", at)
        at = whole.find(sign, end) if end >= 0 else -1
