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
from sanderling.fingerprint.minhash import SIZE, similarity
from sanderling.models import Outcome, Role, Visit
from sanderling.storage.catalog import Latest
from sanderling.urls.normalize import resolve

SEVERAL = 4  # pages that were different and became the same
SAME = (
    0.93  # similarity from which two texts are the same but for a few words, as a notice that names what was asked for
)
DIFFERENT = (
    0.8  # similarity below which two texts are different pages; those of a template share more than near duplicates
)
RECENT = 64  # changed pages of a host that are compared
CHUNK = 400
SHOWING = (Outcome.FETCHED, Outcome.NOT_MODIFIED)
WHY = "it became what several different pages of its host became"


class Turn(Struct, frozen=True):
    """What a page was, and what it became: marks of texts, or `>` and the mark of an address it leads to."""

    url: int
    host: int
    at: float
    old: bytes
    new: bytes


class Notices:
    """Remembers what changed pages became, and tells pages from notices that there is none."""

    def __init__(self, db: Connection) -> None:
        self.db = db

    def unmasked(
        self, visits: Sequence[Visit], latest: Mapping[int, Latest], hosts: Mapping[int, int]
    ) -> Sequence[Visit]:
        """The same visits; those that met a notice in place of a page that was there count as missing."""
        known = [visit for visit in visits if visit.id in latest and visit.role is Role.PAGE]
        if not known:
            return visits
        turns = self._note(known, hosts)
        missing = {url for url, turn in turns.items() if self._is_notice(turn)}
        return [_missing(visit) if visit.id in missing else visit for visit in visits]

    def _note(self, visits: Sequence[Visit], hosts: Mapping[int, int]) -> dict[int, Turn]:
        """Write down what pages became; give those that are still what they once became."""
        ids = [visit.id for visit in visits]
        before, held = self._turns(ids), self._marks(ids)
        turns = {}
        for visit in visits:
            old, turn = held.get(visit.id, b""), before.get(visit.id)
            new = shown(visit, old)
            if turn is not None and _is_same(turn.new, new):
                turns[visit.id] = turn
            elif old and new and _is_other(old, new):
                turns[visit.id] = Turn(visit.id, hosts[visit.id], visit.at, old, new)
        self.db.executemany(
            "INSERT INTO turns VALUES (?, ?, ?, ?, ?) ON CONFLICT (url) DO UPDATE SET"
            " at = excluded.at, old = excluded.old, new = excluded.new",
            [(t.url, t.host, t.at, t.old, t.new) for url, t in turns.items() if before.get(url) is not t],
        )
        return turns

    def _is_notice(self, turn: Turn) -> bool:
        rows = self.db.execute(
            "SELECT old, new FROM turns WHERE host = ? ORDER BY at DESC LIMIT ?", (turn.host, RECENT)
        ).fetchall()
        different: list[bytes] = []
        for old, new in rows:
            if _is_same(new, turn.new) and all(_is_other(old, other) for other in different):
                different.append(old)
        return len(different) >= SEVERAL and not _is_same(self._front(turn.host), turn.new)

    def _front(self, host: int) -> bytes:
        """What the front page of a host shows."""
        row = self.db.execute("SELECT id FROM urls WHERE host = ? AND path = '/'", (host,)).fetchone()
        if row is None:
            return b""
        turn = self._turns([row[0]]).get(row[0])
        return turn.new if turn is not None else self._marks([row[0]]).get(row[0], b"")

    def _turns(self, urls: Sequence[int]) -> dict[int, Turn]:
        rows = self._find("SELECT url, host, at, old, new FROM turns", urls)
        return {row[0]: Turn(*row) for row in rows}

    def _marks(self, urls: Sequence[int]) -> dict[int, bytes]:
        return dict(
            self._find("SELECT url, value FROM marks", urls, f" AND kind = 'minhash' AND length(value) = {SIZE}")
        )

    def _find(self, sql: str, urls: Sequence[int], also: str = "") -> list[Any]:
        rows: list[Any] = []
        for start in range(0, len(urls), CHUNK):
            part = urls[start : start + CHUNK]
            rows += self.db.execute(f"{sql} WHERE url IN ({','.join('?' * len(part))}){also}", part).fetchall()
        return rows


def shown(visit: Visit, held: bytes) -> bytes:
    """What a visit met, as a mark; what we hold, where nothing new was sent; nothing where nothing was seen."""
    if visit.outcome is Outcome.REDIRECT and (target := resolve(visit.url, visit.location)):
        return b">" + blake2b(target.url.encode(), digest_size=8).digest()
    return visit.marks.get("minhash", held) if visit.outcome in SHOWING else b""


def _missing(visit: Visit) -> Visit:
    return replace(visit, outcome=Outcome.GONE, note=WHY, links=(), pointers=(), marks={})


def _is_same(one: bytes, other: bytes) -> bool:
    return one == other or similarity(one, other) >= SAME


def _is_other(one: bytes, other: bytes) -> bool:
    return one != other and similarity(one, other) < DIFFERENT
