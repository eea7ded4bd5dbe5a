"""Detect soft 404s, outages behind a notice, permanently moved pages, and notices shown for several pages.

A server without 404 shows one notice for all missing pages, or redirects them to its front page. The old and new
fingerprint of each changed page are stored. If the front page shows the same text, the whole site is closed or behind a
wall, and nothing is concluded.
"""

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from sanderling.db.connection import Connection
from sanderling.fingerprint.minhash import SKETCH_SIZE, estimate_similarity
from sanderling.models import Outcome, Url, UrlRole, Visit
from sanderling.page_fingerprints import NO_FINGERPRINTS
from sanderling.storage.catalog import PageState
from sanderling.urls.normalize import resolve_url

SOFT_404_NOTES = {b"soft_404": "soft 404: not found, with status 200", b"parked": "a parked domain"}
OUTAGE_KIND = b"outage"
SAME_TEXT_SIMILARITY = 0.5  # low, because a false outage hides a change
OUTAGE_NOTE = "a notice is shown instead, with status 200"
PERMANENT_REDIRECTS = (301, 308)
MIN_CLUSTER_SIZE = 4  # pages that differed and became the same
SAME_SIMILARITY = 0.93  # of two texts that differ in a few words, such as the URL that a notice repeats
DIFFERENT_SIMILARITY = 0.8  # different pages of a template are less similar
MAX_COMPARED_PAGES = 64  # of a host
CHUNK = 400
CONTENT_OUTCOMES = (Outcome.FETCHED, Outcome.NOT_MODIFIED)
NOTICE_NOTE = "shows the same notice as other pages of its host"


def mark_soft_404(visit: Visit) -> Visit:
    """Mark a page that says with status 200 that it does not exist as missing."""
    kind = visit.fingerprints.soft_error or b""
    if kind not in SOFT_404_NOTES or visit.outcome is not Outcome.FETCHED or visit.role is not UrlRole.PAGE:
        return visit
    return _as_missing(visit, SOFT_404_NOTES[kind])


def mark_outages(
    visits: Sequence[Visit], latest: Mapping[int, PageState], load_fingerprint: Callable[[int, str], bytes]
) -> list[Visit]:
    """Mark known pages that now show a notice instead of their text as missing. This is not a change of the page.

    `load_fingerprint` loads fingerprints of the last version: a page that was a login page before is not an outage.
    """
    return [
        _as_missing(visit, OUTAGE_NOTE) if _is_outage(visit, latest, load_fingerprint) else visit for visit in visits
    ]


def _is_outage(visit: Visit, latest: Mapping[int, PageState], load_fingerprint: Callable[[int, str], bytes]) -> bool:
    old = latest.get(visit.id)
    return (
        visit.fingerprints.soft_error == OUTAGE_KIND
        and visit.outcome is Outcome.FETCHED
        and visit.role is UrlRole.PAGE
        and old is not None
        and old.digest != visit.digest
        and load_fingerprint(visit.id, "soft_error") != OUTAGE_KIND
        and estimate_similarity(load_fingerprint(visit.id, "minhash"), visit.fingerprints.minhash or b"")
        < SAME_TEXT_SIMILARITY
    )


def _as_missing(visit: Visit, note: str) -> Visit:
    return replace(visit, outcome=Outcome.GONE, detail=note, links=(), file_refs=(), fingerprints=NO_FINGERPRINTS)


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


class PageTransition(Struct, frozen=True):
    """Fingerprints of a page before and after a change; `>` starts the hash of a redirect target."""

    url_id: int
    host_id: int
    changed_at: float
    old_fingerprint: bytes
    new_fingerprint: bytes


