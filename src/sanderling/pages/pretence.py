"""Pages that are answered with 200 and yet are not there: "not found" in so many words, and parked domains."""

import re
from enum import StrEnum

from sanderling.pages.parse import Document
from sanderling.pages.text import text

SHORT = 200  # words: a page that says "not found" and more than this says something else too
NOTICE = (
    r"\berror\W{0,3}404\b|\b404\W{0,5}(error|not found|page)\b"
    r"|\b(page|file|document|article|site)\b.{0,20}\b(not|cannot be|could not be) found\b"
    r"|\bnot found\b|\bno longer (exists|available)\b|\bdoes ?n.t exist\b|\bdoes not exist\b"
    r"|\bseite (wurde )?nicht gefunden\b|\bpage (introuvable|non trouvée)\b|\bpágina no encontrada\b"
)
MISSING = re.compile(NOTICE, re.IGNORECASE)
MISSING_TITLE = re.compile(rf"^\W*404\b|{NOTICE}", re.IGNORECASE)
PARKED = re.compile(
    r"\bdomain (name )?(is|may be|could be) (for sale|parked|available for purchase)\b|\bbuy this domain\b"
    r"|\bthis domain (has expired|is parked)\b|\bparked (free|domain)\b|\bdomain parking\b"
    r"|\bhugedomains\b|\bsedo ?domain parking\b",
    re.IGNORECASE,
)
LONGEST = 4000  # characters of so few words


class Pretence(StrEnum):
    """What a page only pretends."""

    SOFT_404 = "soft_404"
    PARKED = "parked"


def pretence(title: str, words: str) -> Pretence | None:
    """Say what a page pretends; None for one that is what it seems. Only short pages are suspected."""
    if not is_short(words):
        return None
    if PARKED.search(title) or PARKED.search(words):
        return Pretence.PARKED
    return Pretence.SOFT_404 if MISSING_TITLE.search(title) and MISSING.search(words) else None


def pretended(tree: Document, letters: str) -> Pretence | None:
    """The same of a parsed page with these readable letters; nearly all pages are passed over at a glance."""
    if len(letters) > LONGEST:
        return None
    found = tree.find("title")
    title = found.text if found is not None else ""
    if not MISSING_TITLE.search(title) and "domain" not in letters.lower():
        return None
    return pretence(title, text(tree))


def is_short(words: str) -> bool:
    """Are there so few words that a notice may be all there is?"""
    return len(words) <= LONGEST and len(words.split(None, SHORT)) <= SHORT
