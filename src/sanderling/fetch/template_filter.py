"""The STRUCT buffer of a specialised migrant: match at the far end, bring home only matches, keep the rest for later.

A page that is not built like the samples does not travel: home is told its title, structure and links, and the migrant
keeps what it fetched in a small file. When home asks for such a page after all, it comes from there and the web is not
asked again.
"""

import sqlite3
from pathlib import Path

import msgspec
from msgspec.structs import replace

from sanderling.db.connection import close_on_finalize
from sanderling.fingerprint.structure import compute_weighted_similarity, decode_features
from sanderling.models import FetchBatch, FetchTask, Outcome, Reason, TemplateFilter, UrlRole, Visit

MAX_PARKED_AGE = 86_400.0  # seconds a kept page may stand for the page on the web
MAX_PARKED_BYTES = 256 * 2**20
SIZE_CHECK_INTERVAL = 200  # pages kept between two looks at the size


class TemplateMatcher:
    """Briefs in hand, and the pages that did not match any."""

    def __init__(self, folder: str) -> None:
        self._parked_pages = ParkedPageStore(Path(folder))
        self._filters: dict[int, TemplateFilter] = {}

    def register_batch(self, batch: FetchBatch, now: float) -> tuple[list[Visit], FetchBatch]:
        """Take the brief of an errand in hand; stops whose pages are kept here need no fetch."""
        kept = [visit for stop in batch.tasks if (visit := self._parked_pages.take(stop, now)) is not None]
        ids = {visit.id for visit in kept}
        left = tuple(stop for stop in batch.tasks if stop.id not in ids) if kept else batch.tasks
        if batch.template_filter is not None:
            self._filters |= dict.fromkeys([stop.id for stop in left if not stop.digest], batch.template_filter)
        return kept, replace(batch, tasks=left)

    def park_unless_matching(self, visit: Visit) -> Visit:
        """Let a match go home; of any other page only what it says of itself and where it leads."""
        brief = self._filters.pop(visit.id, None)
        if brief is None or visit.outcome is not Outcome.FETCHED or visit.role is not UrlRole.PAGE:
            return visit
        if has_matching_structure(brief, visit.fingerprints.get("structure", b"")):
            return visit
        self._parked_pages.put(visit)
        return build_parked_visit(visit)

    def drop_filter(self, task_id: int) -> None:
        """A host beside the web server has matched this page by itself."""
        self._filters.pop(task_id, None)


def build_parked_visit(visit: Visit, detail: str = "kept by the migrant that fetched it") -> Visit:
    """What home is told of a page that does not travel."""
    return replace(
        visit,
        outcome=Outcome.PARKED,
        reason=Reason.NOT_SIMILAR,
        detail=detail,
        head=b"",
        response_record=b"",
        request_record=b"",
        metadata_record=b"",
        record_id="",
        payload_digest="",
        sitemap_hints=(),
        fingerprints={"structure": visit.fingerprints.get("structure", b"")},
    )


def has_matching_structure(template_filter: TemplateFilter, structure_fingerprint: bytes) -> bool:
    """Is a page with this signature built like one of the samples?"""
    page = decode_features(structure_fingerprint)
    likes = [
        compute_weighted_similarity(sample, page, template_filter.weights, template_filter.default_weight)
        for sample in template_filter.templates
    ]
    return max(likes, default=0.0) >= template_filter.min_similarity


class ParkedPageStore:
    """Pages that wait at the migrant until somebody wants them; the oldest give way."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file = folder / PARKED_DATABASE
        self._db = sqlite3.connect(self._file, timeout=30.0, isolation_level=None, check_same_thread=False)
        close_on_finalize(self, self._db)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = OFF")  # what is lost is fetched again
        self._db.execute("CREATE TABLE IF NOT EXISTS kept (url TEXT PRIMARY KEY, at REAL, size INTEGER, visit BLOB)")
        self._put_count = 0

    def put(self, visit: Visit) -> None:
        """Keep a page."""
        packed = msgspec.msgpack.encode(visit)
        self._db.execute(
            "INSERT OR REPLACE INTO kept VALUES (?, ?, ?, ?)", (visit.url, visit.visited_at, len(packed), packed)
        )
        self._put_count += 1
        if self._put_count % SIZE_CHECK_INTERVAL == 0:
            self._evict_oldest()

    def take(self, task: FetchTask, now: float) -> Visit | None:
        """Hand over the page of a stop, under its present lease; None if it is not here or too old."""
        row = self._db.execute("SELECT at, visit FROM kept WHERE url = ?", (task.url,)).fetchone()
        if row is None:
            return None
        self._db.execute("DELETE FROM kept WHERE url = ?", (task.url,))
        if now - row[0] > MAX_PARKED_AGE:
            return None
        visit = msgspec.msgpack.decode(row[1], type=Visit)
        return replace(visit, id=task.id, token=task.token, received_bytes=0)

    def _evict_oldest(self) -> None:
        (size,) = self._db.execute("SELECT coalesce(sum(size), 0) FROM kept").fetchone()
        while size > MAX_PARKED_BYTES:
            rows = self._db.execute(
                "DELETE FROM kept WHERE url IN (SELECT url FROM kept ORDER BY at LIMIT 100) RETURNING size"
            ).fetchall()
            size -= sum(length for (length,) in rows)


PARKED_DATABASE = "kept.db"


def open_template_matcher(folder: str) -> TemplateMatcher | None:
    """The buffer of a migrant that carries briefs; None for all others."""
    if not folder:
        return None
    return TemplateMatcher(folder)


def has_parked_pages(folder: Path) -> bool:
    """Does anybody keep pages here?"""
    return (folder / PARKED_DATABASE).exists()
