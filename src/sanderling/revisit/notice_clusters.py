"""Pages that turned into one: several that were different now show the same text, or lead to the same place.

A server that has no 404 shows one notice, in whatever words, for all that is no more; or it sends everybody to the
front page. Nobody need be asked to see that: it is enough to remember what each page was before it changed, and what it
became. Where the front page shows the same, the whole site is closed for a while, or behind a wall: then nothing is
concluded.
"""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from sanderling.db.connection import Connection
from sanderling.fingerprint.minhash import SKETCH_SIZE, estimate_similarity
from sanderling.models import Outcome, UrlRole, Visit
from sanderling.storage.catalog import PageState
from sanderling.urls.normalize import resolve_url

MIN_CLUSTER_SIZE = 4  # pages that were different and became the same
SAME_SIMILARITY = (
    0.93  # similarity from which two texts are the same but for a few words, as a notice that names what was asked for
)
DIFFERENT_SIMILARITY = (
    0.8  # similarity below which two texts are different pages; those of a template share more than near duplicates
)
MAX_COMPARED_PAGES = 64  # changed pages of a host that are compared
CHUNK = 400
CONTENT_OUTCOMES = (Outcome.FETCHED, Outcome.NOT_MODIFIED)
NOTICE_NOTE = "it became what several different pages of its host became"


class PageTransition(Struct, frozen=True):
    """What a page was, and what it became: marks of texts, or `>` and the mark of an address it leads to."""

    url_id: int
    host_id: int
    changed_at: float
    old_fingerprint: bytes
    new_fingerprint: bytes


class NoticeClusters:
    """Remembers what changed pages became, and tells pages from notices that there is none."""

    def __init__(self, db: Connection) -> None:
        self.db = db

    def mark_notices(
        self, visits: Sequence[Visit], latest: Mapping[int, PageState], host_ids: Mapping[int, int]
    ) -> Sequence[Visit]:
        """The same visits; those that met a notice in place of a page that was there count as missing."""
        known = [visit for visit in visits if visit.id in latest and visit.role is UrlRole.PAGE]
        if not known:
            return visits
        turns = self._record_transitions(known, host_ids)
        missing = {url for url, turn in turns.items() if self._is_notice(turn)}
        return [_as_missing(visit) if visit.id in missing else visit for visit in visits]

    def _record_transitions(self, visits: Sequence[Visit], host_ids: Mapping[int, int]) -> dict[int, PageTransition]:
        """Write down what pages became; give those that are still what they once became."""
        ids = [visit.id for visit in visits]
        before, held = self._load_transitions(ids), self._load_fingerprints(ids)
        turns = {}
        for visit in visits:
            old, turn = held.get(visit.id, b""), before.get(visit.id)
            new = fingerprint_visit(visit, old)
            if turn is not None and _is_same_text(turn.new_fingerprint, new):
                turns[visit.id] = turn
            elif old and new and _is_different_text(old, new):
                turns[visit.id] = PageTransition(visit.id, host_ids[visit.id], visit.visited_at, old, new)
        self.db.executemany(
            "INSERT INTO turns VALUES (?, ?, ?, ?, ?) ON CONFLICT (url) DO UPDATE SET"
            " at = excluded.at, old = excluded.old, new = excluded.new",
            [
                (t.url_id, t.host_id, t.changed_at, t.old_fingerprint, t.new_fingerprint)
                for url, t in turns.items()
                if before.get(url) is not t
            ],
        )
        return turns

    def _is_notice(self, transition: PageTransition) -> bool:
        rows = self.db.execute(
            "SELECT old, new FROM turns WHERE host = ? ORDER BY at DESC LIMIT ?",
            (transition.host_id, MAX_COMPARED_PAGES),
        ).fetchall()
        different: list[bytes] = []
        for old, new in rows:
            if _is_same_text(new, transition.new_fingerprint) and all(
                _is_different_text(old, other) for other in different
            ):
                different.append(old)
        return len(different) >= MIN_CLUSTER_SIZE and not _is_same_text(
            self._load_front_page(transition.host_id), transition.new_fingerprint
        )

    def _load_front_page(self, host_id: int) -> bytes:
        """What the front page of a host shows."""
        row = self.db.execute("SELECT id FROM urls WHERE host = ? AND path = '/'", (host_id,)).fetchone()
        if row is None:
            return b""
        turn = self._load_transitions([row[0]]).get(row[0])
        return turn.new_fingerprint if turn is not None else self._load_fingerprints([row[0]]).get(row[0], b"")

    def _load_transitions(self, url_ids: Sequence[int]) -> dict[int, PageTransition]:
        rows = self._select_rows("SELECT url, host, at, old, new FROM turns", url_ids)
        return {row[0]: PageTransition(*row) for row in rows}

    def _load_fingerprints(self, url_ids: Sequence[int]) -> dict[int, bytes]:
        return dict(
            self._select_rows(
                "SELECT url, value FROM marks", url_ids, f" AND kind = 'minhash' AND length(value) = {SKETCH_SIZE}"
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
    """What a visit met, as a mark; what we hold, where nothing new was sent; nothing where nothing was seen."""
    if visit.outcome is Outcome.REDIRECT and (target := resolve_url(visit.url, visit.location)):
        return b">" + blake2b(target.url.encode(), digest_size=8).digest()
    return visit.fingerprints.get("minhash", stored_fingerprint) if visit.outcome in CONTENT_OUTCOMES else b""


def _as_missing(visit: Visit) -> Visit:
    return replace(visit, outcome=Outcome.GONE, detail=NOTICE_NOTE, links=(), file_refs=(), fingerprints={})


def _is_same_text(one: bytes, other: bytes) -> bool:
    return one == other or estimate_similarity(one, other) >= SAME_SIMILARITY


def _is_different_text(one: bytes, other: bytes) -> bool:
    return one != other and estimate_similarity(one, other) < DIFFERENT_SIMILARITY
