"""What is asked of a page most of all: what a thing costs, and whether it can be had. That is never noise."""

from collections.abc import Sequence
from itertools import compress

LONGEST = 80  # characters of a line that is about one thing
WORTH = 2  # is added to the place of such a line in a mark
SIGNS = (
    *("$", "€", "£", "¥", "₹", "₽", "₩", "₺", "円", "元", "원", "zł", "kč", " kr", "руб", "eur", "usd", "gbp", "chf"),
    *("stock", "sold out", "available", "pre-order", "auf lager", "lieferbar", "ausverkauft", "disponib", "épuisé"),
    *(
        "rupture",
        "agotado",
        "esgotado",
        "esaurito",
        "leverbaar",
        "uitverkocht",
        "slutsåld",
        "в наличии",
        "有货",
        "缺货",
    ),
    *("售罄", "在庫", "品切れ"),
)


def weighed(lines: Sequence[str], places: bytes) -> bytes:
    """Mark those short lines of main content that tell a price, or whether a thing is there."""
    short = [n for n in compress(range(len(lines)), places) if len(lines[n]) <= LONGEST]
    whole = "\n".join([lines[n] for n in short]).lower()
    signs = [sign for sign in SIGNS if sign in whole]
    if not signs:
        return places
    marked = bytearray(places)
    for number, line in zip(short, whole.split("\n"), strict=True):
        if any(sign in line for sign in signs):
            marked[number] |= WORTH
    return bytes(marked)
