"""Is a page gone? Two looks at a 404, pages that only pretend to be there, and half a crawl that proves nothing."""

from collections.abc import Mapping, Sequence, Set
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from sanderling.organise.normalise import resolve
from sanderling.pages.pretence import Pretence, pretence
from sanderling.records import Outcome, Role, Url, Visit
from sanderling.store.catalogue import Latest

LOOKS = 2  # a page is gone when it was missing this many times in a row
ALIKE = 0.9  # share of word triples two texts have in common to count as the same page


PRETENCES = {b"soft_404": "it says that it is not there, with status 200", b"parked": "a parked domain"}
FOR_GOOD = (301, 308)


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
    said = pretence(page.title, page.text)
    if said is Pretence.PARKED:
        return Verdict.PARKED
    if probe is not None and probe.status == 200:
        return Verdict.SOFT_404 if is_alike(page, probe) else Verdict.THERE
    return Verdict.SOFT_404 if said is Pretence.SOFT_404 else Verdict.THERE


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


def _triples(text: str) -> set[tuple[str, ...]]:
    words = text.lower().split()[:10_000]
    if len(words) < 3:
        return {tuple(words)} if words else set()
    return set(zip(words, words[1:], words[2:], strict=False))


def unmasked(visit: Visit) -> Visit:
    """A page that only pretends to be there counts as missing; what it says stays in the archive."""
    said = visit.marks.get("pretence")
    if said is None or visit.outcome is not Outcome.FETCHED or visit.role is not Role.PAGE:
        return visit
    return replace(visit, outcome=Outcome.GONE, note=PRETENCES[said], links=(), pointers=(), marks={})


def moves(
    visits: Sequence[Visit], latest: Mapping[int, Latest], wires: Mapping[int, str], ids: Mapping[Url, int]
) -> dict[int, int]:
    """Pages that were there and have moved for good: from which id to which."""
    moved = {}
    for visit in visits:
        old = latest.get(visit.id)
        if visit.status in FOR_GOOD and visit.role is Role.PAGE and old is not None and old.status == 200:
            target = resolve(wires.get(visit.id) or visit.url, visit.location)
            if target is not None and ids.get(target.url, visit.id) != visit.id:
                moved[visit.id] = ids[target.url]
    return moved
