"""Visits with their archive records: find, move and delete them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from msgspec import Struct

from sanderling.db.connection import Connection, select_by_ids
from sanderling.models import Outcome
from sanderling.warc.records import RecordLocation

SELECT_VISIT_RECORDS = (
    "SELECT v.id, v.url, v.at, v.outcome, v.record, v.payload, v.digest, v.size, f.name, v.start, v.length"
    " FROM visits AS v JOIN files AS f ON f.id = v.file WHERE v.length > 0 AND v.url IN ({}) ORDER BY v.at, v.id"
)


class VisitRecord(Struct, frozen=True):
    """A visit with its archive record."""

    visit_id: int
    url_id: int
    fetched_at: float
    outcome: str
    record_id: str
    payload_digest: str
    digest: bytes
    size: int
    file: str
    offset: int
    length: int

    @property
    def place(self) -> RecordLocation:
        return RecordLocation(self.file, self.offset, self.length)


class MovedRecord(Struct, frozen=True):
    """The new record of a visit."""

    visit: VisitRecord
    record_id: str
    payload_digest: str
    place: RecordLocation


def load_visit_records(db: Connection, url_ids: Sequence[int]) -> list[VisitRecord]:
    return [VisitRecord(*row) for row in select_by_ids(db, SELECT_VISIT_RECORDS, url_ids)]


def load_visit_times(db: Connection, url_ids: Sequence[int]) -> dict[int, list[float]]:
    """Return the times of all visits by URL id."""
    times: dict[int, list[float]] = defaultdict(list)
    for url_id, at in select_by_ids(db, "SELECT url, at FROM visits WHERE url IN ({})", url_ids):
        times[url_id].append(at)
    return times


def find_shared_bodies(db: Connection, url_ids: set[int]) -> dict[bytes, list[int]]:
    """Return the digests of bodies that these pages share with other pages, and those other pages."""
    sql = "SELECT url, digest FROM visits WHERE outcome = ? AND length > 0"
    digests = {digest for url, digest in db.execute(sql, (str(Outcome.FETCHED),)) if url in url_ids}
    sharing: dict[bytes, set[int]] = defaultdict(set)
    for url, digest in db.execute(sql, (str(Outcome.FETCHED),)):
        if digest in digests and url not in url_ids:
            sharing[digest].add(url)
    return {digest: sorted(urls) for digest, urls in sharing.items()}


def move_records(db: Connection, moved: Iterable[tuple[MovedRecord, int]]) -> None:
    """Store the new record of each visit, with the id of its file."""
    db.executemany(
        "UPDATE visits SET file = ?, start = ?, length = ?, record = ?, payload = ? WHERE id = ?",
        [(file_id, record.place.offset, record.place.length, record.record_id, record.payload_digest,
          record.visit.visit_id)
         for record, file_id in moved],
    )  # fmt: skip


def delete_visits(db: Connection, url_ids: Sequence[int]) -> None:
    """Delete all visits of these URLs, and references to them from other pages."""
    placeholders = ",".join("?" * len(url_ids))  # one statement each: `digests` and `duplicate_of` have no index
    db.execute(f"DELETE FROM digests WHERE visit IN (SELECT id FROM visits WHERE url IN ({placeholders}))", url_ids)
    db.execute(f"DELETE FROM visits WHERE url IN ({placeholders})", url_ids)
    db.execute(f"UPDATE pages SET duplicate_of = 0 WHERE duplicate_of IN ({placeholders})", url_ids)
