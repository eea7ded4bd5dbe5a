"""Is a page gone? Two looks at a 404, pages that only pretend to be there, and half a crawl that proves nothing."""

import re
from collections.abc import Set
from enum import StrEnum

from msgspec import Struct

from sanderling.records import Outcome, Url

LOOKS = 2  # a page is gone when it was missing this many times in a row
ALIKE = 0.9  # share of word triples two texts have in common to count as the same page
SHORT = 200  # words: a page that says "not found" and more than this says something else too
MISSING = re.compile(
    r"\b404\b|\b(page|file|document|article|site)\b.{0,20}\b(not|cannot be|could not be) found\b"
    r"|\bnot found\b|\bno longer (exists|available)\b|\bdoes ?n.t exist\b|\bdoes not exist\b"
    r"|\bseite (wurde )?nicht gefunden\b|\bpage (introuvable|non trouvée)\b|\bpágina no encontrada\b",
    re.IGNORECASE,
)
PARKED = re.compile(
    r"\bdomain (name )?(is|may be|could be) (for sale|parked|available for purchase)\b|\bbuy this domain\b"
    r"|\bthis domain (has expired|is parked)\b|\bparked (free|domain)\b|\bdomain parking\b"
    r"|\bhugedomains\b|\bsedoparking\b",
    re.IGNORECASE,
)


class Absence(Struct, frozen=True, array_like=True):
    """How often in a row a page was not there."""

    misses: int = 0

    @property
    def is_gone(self) -> bool:
        """Missing once may be an accident of the server."""
        return self.misses >= LOOKS


class Face(Struct, frozen=True):
    """What is compared of a page: its status, title, text and digest."""

    status: int
    title: str = ""
    text: str = ""
    digest: bytes = b""


class Verdict(StrEnum):
    """What a page that answered 200 really is."""

    THERE = "there"
    SOFT_404 = "soft_404"
    PARKED = "parked"


def after(absence: Absence, outcome: Outcome) -> Absence:
    """Count a miss, forget misses when the page is there; trouble of server or network says nothing."""
    if outcome is Outcome.GONE:
        return Absence(min(absence.misses + 1, LOOKS))
    if outcome in (Outcome.FETCHED, Outcome.NOT_MODIFIED, Outcome.REDIRECT):
        return Absence()
    return absence


def judge(page: Face, probe: Face | None = None) -> Verdict:
    """Is a page that answered 200 really there? `probe` is what the host says of an address nobody can have."""
    if PARKED.search(page.title) or (PARKED.search(page.text) and _is_short(page.text)):
        return Verdict.PARKED
    if probe is not None and probe.status == 200:
        return Verdict.SOFT_404 if is_alike(page, probe) else Verdict.THERE
    if _is_short(page.text) and MISSING.search(page.title) and MISSING.search(page.text):
        return Verdict.SOFT_404
    return Verdict.THERE


def is_alike(page: Face, probe: Face) -> bool:
    """Do two addresses show the same page, but for what repeats the address itself?"""
    if page.digest and page.digest == probe.digest:
        return True
    return page.title == probe.title and similarity(page.text, probe.text) >= ALIKE


def similarity(one: str, other: str) -> float:
    """Share of word triples two texts have in common; two empty texts are the same."""
    first, second = _triples(one), _triples(other)
    if not first and not second:
        return 1.0
    return len(first & second) / len(first | second)


def missing_from(known: Set[Url], seen: Set[Url], completed: bool) -> Set[Url]:
    """Pages a round did not meet again; a round that was cut short has nothing to say."""
    return known - seen if completed else frozenset()


def is_outage(missing: int, looked: int) -> bool:
    """Most of a host's pages missing in one round is the host's trouble, not theirs: look again before counting."""
    return looked >= 10 and missing * 2 > looked


def _is_short(text: str) -> bool:
    return len(text.split(None, SHORT)) <= SHORT


def _triples(text: str) -> set[tuple[str, ...]]:
    words = text.lower().split()[:10_000]
    if len(words) < 3:
        return {tuple(words)} if words else set()
    return set(zip(words, words[1:], words[2:], strict=False))
