"""Template filter of a worker (STRUCT buffer): report matching pages and park the rest.

Of a parked page the coordinator receives title, structure, and links. If it asks for the page later, it is not fetched
again.
"""

import sqlite3
from pathlib import Path

import msgspec
from msgspec.structs import replace

from sanderling.db.connection import close_on_finalize
from sanderling.fingerprint.structure import compute_weighted_similarity, decode_features
from sanderling.models import FetchBatch, FetchTask, Outcome, Reason, TemplateFilter, UrlRole, Visit
from sanderling.page_fingerprints import PageFingerprints

MAX_PARKED_AGE = 86_400.0  # seconds before a parked page must be fetched again
MAX_PARKED_BYTES = 256 * 2**20
SIZE_CHECK_INTERVAL = 200  # parked pages


class TemplateMatcher:
    """Template filters of the tasks in progress, and the parked pages."""

    def __init__(self, folder: str) -> None:
        self._parked_pages = ParkedPageStore(Path(folder))
        self._filters: dict[int, TemplateFilter] = {}

    def register_batch(self, batch: FetchBatch, now: float) -> tuple[list[Visit], FetchBatch]:
        """Store the filter of a batch; return visits of parked pages and the remaining batch."""
        parked = [visit for task in batch.tasks if (visit := self._parked_pages.take(task, now)) is not None]
        ids = {visit.id for visit in parked}
        remaining = tuple(task for task in batch.tasks if task.id not in ids) if parked else batch.tasks
        if batch.template_filter is not None:
            self._filters |= dict.fromkeys([task.id for task in remaining if not task.digest], batch.template_filter)
        return parked, replace(batch, tasks=remaining)

    def park_unless_matching(self, visit: Visit) -> Visit:
        """Return a matching visit unchanged; park any other page."""
        template_filter = self._filters.pop(visit.id, None)
        if template_filter is None or visit.outcome is not Outcome.FETCHED or visit.role is not UrlRole.PAGE:
            return visit
        if has_matching_structure(template_filter, visit.fingerprints.structure or b""):
            return visit
        self._parked_pages.put(visit)
        return build_parked_visit(visit)

    def drop_filter(self, task_id: int) -> None:
        """Discard the filter of a page that a migrant has already matched."""
        self._filters.pop(task_id, None)


def build_parked_visit(visit: Visit, detail: str = "parked by the worker that fetched it") -> Visit:
    """Return a visit without page content: title, structure fingerprint and links only."""
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
        fingerprints=PageFingerprints(structure=visit.fingerprints.structure or b""),
    )


def has_matching_structure(template_filter: TemplateFilter, structure_fingerprint: bytes) -> bool:
    page = decode_features(structure_fingerprint)
    similarities = [
        compute_weighted_similarity(sample, page, template_filter.weights, template_filter.default_weight)
        for sample in template_filter.templates
    ]
    return max(similarities, default=0.0) >= template_filter.min_similarity


class ParkedPageStore:
    """Database of parked pages; the oldest are evicted."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file = folder / PARKED_DATABASE
        self._db = sqlite3.connect(self._file, timeout=30.0, isolation_level=None, check_same_thread=False)
        close_on_finalize(self, self._db)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = OFF")  # lost pages are fetched again
        self._db.execute("CREATE TABLE IF NOT EXISTS kept (url TEXT PRIMARY KEY, at REAL, size INTEGER, visit BLOB)")
        self._put_count = 0

    def put(self, visit: Visit) -> None:
        packed = msgspec.msgpack.encode(visit)
        self._db.execute(
            "INSERT OR REPLACE INTO kept VALUES (?, ?, ?, ?)", (visit.url, visit.visited_at, len(packed), packed)
        )
        self._put_count += 1
        if self._put_count % SIZE_CHECK_INTERVAL == 0:
            self._evict_oldest()

    def take(self, task: FetchTask, now: float) -> Visit | None:
        """Remove and return a page under the lease of `task` (None: not parked, or too old)."""
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
    """Return the template matcher.

    None: no parking folder is set.
    """
    if not folder:
        return None
    return TemplateMatcher(folder)


def has_parked_pages(folder: Path) -> bool:
    return (folder / PARKED_DATABASE).exists()
