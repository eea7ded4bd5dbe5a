"""Pages that only pretend to be there, pages behind a notice, and pages that have moved for good."""

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from sanderling.fingerprint.minhash import similarity
from sanderling.models import Outcome, Role, Url, Visit
from sanderling.storage.catalog import Latest
from sanderling.urls.normalize import resolve

PRETENCES = {b"soft_404": "it says that it is not there, with status 200", b"parked": "a parked domain"}
OUTAGE = b"outage"
STAYED = 0.5  # similarity from which a text stayed what it was; a page wrongly taken for an outage hides its change
HIDDEN = "a notice stands in its place, with status 200"
FOR_GOOD = (301, 308)


def unmasked(visit: Visit) -> Visit:
    """A page that only pretends to be there counts as missing; what it says stays in the archive."""
    said = visit.marks.get("pretence")
    if said not in PRETENCES or visit.outcome is not Outcome.FETCHED or visit.role is not Role.PAGE:
        return visit
    return replace(visit, outcome=Outcome.GONE, note=PRETENCES[said], links=(), pointers=(), marks={})


def behind_notices(
    visits: Sequence[Visit], latest: Mapping[int, Latest], before: Callable[[int, str], bytes]
) -> list[Visit]:
    """Pages that were known with other words and are behind a notice now count as missing: that is no change of theirs.

    `before` gives a mark of the last version: a page that was a login before is one, and so is one with the same text.
    """
    return [_behind_notice(visit) if _is_outage(visit, latest, before) else visit for visit in visits]


def _is_outage(visit: Visit, latest: Mapping[int, Latest], before: Callable[[int, str], bytes]) -> bool:
    old = latest.get(visit.id)
    return (
        visit.marks.get("pretence") == OUTAGE
        and visit.outcome is Outcome.FETCHED
        and visit.role is Role.PAGE
        and old is not None
        and old.digest != visit.digest
        and before(visit.id, "pretence") != OUTAGE
        and similarity(before(visit.id, "minhash"), visit.marks.get("minhash", b"")) < STAYED
    )


def _behind_notice(visit: Visit) -> Visit:
    return replace(visit, outcome=Outcome.GONE, note=HIDDEN, links=(), pointers=(), marks={})


def moves(
    visits: Sequence[Visit], latest: Mapping[int, Latest], wires: Mapping[int, str], ids: Mapping[Url, int]
) -> dict[int, int]:
    """Pages that were there and have moved for good: from which id to which."""
    moved = {}
    for visit in visits:
        old = latest.get(visit.id)
        if (
            visit.status in FOR_GOOD
            and visit.outcome is Outcome.REDIRECT
            and visit.role is Role.PAGE
            and old is not None
            and old.is_there
        ):
            target = resolve(wires.get(visit.id) or visit.url, visit.location)
            if target is not None and ids.get(target.url, visit.id) != visit.id:
                moved[visit.id] = ids[target.url]
    return moved
