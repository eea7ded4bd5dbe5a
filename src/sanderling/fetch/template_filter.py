"""The STRUCT buffer of a specialised migrant: match at the far end, bring home only matches, keep the rest for later.

A page that is not built like the samples does not travel: home is told its title, structure and links, and the migrant
keeps what it fetched in a small file. When home asks for such a page after all, it comes from there and the web is not
asked again.
"""

import sqlite3
from pathlib import Path

import msgspec
from msgspec.structs import replace

from sanderling.db.connection import close_with
from sanderling.fingerprint.structure import features, weighted
from sanderling.models import Brief, Itinerary, Outcome, Reason, Role, Stop, Visit

FRESH = 86_400.0  # seconds a kept page may stand for the page on the web
MOST_BYTES = 256 * 2**20
LOOK_EVERY = 200  # pages kept between two looks at the size


class Buffer:
    """Briefs in hand, and the pages that did not match any."""

    def __init__(self, folder: str) -> None:
        self._keep = Keep(Path(folder))
        self._briefs: dict[int, Brief] = {}

    def carry(self, itinerary: Itinerary, now: float) -> tuple[list[Visit], Itinerary]:
        """Take the brief of an errand in hand; stops whose pages are kept here need no fetch."""
        kept = [visit for stop in itinerary.stops if (visit := self._keep.take(stop, now)) is not None]
        ids = {visit.id for visit in kept}
        left = tuple(stop for stop in itinerary.stops if stop.id not in ids) if kept else itinerary.stops
        if itinerary.brief is not None:
            self._briefs |= dict.fromkeys([stop.id for stop in left if not stop.digest], itinerary.brief)
        return kept, replace(itinerary, stops=left)

    def weigh(self, visit: Visit) -> Visit:
        """Let a match go home; of any other page only what it says of itself and where it leads."""
        brief = self._briefs.pop(visit.id, None)
        if brief is None or visit.outcome is not Outcome.FETCHED or visit.role is not Role.PAGE:
            return visit
        if matches(brief, visit.marks.get("structure", b"")):
            return visit
        self._keep.put(visit)
        return told(visit)

    def forget(self, stop: int) -> None:
        """A host beside the web server has matched this page by itself."""
        self._briefs.pop(stop, None)


def told(visit: Visit, note: str = "kept by the migrant that fetched it") -> Visit:
    """What home is told of a page that does not travel."""
    return replace(
        visit, outcome=Outcome.KEPT, reason=Reason.NOT_ALIKE, note=note, head=b"", response=b"", request=b"",
        metadata=b"", record_id="", payload="", hints=(), marks={"structure": visit.marks.get("structure", b"")},
    )  # fmt: skip


def matches(brief: Brief, signature: bytes) -> bool:
    """Is a page with this signature built like one of the samples?"""
    page = features(signature)
    likes = [weighted(sample, page, brief.weights, brief.unknown) for sample in brief.structures]
    return max(likes, default=0.0) >= brief.least


class Keep:
    """Pages that wait at the migrant until somebody wants them; the oldest give way."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file = folder / FILE
        self._db = sqlite3.connect(self._file, timeout=30.0, isolation_level=None, check_same_thread=False)
        close_with(self, self._db)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = OFF")  # what is lost is fetched again
        self._db.execute("CREATE TABLE IF NOT EXISTS kept (url TEXT PRIMARY KEY, at REAL, size INTEGER, visit BLOB)")
        self._puts = 0

    def put(self, visit: Visit) -> None:
        """Keep a page."""
        packed = msgspec.msgpack.encode(visit)
        self._db.execute("INSERT OR REPLACE INTO kept VALUES (?, ?, ?, ?)", (visit.url, visit.at, len(packed), packed))
        self._puts += 1
        if self._puts % LOOK_EVERY == 0:
            self._make_room()

    def take(self, stop: Stop, now: float) -> Visit | None:
        """Hand over the page of a stop, under its present lease; None if it is not here or too old."""
        row = self._db.execute("SELECT at, visit FROM kept WHERE url = ?", (stop.url,)).fetchone()
        if row is None:
            return None
        self._db.execute("DELETE FROM kept WHERE url = ?", (stop.url,))
        if now - row[0] > FRESH:
            return None
        visit = msgspec.msgpack.decode(row[1], type=Visit)
        return replace(visit, id=stop.id, token=stop.token, wire_bytes=0)

    def _make_room(self) -> None:
        (size,) = self._db.execute("SELECT coalesce(sum(size), 0) FROM kept").fetchone()
        while size > MOST_BYTES:
            rows = self._db.execute(
                "DELETE FROM kept WHERE url IN (SELECT url FROM kept ORDER BY at LIMIT 100) RETURNING size"
            ).fetchall()
            size -= sum(length for (length,) in rows)


FILE = "kept.db"


def open_buffer(folder: str) -> Buffer | None:
    """The buffer of a migrant that carries briefs; None for all others."""
    if not folder:
        return None
    return Buffer(folder)


def is_kept(folder: Path) -> bool:
    """Does anybody keep pages here?"""
    return (folder / FILE).exists()
