"""Detect soft 404s, outages behind a notice, and permanently moved pages."""

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from sanderling.fingerprint.minhash import estimate_similarity
from sanderling.models import Outcome, Url, UrlRole, Visit
from sanderling.storage.catalog import PageState
from sanderling.urls.normalize import resolve_url

SOFT_404_NOTES = {b"soft_404": "soft 404: not found, with status 200", b"parked": "a parked domain"}
OUTAGE_KIND = b"outage"
SAME_TEXT_SIMILARITY = 0.5  # low, because a false outage hides a change
OUTAGE_NOTE = "a notice is shown instead, with status 200"
PERMANENT_REDIRECTS = (301, 308)


def mark_soft_404(visit: Visit) -> Visit:
    """Mark a page that says with status 200 that it does not exist as missing."""
    kind = visit.fingerprints.get("pretence")
    if kind not in SOFT_404_NOTES or visit.outcome is not Outcome.FETCHED or visit.role is not UrlRole.PAGE:
        return visit
    return replace(visit, outcome=Outcome.GONE, detail=SOFT_404_NOTES[kind], links=(), file_refs=(), fingerprints={})


def mark_outages(
    visits: Sequence[Visit], latest: Mapping[int, PageState], load_fingerprint: Callable[[int, str], bytes]
) -> list[Visit]:
    """Mark known pages that now show a notice instead of their text as missing. This is not a change of the page.

    `load_fingerprint` loads fingerprints of the last version: a page that was a login page before is not an outage.
    """
    return [_as_missing(visit) if _is_outage(visit, latest, load_fingerprint) else visit for visit in visits]


def _is_outage(visit: Visit, latest: Mapping[int, PageState], load_fingerprint: Callable[[int, str], bytes]) -> bool:
    old = latest.get(visit.id)
    return (
        visit.fingerprints.get("pretence") == OUTAGE_KIND
        and visit.outcome is Outcome.FETCHED
        and visit.role is UrlRole.PAGE
        and old is not None
        and old.digest != visit.digest
        and load_fingerprint(visit.id, "pretence") != OUTAGE_KIND
        and estimate_similarity(load_fingerprint(visit.id, "minhash"), visit.fingerprints.get("minhash", b""))
        < SAME_TEXT_SIMILARITY
    )


def _as_missing(visit: Visit) -> Visit:
    return replace(visit, outcome=Outcome.GONE, detail=OUTAGE_NOTE, links=(), file_refs=(), fingerprints={})


def find_moved_pages(
    visits: Sequence[Visit], latest: Mapping[int, PageState], request_urls: Mapping[int, str], ids: Mapping[Url, int]
) -> dict[int, int]:
    """Find known pages with a permanent redirect: `{old id: new id}`."""
    moved = {}
    for visit in visits:
        old = latest.get(visit.id)
        if (
            visit.status in PERMANENT_REDIRECTS
            and visit.outcome is Outcome.REDIRECT
            and visit.role is UrlRole.PAGE
            and old is not None
            and old.is_present
        ):
            target = resolve_url(request_urls.get(visit.id) or visit.url, visit.location)
            if target is not None and ids.get(target.url, visit.id) != visit.id:
                moved[visit.id] = ids[target.url]
    return moved