class NoticeClusters:
    """Stores transitions of pages, and detects notices among them."""

    def __init__(self, db: Connection) -> None:
        self.db = db

    def mark_notices(
        self, visits: Sequence[Visit], latest: Mapping[int, PageState], host_ids: Mapping[int, int]
    ) -> Sequence[Visit]:
        """Return the visits, with notices in place of known pages marked as missing."""
        known = [visit for visit in visits if visit.id in latest and visit.role is UrlRole.PAGE]
        if not known:
            return visits
        transitions = self._record_transitions(known, host_ids)
        missing = {url for url, transition in transitions.items() if self._is_notice(transition)}
        return [_as_missing(visit, NOTICE_NOTE) if visit.id in missing else visit for visit in visits]

    def _record_transitions(self, visits: Sequence[Visit], host_ids: Mapping[int, int]) -> dict[int, PageTransition]:
        """Store new transitions, and return those that still hold."""
        ids = [visit.id for visit in visits]
        stored, fingerprints = self._load_transitions(ids), self._load_fingerprints(ids)
        transitions = {}
        for visit in visits:
            old, current = fingerprints.get(visit.id, b""), stored.get(visit.id)
            new = fingerprint_visit(visit, old)
            if current is not None and _is_same_text(current.new_fingerprint, new):
                transitions[visit.id] = current
            elif old and new and _is_different_text(old, new):
                transitions[visit.id] = PageTransition(visit.id, host_ids[visit.id], visit.visited_at, old, new)
        self.db.executemany(
            "INSERT INTO page_transitions VALUES (?, ?, ?, ?, ?) ON CONFLICT (url) DO UPDATE SET"
            " at = excluded.at, old = excluded.old, new = excluded.new",
            [
                (t.url_id, t.host_id, t.changed_at, t.old_fingerprint, t.new_fingerprint)
                for url, t in transitions.items()
                if stored.get(url) is not t
            ],
        )
        return transitions

    def _is_notice(self, transition: PageTransition) -> bool:
        rows = self.db.execute(
            "SELECT old, new FROM page_transitions WHERE host = ? ORDER BY at DESC LIMIT ?",
            (transition.host_id, MAX_COMPARED_PAGES),
        ).fetchall()
        different: list[bytes] = []
        for old, new in rows:
            if _is_same_text(new, transition.new_fingerprint) and all(
                _is_different_text(old, second) for second in different
            ):
                different.append(old)
        return len(different) >= MIN_CLUSTER_SIZE and not _is_same_text(
            self._load_front_page(transition.host_id), transition.new_fingerprint
        )

    def _load_front_page(self, host_id: int) -> bytes:
        """Load the current fingerprint of the front page of a host."""
        row = self.db.execute("SELECT id FROM urls WHERE host = ? AND path = '/'", (host_id,)).fetchone()
        if row is None:
            return b""
        current = self._load_transitions([row[0]]).get(row[0])
        return current.new_fingerprint if current is not None else self._load_fingerprints([row[0]]).get(row[0], b"")

    def _load_transitions(self, url_ids: Sequence[int]) -> dict[int, PageTransition]:
        rows = self._select_rows("SELECT url, host, at, old, new FROM page_transitions", url_ids)
        return {row[0]: PageTransition(*row) for row in rows}

    def _load_fingerprints(self, url_ids: Sequence[int]) -> dict[int, bytes]:
        return dict(
            self._select_rows(
                "SELECT url, value FROM fingerprints",
                url_ids,
                f" AND kind = 'minhash' AND length(value) = {SKETCH_SIZE}",
            )
        )

    def _select_rows(self, sql: str, url_ids: Sequence[int], extra_condition: str = "") -> list[Any]:
        rows: list[Any] = []
        for start in range(0, len(url_ids), CHUNK):
            part = url_ids[start : start + CHUNK]
            rows += self.db.execute(
                f"{sql} WHERE url IN ({','.join('?' * len(part))}){extra_condition}", part
            ).fetchall()
        return rows


def fingerprint_visit(visit: Visit, stored_fingerprint: bytes) -> bytes:
    """Return the fingerprint of a visit: stored if unchanged, empty if nothing was seen."""
    if visit.outcome is Outcome.REDIRECT and (target := resolve_url(visit.url, visit.location)):
        return b">" + blake2b(target.url.encode(), digest_size=8).digest()
    if visit.outcome not in CONTENT_OUTCOMES:
        return b""
    return stored_fingerprint if visit.fingerprints.minhash is None else visit.fingerprints.minhash


def _is_same_text(first: bytes, second: bytes) -> bool:
    return first == second or estimate_similarity(first, second) >= SAME_SIMILARITY


def _is_different_text(first: bytes, second: bytes) -> bool:
    return first != second and estimate_similarity(first, second) < DIFFERENT_SIMILARITY
