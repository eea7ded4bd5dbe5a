"""The catalogue: one row per page as it is now, one per visit as it was; read by every command that shows something."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from sanderling.db.connection import Connection, select_by_ids
from sanderling.http.content_type import HTML_TYPES, UNKNOWN_TYPES
from sanderling.models import Outcome, Reason, Visit

SQL_CHUNK_SIZE = 400
TRANSIENT_FINGERPRINTS = ("before", "after")  # marks that are compared when a page comes, and not kept
NOINDEX_FROM_PAGE, NOINDEX_FROM_HEADER = 1, 2  # who says noindex: the page, a header
MISSES_UNTIL_GONE = 2  # a stored page is gone when it was missing this many times in a row
STATUS_NOT_FOUND = 404  # of a page that says so, with whatever status
PRESENT_OUTCOMES = (Outcome.NOT_MODIFIED, Outcome.FETCHED)


class PageState(Struct, frozen=True):
    """What we hold of a page before this visit."""

    url_id: int
    status: int
    charset: str
    digest: bytes
    etag: str
    last_modified: str
    first_seen: float
    last_visit: float
    last_change: float
    visit_count: int
    change_count: int
    miss_count: int
    size: int
    visit_id: int
    packed_links: bytes
    duplicate_of_id: int = 0
    mime: str = ""

    @property
    def is_present(self) -> bool:
        """Was the page there when it was last looked for?"""
        return 200 <= self.status < 300

    @property
    def was_html(self) -> bool:
        """May its last version have been read as a page? One that came without a type may."""
        return self.mime in HTML_TYPES or self.mime in UNKNOWN_TYPES

    @property
    def is_gone(self) -> bool:
        """Did the page go away, so that what we hold is what it was before?"""
        return self.status >= 400 and bool(self.digest)


class IdenticalBody(Struct, frozen=True):
    """A stored body with the same digest, and where it lies."""

    visit_id: int
    url_id: int
    fetched_at: float
    record_id: str
    payload_digest: str
    request_url: str
    file: str
    offset: int
    length: int


class VisitRow(Struct, frozen=True):
    """A visit with where its record went and what became of the page."""

    visit: Visit
    has_changed: bool
    file_id: int = 0
    offset: int = 0
    length: int = 0
    record_id: str = ""
    payload_digest: str = ""
    identical_body: IdenticalBody | None = None
    packed_links: bytes = b""
    link_count: int = 0


PAGE_COLUMNS = (
    "url", "status", "mime", "charset", "title", "language", "first_seen", "last_visit", "last_change", "digest",
    "size", "etag", "last_modified", "canonical", "noindex", "nofollow", "visit", "visits", "changes", "misses",
    "duplicate_of", "location", "link_count", "links",
)  # fmt: skip
UPSERT_PAGE = (
    f"INSERT INTO pages ({', '.join(PAGE_COLUMNS)}) VALUES ({', '.join('?' * len(PAGE_COLUMNS))})"
    f" ON CONFLICT (url) DO UPDATE SET {', '.join(f'{c} = excluded.{c}' for c in PAGE_COLUMNS[1:])}"
)


BODY_COLUMNS_SQL = """
    v.id, v.url, v.at, v.record, v.payload, CASE u.wire WHEN '' THEN h.name || u.path ELSE u.wire END,
    f.name, v.start, v.length
    FROM visits AS v JOIN urls AS u ON u.id = v.url JOIN hosts AS h ON h.id = u.host JOIN files AS f ON f.id = v.file
