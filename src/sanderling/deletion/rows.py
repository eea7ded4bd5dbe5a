"""Take pages out of a collection: rows, records of the archive, lines of its index; the URL stays, so that it is known.

Rows go in one transaction that also writes down what is still to be erased (`Work`). A crash leaves work that `pending`
finds and that can be done again. A page with the same body as a forgotten one keeps it: its records are written anew.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from http import HTTPStatus

from msgspec import Struct, msgpack

from sanderling.db.connection import Connection, transaction
from sanderling.models import Outcome, Reason, State
from sanderling.storage.catalog import Catalogue
from sanderling.storage.queries import urls_of
from sanderling.warc.archive import Archive
from sanderling.warc.erase import extent
from sanderling.warc.packer import Exchange, pack_response
from sanderling.warc.reader import StoredRecord, read_record
from sanderling.warc.records import Original, Place

CHUNK = 200
WORK = "forgetting"  # name of the blob
FRAMING = ("content-encoding", "transfer-encoding", "content-length")


class Work(Struct):
    """What is still to be done after the rows are gone."""

    places: list[Place] = []  # to be erased
    elsewhere: int = 0  # records in files that are not here
    urls: dict[str, list[float]] = {}  # forgotten, each with the times of its visits: the full-text index has both


class Held(Struct, frozen=True):
    """A visit with a record."""

    visit: int
    url: int
    at: float
    outcome: str
    record: str
    payload: str
    digest: bytes
    file: str
    start: int
    length: int

    @property
    def place(self) -> Place:
        """Where the record lies."""
        return Place(self.file, self.start, self.length)


HELD = (
    "SELECT v.id, v.url, v.at, v.outcome, v.record, v.payload, v.digest, f.name, v.start, v.length"
    " FROM visits AS v JOIN files AS f ON f.id = v.file WHERE v.length > 0 AND v.url IN ({}) ORDER BY v.at, v.id"
)


class Terms(Struct, frozen=True):
    """How pages are forgotten."""

    now: float
    session: int
    columns: Sequence[tuple[str, str]]  # what every room keeps of a page: table, and column with its URL
    state: State = State.SKIPPED  # what becomes of the URL


class Forgetter:
    """Forgets pages of one open collection."""

    def __init__(self, db: Connection, archive: Archive, urls: Sequence[int], terms: Terms) -> None:
        self.db = db
        self.archive = archive
        self.catalogue = Catalogue(db)
        self.urls = urls
        self.terms = terms
        self.heirs = _heirs(db, set(urls))
        self.pages = 0
        if isinstance(db, sqlite3.Connection):
            db.execute("PRAGMA secure_delete=ON")  # what is deleted is to be gone from the file too

    def chunks(self) -> Iterator[Work]:
        """Forget some URLs at a time; what is left to do of each part comes back, and is done before the next."""
        for start in range(0, len(self.urls), CHUNK):
            with transaction(self.db):
                work = self._forget(list(self.urls[start : start + CHUNK]))
                self.db.execute("INSERT INTO blobs VALUES (?, ?)", (WORK, msgpack.encode(work)))
            yield work
            done(self.db)

    def _forget(self, part: list[int]) -> Work:
        names, held = urls_of(self.db, part), _held(self.db, part)
        kept = self._keep_bodies(held)
        extents = [extent(self.archive.folder, place) for place in [*(one.place for one in held), *kept]]
        work = Work([place for place in extents if place is not None], sum(place is None for place in extents))
        marks = ",".join("?" * len(part))
        for url, at in self.db.execute(f"SELECT url, at FROM visits WHERE url IN ({marks})", part):
            work.urls.setdefault(names[url], []).append(at)
        stored = [url for (url,) in self.db.execute(f"SELECT url FROM pages WHERE url IN ({marks})", part)]
        self.pages += len(stored)
        self._delete(part, marks)
        self.catalogue.note_absence(stored, self.terms.session, self.terms.now, Reason.FORGOTTEN)
        for url in part:
            work.urls.setdefault(names[url], [])
        return work

    def _delete(self, part: list[int], marks: str) -> None:
        db = self.db
        db.execute(f"DELETE FROM digests WHERE visit IN (SELECT id FROM visits WHERE url IN ({marks}))", part)
        db.execute(f"DELETE FROM visits WHERE url IN ({marks})", part)
        db.execute(f"UPDATE pages SET duplicate_of = 0 WHERE duplicate_of IN ({marks})", part)
        for table, column in self.terms.columns:
            db.execute(f"DELETE FROM {table} WHERE {column} IN ({marks})", part)
        db.execute(
            f"UPDATE urls SET state = ?, reason = ?, note = '' WHERE id IN ({marks})",
            (str(self.terms.state), str(Reason.FORGOTTEN), *part),
        )

    def _keep_bodies(self, held: Sequence[Held]) -> list[Place]:
        """Write the bodies that other pages have too once more, under these; give what is to be erased of them."""
        lost = {(one.place.file, one.place.offset) for one in held}
        replaced: list[Place] = []
        for digest in {one.digest for one in held if one.digest in self.heirs}:
            visits = [
                (one, record)
                for one in _held(self.db, self.heirs[digest])
                if (record := read_record(self.archive.folder, one.place)) and _repeats(record, lost)
            ]
            replaced += self._write_anew(visits)
        return replaced

    def _write_anew(self, visits: Sequence[tuple[Held, StoredRecord]]) -> list[Place]:
        """The first that brought the body becomes its record; the others repeat that one."""
        first = next(((one, record) for one, record in visits if one.outcome == Outcome.FETCHED), None)
        if first is None:
            return []
        one, record = first
        packed = pack_response(Exchange(record.url, one.at, _head(record, FRAMING), record.body))
        place = self.archive.append(packed.member)
        original = Original(packed.record_id, record.url, one.at, packed.payload_digest, place)
        new = [(one, packed.record_id, packed.payload_digest, place)]
        for other, seen in visits:
            if other.visit != one.visit:
                again, where = self.archive.revisit(Exchange(seen.url, other.at, _head(seen)), original)
                new.append((other, again.record_id, packed.payload_digest, where))
        files = {name: self.catalogue.file_id(name, length) for name, length in self.archive.flush().items()}
        self.db.executemany(
            "UPDATE visits SET file = ?, start = ?, length = ?, record = ?, payload = ? WHERE id = ?",
            [(files[place.file], place.offset, place.length, id_, payload, held.visit)
             for held, id_, payload, place in new],
        )  # fmt: skip
        self.catalogue.point(one.digest, one.visit)
        return [held.place for held, _, _, _ in new]


def pending(db: Connection) -> Work | None:
    """What an earlier forgetting left to do; None if nothing."""
    row = db.execute("SELECT value FROM blobs WHERE name = ?", (WORK,)).fetchone()
    return msgpack.decode(row[0], type=Work) if row else None


def done(db: Connection) -> None:
    """Nothing is left to do."""
    db.execute("DELETE FROM blobs WHERE name = ?", (WORK,))


def known(db: Connection, is_meant: Callable[[str], object]) -> list[int]:
    """The ids of all known URLs that are meant and not forgotten yet."""
    rows = db.execute(
        "SELECT u.id, h.name || u.path FROM urls AS u JOIN hosts AS h ON h.id = u.host"
        " WHERE u.reason <> ? ORDER BY u.id",
        (str(Reason.FORGOTTEN),),
    )
    return [id_ for id_, url in rows if is_meant(url)]


def _held(db: Connection, urls: Sequence[int]) -> list[Held]:
    found: list[Held] = []
    for start in range(0, len(urls), CHUNK):
        part = urls[start : start + CHUNK]
        rows = db.execute(HELD.format(",".join("?" * len(part))), part)
        found += [Held(*row) for row in rows]
    return found


def _heirs(db: Connection, forgotten: set[int]) -> dict[bytes, list[int]]:
    """Digests of forgotten bodies that other pages had too, with these pages."""
    sql = "SELECT url, digest FROM visits WHERE outcome = ? AND length > 0"
    lost = {digest for url, digest in db.execute(sql, (str(Outcome.FETCHED),)) if url in forgotten}
    having: dict[bytes, set[int]] = defaultdict(set)
    for url, digest in db.execute(sql, (str(Outcome.FETCHED),)):
        if digest in lost and url not in forgotten:
            having[digest].add(url)
    return {digest: sorted(urls) for digest, urls in having.items()}


def _repeats(record: StoredRecord, lost: set[tuple[str, int]]) -> bool:
    """Does a record lean on one that goes?"""
    offset = record.field("WARC-Refers-To-File-Offset")
    return record.kind == "revisit" and (record.field("WARC-Refers-To-Filename"), int(offset or -1)) in lost


def _head(record: StoredRecord, without: Sequence[str] = ()) -> bytes:
    """Status line and headers as they were seen."""
    phrase = HTTPStatus(record.status).phrase if record.status in set(HTTPStatus) else "Unknown"
    lines = [f"HTTP/1.1 {record.status} {phrase}"]
    lines += [f"{name}: {value}" for name, value in record.head if name.lower() not in without]
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")
