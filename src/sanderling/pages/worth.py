"""What is asked of a page most of all: what a thing costs, and whether it can be had. That is never noise."""

from collections.abc import Sequence

LONGEST = 200  # characters of a line that is about one thing
WORTH = 2  # is added to the place of such a line in a mark
SIGNS = (
    *("$", "€", "£", "¥", "₹", "₽", "₩", "₺", "円", "元", "원", "zł", "kč", " kr", "руб", "eur ", " eur", "usd", "gbp"),
    *("chf", "jpy", "cny", "inr", "stock", "sold out", "available", "pre-order", "backorder", "auf lager", "vorrätig"),
    *("lieferbar", "ausverkauft", "disponible", "rupture", "épuisé", "agotado", "esgotado", "disponibile", "esaurito"),
    *(
        "leverbaar",
        "uitverkocht",
        "i lager",
        "slutsåld",
        "w magazynie",
        "в наличии",
        "有货",
        "缺货",
        "售罄",
        "在庫",
        "品切れ",
    ),
)


def weighed(lines: Sequence[str], places: bytes) -> bytes:
    """Mark those lines of main content that tell a price, or whether a thing is there."""
    whole = "\n".join(lines).lower()
    signs = [sign for sign in SIGNS if sign in whole]
    if not signs:
        return places
    return bytes(
        place | WORTH if place and len(line) <= LONGEST and _tells(line.lower(), signs) else place
        for line, place in zip(lines, places, strict=True)
    )


def _tells(line: str, signs: Sequence[str]) -> bool:
    return any(sign in line for sign in signs)