"""


SELECT_PAGE_STATES = (
    "SELECT url, status, charset, digest, etag, last_modified, first_seen, last_visit, last_change, visits, changes,"
    " misses, size, visit, links, duplicate_of, mime FROM pages WHERE url IN ({})"
)
SELECT_IDENTICAL_BODIES = (
    f"SELECT d.prefix, v.digest, {BODY_COLUMNS_SQL} JOIN digests AS d ON d.visit = v.id WHERE d.prefix IN ({{}})"
)


def compute_digest_prefix(digest: bytes) -> int:
    """The first 63 bits of a digest: enough to find a twin, never to prove it."""
    return int.from_bytes(digest[:8], "big") >> 1


class PageCatalog:
    """Writes and reads pages and visits."""

    def __init__(self, db: Connection) -> None:
        self.db = db
        self.next_visit_id = 1 + int(db.execute("SELECT coalesce(max(id), 0) FROM visits").fetchone()[0])

    def load_page_states(self, url_ids: Sequence[int]) -> dict[int, PageState]:
        """What is held of these pages."""
        return {row[0]: PageState(*row) for row in select_by_ids(self.db, SELECT_PAGE_STATES, url_ids)}

    def find_identical_bodies(self, digests: Sequence[bytes]) -> dict[bytes, IdenticalBody]:
        """Stored bodies with one of these digests; the first that was stored."""
        wanted = {compute_digest_prefix(digest): digest for digest in digests}
        rows = select_by_ids(self.db, SELECT_IDENTICAL_BODIES, list(wanted))
        return {row[1]: IdenticalBody(*row[2:]) for row in rows if wanted[row[0]] == row[1]}

    def load_fingerprints(self, url_ids: Sequence[int], kind: str) -> dict[int, bytes]:
        """A mark of the last versions of some pages; those without one are left out."""
        found: dict[int, bytes] = {}
        for start in range(0, len(url_ids), SQL_CHUNK_SIZE):
            part = url_ids[start : start + SQL_CHUNK_SIZE]
            places = ",".join("?" * len(part))
            rows = self.db.execute(
                f"SELECT url, value FROM marks WHERE kind = ? AND url IN ({places})", (kind, *part)
            ).fetchall()
            found.update(rows)
        return found

    def load_fingerprint(self, url_id: int, kind: str) -> bytes:
        """A mark of the last version of a page; empty if it has none."""
        row = self.db.execute("SELECT value FROM marks WHERE url = ? AND kind = ?", (url_id, kind)).fetchone()
        return row[0] if row else b""

    def find_body_locations(self, visit_ids: Sequence[int]) -> dict[int, tuple[str, int, int]]:
        """Where the records of some visits lie; those without one are left out."""
        found: dict[int, tuple[str, int, int]] = {}
        for start in range(0, len(visit_ids), SQL_CHUNK_SIZE):
            part = visit_ids[start : start + SQL_CHUNK_SIZE]
            rows = self.db.execute(
                "SELECT v.id, f.name, v.start, v.length FROM visits AS v JOIN files AS f ON f.id = v.file"
                f" WHERE v.id IN ({','.join('?' * len(part))})",
                part,
            )
            found.update({id_: (name, first, length) for id_, name, first, length in rows})
        return found

    def find_body_location(self, visit_id: int) -> tuple[str, int, int] | None:
        """Where the record of one visit lies."""
        return self.find_body_locations([visit_id]).get(visit_id)

    def is_restored(self, visit: Visit, previous_state: PageState) -> bool:
        """Is this the body of the last version, whose record was lost and whose digest was therefore forgotten?"""
        if previous_state.digest or not visit.digest:
            return False
        row = self.db.execute("SELECT digest FROM visits WHERE id = ?", (previous_state.visit_id,)).fetchone()
        return row is not None and row[0] == visit.digest

    def record_missing(self, url_ids: Sequence[int]) -> None:
        """Their site says that these are no more: that counts as one look, and the next decides."""
        self.db.executemany(
            "UPDATE pages SET misses = ? WHERE url = ? AND misses < ?",
            [(MISSES_UNTIL_GONE - 1, url, MISSES_UNTIL_GONE - 1) for url in url_ids],
        )

    def remove_pages(self, url_ids: Sequence[int], session: int, now: float) -> None:
        """These pages leave the collection; a visit says so, and what the archive holds of them stays there."""
        self.record_removal(url_ids, session, now, Reason.EVICTED)
        gone = [(url,) for url in url_ids]
        bodies = [
            (compute_digest_prefix(old.digest), old.visit_id)
            for old in self.load_page_states(url_ids).values()
            if old.digest
        ]
        self.db.executemany("DELETE FROM digests WHERE prefix = ? AND visit = ?", bodies)
        for start in range(0, len(url_ids), SQL_CHUNK_SIZE):
            part = url_ids[start : start + SQL_CHUNK_SIZE]
            marks = ",".join("?" * len(part))
            self.db.execute(f"UPDATE pages SET duplicate_of = 0 WHERE duplicate_of IN ({marks})", part)
        self.db.executemany("DELETE FROM marks WHERE url = ?", gone)
        self.db.executemany("DELETE FROM pages WHERE url = ?", gone)

    def record_removal(self, url_ids: Sequence[int], session: int, now: float, reason: Reason) -> None:
        """A visit that was none says that these pages are no longer held; the full-text index hears of it so."""
        rows = []
        for url in url_ids:
            rows.append(
                (self.next_visit_id, url, now, session, str(Outcome.SKIPPED), str(reason), 0, 0, b"", *[0] * 6, "", "")
            )
            self.next_visit_id += 1
        self.db.executemany(f"INSERT INTO visits VALUES ({', '.join('?' * 17)})", rows)

    def set_body_record(self, digest: bytes, visit_id: int) -> None:
        """A body is held by the record of this visit from now on."""
        self.db.execute(
            "INSERT INTO digests VALUES (?, ?) ON CONFLICT (prefix) DO UPDATE SET visit = excluded.visit",
            (compute_digest_prefix(digest), visit_id),
        )

    def store_fingerprints(self, fingerprints: Iterable[tuple[int, str, bytes]]) -> None:
        """Keep what pages are compared by: URL id, kind, value."""
        self.db.executemany(
            "INSERT INTO marks VALUES (?, ?, ?) ON CONFLICT (url, kind) DO UPDATE SET value = excluded.value",
            fingerprints,
        )

    def write_visits(self, visit_rows: Sequence[VisitRow], page_states: Mapping[int, PageState], session: int) -> None:
        """Write a batch down: visits, pages as they are now, digests, marks."""
        visits, pages, touched, digests, marks, unmarked = [], [], [], [], [], []
        for item in visit_rows:
            visit, id_ = item.visit, self.next_visit_id
            self.next_visit_id += 1
            before = page_states.get(visit.id)
            changed = item.has_changed and not (before is not None and self.is_restored(visit, before))
            visits.append(
                (
                    id_,
                    visit.id,
                    visit.visited_at,
                    session,
                    str(visit.outcome),
                    str(visit.reason),
                    visit.status,
                    changed,
                    visit.digest,
                    visit.size,
                    visit.received_bytes,
                    visit.duration_seconds,
                    item.file_id,
                    item.offset,
                    item.length,
                    item.record_id,
                    item.payload_digest,
                )
            )
            if visit.outcome in (Outcome.FETCHED, Outcome.REDIRECT) and (item.has_changed or before is None):
                pages.append(self._build_page_row(item, before, id_, changed))
                if (
                    before is not None
                    and visit.outcome is Outcome.FETCHED
                    and not {"signature", "after"} & {*visit.fingerprints}
                ):
                    unmarked.append((visit.id,))  # it was compared with nothing, so the full mark is another version's
                marks += [
                    (visit.id, kind, value)
                    for kind, value in visit.fingerprints.items()
                    if kind not in TRANSIENT_FINGERPRINTS
                ]
                if visit.outcome is Outcome.FETCHED and item.identical_body is None and visit.digest and item.length:
                    digests.append((compute_digest_prefix(visit.digest), id_))
            elif before is not None and visit.outcome is not Outcome.RETRY:
                misses = before.miss_count + 1 if visit.outcome is Outcome.GONE else 0
                status = visit.status if visit.outcome is Outcome.FETCHED else before.status  # it may be back
                if visit.outcome not in PRESENT_OUTCOMES and misses >= MISSES_UNTIL_GONE:
                    status = STATUS_NOT_FOUND if 200 <= visit.status < 300 else visit.status
                validators = before.etag, before.last_modified  # of what we hold, not of a notice that it is gone
                if visit.outcome in PRESENT_OUTCOMES:
                    validators = visit.etag or before.etag, visit.last_modified or before.last_modified
                kept = (
                    NOINDEX_FROM_PAGE if visit.outcome is Outcome.FETCHED else NOINDEX_FROM_PAGE | NOINDEX_FROM_HEADER
                )  # a 304 may come without its headers
                touched.append(
                    (
                        visit.visited_at,
                        status,
                        *validators,
                        misses,
                        kept,
                        NOINDEX_FROM_HEADER * visit.header_noindex,
                        visit.id,
                    )
                )
        self.db.executemany(f"INSERT INTO visits VALUES ({', '.join('?' * 17)})", visits)
        self.db.executemany(UPSERT_PAGE, pages)
        self.db.executemany(
            "UPDATE pages SET last_visit = ?, status = ?, etag = ?, last_modified = ?, visits = visits + 1, misses = ?,"
            " noindex = (noindex & ?) | ? WHERE url = ?",
            touched,
        )
        self.db.executemany("INSERT INTO digests VALUES (?, ?) ON CONFLICT (prefix) DO NOTHING", digests)
        self.db.executemany("DELETE FROM marks WHERE url = ?", unmarked)
        self.store_fingerprints(marks)

    def _build_page_row(
        self, visit_row: VisitRow, previous_state: PageState | None, visit_id: int, has_changed: bool
    ) -> tuple[object, ...]:
        visit = visit_row.visit
        return (
            visit.id,
            visit.status,
            visit.mime,
            visit.charset,
            visit.title,
            visit.language,
            previous_state.first_seen if previous_state else visit.visited_at,
            visit.visited_at,
            previous_state.last_change if previous_state and not has_changed else visit.visited_at,
            visit.digest,
            visit.size,
            visit.etag,
            visit.last_modified,
            visit.canonical,
            NOINDEX_FROM_PAGE * visit.noindex | NOINDEX_FROM_HEADER * visit.header_noindex,
            visit.nofollow,
            visit_id,
            previous_state.visit_count + 1 if previous_state else 1,
            previous_state.change_count + has_changed if previous_state else 0,
            0,
            visit_row.identical_body.url_id if visit_row.identical_body else 0,
            visit.location,
            visit_row.link_count,
            visit_row.packed_links,
        )

    def upsert_file(self, file_name: str, committed_length: int) -> int:
        """Note how much of a WARC file counts, and give its id."""
        row = self.db.execute(
            "INSERT INTO files (name, committed) VALUES (?, ?)"
            " ON CONFLICT (name) DO UPDATE SET committed = excluded.committed RETURNING id",
            (file_name, committed_length),
        ).fetchone()
        return int(row[0])

    def load_committed_lengths(self) -> dict[str, int]:
        """How much of each WARC file counts."""
        return dict(self.db.execute("SELECT name, committed FROM files").fetchall())
