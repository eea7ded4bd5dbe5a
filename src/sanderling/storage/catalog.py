"""Store the current state of every page and a row for every visit."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sanderling.db.connection import Connection, select_by_ids
from sanderling.db.id_range import ALL_IDS, IdRange, find_next_id
from sanderling.http.content_type import HTML_TYPES, UNKNOWN_TYPES
from sanderling.models import Outcome, Reason, Visit

SQL_CHUNK_SIZE = 400
NOINDEX_FROM_PAGE, NOINDEX_FROM_HEADER = 1, 2  # bits of `noindex`: robots meta tag, X-Robots-Tag
MISSES_UNTIL_GONE = 2  # consecutive misses after which a stored page counts as gone
STATUS_NOT_FOUND = 404  # stored for soft 404s too
PRESENT_OUTCOMES = (Outcome.NOT_MODIFIED, Outcome.FETCHED)


class PageState(Struct, frozen=True):
    """The stored state of a page before this visit."""

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
        """Return whether the last visit found the page."""
        return 200 <= self.status < 300

    @property
    def was_html(self) -> bool:
        """Return whether the last version was HTML. A missing type counts as HTML."""
        return self.mime in HTML_TYPES or self.mime in UNKNOWN_TYPES

    @property
    def is_gone(self) -> bool:
        """Return whether the page is gone and only its last version is stored."""
        return self.status >= 400 and bool(self.digest)


class IdenticalBody(Struct, frozen=True):
    """A stored body with the same digest, and its location."""

    visit_id: int
    url_id: int
    fetched_at: float
    record_id: str
    payload_digest: str
    request_url: str
    file: str
    offset: int
    length: int
    archive: str = ""  # name of the archive of another collection; empty: of this one
    is_sibling: bool = False  # of another shard of the same set


class VisitRow(Struct, frozen=True):
    """A visit as written to the database, with its record location."""

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
    v.id, v.url, v.at, v.record, v.payload, CASE u.request_url WHEN '' THEN h.name || u.path ELSE u.request_url END,
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
    """Return the first 63 bits of a digest. Candidates must be compared by the full digest."""
    return int.from_bytes(digest[:8], "big") >> 1


class PageCatalog:
    """Read and write pages and visits."""

    def __init__(self, db: Connection, id_range: IdRange = ALL_IDS) -> None:
        self.db = db
        self.id_range = id_range  # of visits and files
        self.next_visit_id = find_next_id(db, "visits", id_range)
        self.others: Mapping[str, PageCatalog] = {}  # catalogs of other collections that share bodies, by name

    def load_page_states(self, url_ids: Sequence[int]) -> dict[int, PageState]:
        return {row[0]: PageState(*row) for row in select_by_ids(self.db, SELECT_PAGE_STATES, url_ids)}

    def find_stored(self, url_ids: Sequence[int]) -> set[int]:
        """Return those of these URLs that are stored as a page."""
        return {url for (url,) in select_by_ids(self.db, "SELECT url FROM pages WHERE url IN ({})", url_ids)}

    def find_identical_bodies(self, digests: Sequence[bytes]) -> dict[bytes, IdenticalBody]:
        """Return the first stored body for each of these digests."""
        digests_by_prefix = {compute_digest_prefix(digest): digest for digest in digests}
        rows = select_by_ids(self.db, SELECT_IDENTICAL_BODIES, list(digests_by_prefix))
        found = {row[1]: IdenticalBody(*row[2:]) for row in rows if digests_by_prefix[row[0]] == row[1]}
        for name, other in self.others.items():
            shared = other.find_identical_bodies([digest for digest in digests if digest not in found]).items()
            found |= {digest: replace(body, archive=body.archive or name) for digest, body in shared}
        return found

    def load_fingerprints(self, url_ids: Sequence[int], kind: str) -> dict[int, bytes]:
        """Return fingerprints by URL id, for pages that have this kind."""
        found: dict[int, bytes] = {}
        for start in range(0, len(url_ids), SQL_CHUNK_SIZE):
            part = url_ids[start : start + SQL_CHUNK_SIZE]
            sql = f"SELECT url, value FROM fingerprints WHERE kind = ? AND url IN ({','.join('?' * len(part))})"
            found.update(self.db.execute(sql, (kind, *part)).fetchall())
        return found

    def load_fingerprint(self, url_id: int, kind: str) -> bytes:
        """Return a fingerprint of a page, or empty bytes."""
        row = self.db.execute("SELECT value FROM fingerprints WHERE url = ? AND kind = ?", (url_id, kind)).fetchone()
        return row[0] if row else b""

    def find_body_locations(self, visit_ids: Sequence[int]) -> dict[int, tuple[str, int, int]]:
        """Return file, offset, and length by visit id, for visits with a record."""
        sql = "SELECT v.id, name, start, length FROM visits AS v JOIN files AS f ON f.id = v.file WHERE v.id IN ({})"
        return {row[0]: (row[1], row[2], row[3]) for row in select_by_ids(self.db, sql, visit_ids)}

    def find_body_location(self, visit_id: int) -> tuple[str, int, int] | None:
        return self.find_body_locations([visit_id]).get(visit_id)

    def is_restored(self, visit: Visit, previous_state: PageState) -> bool:
        """Return whether this is the last version again, after its lost record had reset the digest."""
        if previous_state.digest or not visit.digest:
            return False
        row = self.db.execute("SELECT digest FROM visits WHERE id = ?", (previous_state.visit_id,)).fetchone()
        return row is not None and row[0] == visit.digest

    def record_missing(self, url_ids: Sequence[int]) -> None:
        """Count a removal announced by the site as a miss: the next miss marks the page gone."""
        self.db.executemany(
            "UPDATE pages SET misses = ? WHERE url = ? AND misses < ?",
            [(MISSES_UNTIL_GONE - 1, url, MISSES_UNTIL_GONE - 1) for url in url_ids],
        )

    def remove_pages(self, url_ids: Sequence[int], session: int, now: float) -> None:
        """Remove pages from the catalog and record a visit with the reason. The archive is unchanged."""
        self.record_removal(url_ids, session, now, Reason.EVICTED)
        keys = [(url,) for url in url_ids]
        states = self.load_page_states(url_ids).values()
        bodies = [(compute_digest_prefix(state.digest), state.visit_id) for state in states if state.digest]
        self.db.executemany("DELETE FROM digests WHERE prefix = ? AND visit = ?", bodies)
        for start in range(0, len(url_ids), SQL_CHUNK_SIZE):
            part = url_ids[start : start + SQL_CHUNK_SIZE]
            sql = f"UPDATE pages SET duplicate_of = 0 WHERE duplicate_of IN ({','.join('?' * len(part))})"
            self.db.execute(sql, part)
        self.db.executemany("DELETE FROM fingerprints WHERE url = ?", keys)
        self.db.executemany("DELETE FROM pages WHERE url = ?", keys)

    def record_removal(self, url_ids: Sequence[int], session: int, now: float, reason: Reason) -> None:
        """Record a skipped visit for removed pages, so that the search index drops them."""
        rows = []
        for url in url_ids:
            rows.append(
                (self.next_visit_id, url, now, session, str(Outcome.SKIPPED), str(reason), 0, 0, b"", *[0] * 6, "", "")
            )
            self.next_visit_id += 1
        self.db.executemany(f"INSERT INTO visits VALUES ({', '.join('?' * 17)})", rows)

    def set_body_record(self, digest: bytes, visit_id: int) -> None:
        """Set the visit whose record stores a body."""
        self.db.execute(
            "INSERT INTO digests VALUES (?, ?) ON CONFLICT (prefix) DO UPDATE SET visit = excluded.visit",
            (compute_digest_prefix(digest), visit_id),
        )

    def store_fingerprints(self, fingerprints: Iterable[tuple[int, str, bytes]]) -> None:
        """Store fingerprints given as (URL id, kind, value)."""
        self.db.executemany(
            "INSERT INTO fingerprints VALUES (?, ?, ?) ON CONFLICT (url, kind) DO UPDATE SET value = excluded.value",
            fingerprints,
        )

    def write_visits(self, visit_rows: Sequence[VisitRow], page_states: Mapping[int, PageState], session: int) -> None:
        """Write a batch: visits, page states, digests, and fingerprints."""
        visits, pages, updates, digests, fingerprints, stale_fingerprints = [], [], [], [], [], []
        for row in visit_rows:
            visit, visit_id = row.visit, self.next_visit_id
            self.next_visit_id += 1
            previous_state = page_states.get(visit.id)
            changed = row.has_changed and not (previous_state is not None and self.is_restored(visit, previous_state))
            visits.append((
                visit_id, visit.id, visit.visited_at, session, str(visit.outcome), str(visit.reason), visit.status,
                changed, visit.digest, visit.size, visit.received_bytes, visit.duration_seconds, row.file_id,
                row.offset, row.length, row.record_id, row.payload_digest,
            ))  # fmt: skip
            if visit.outcome in (Outcome.FETCHED, Outcome.REDIRECT) and (row.has_changed or previous_state is None):
                pages.append(_build_page_row(row, previous_state, visit_id, changed))
                is_fetched_again = previous_state is not None and visit.outcome is Outcome.FETCHED
                if is_fetched_again and not visit.fingerprints.is_comparison:
                    stale_fingerprints.append((visit.id,))  # they belong to another version
                fingerprints += [(visit.id, kind, value) for kind, value in visit.fingerprints.list_stored()]
                if visit.outcome is Outcome.FETCHED and row.identical_body is None and visit.digest and row.length:
                    digests.append((compute_digest_prefix(visit.digest), visit_id))
            elif previous_state is not None and visit.outcome is not Outcome.RETRY:
                updates.append(_build_page_update(visit, previous_state))
        self.db.executemany(f"INSERT INTO visits VALUES ({', '.join('?' * 17)})", visits)
        self.db.executemany(UPSERT_PAGE, pages)
        self.db.executemany(
            "UPDATE pages SET last_visit = ?, status = ?, etag = ?, last_modified = ?, visits = visits + 1, misses = ?,"
            " noindex = (noindex & ?) | ? WHERE url = ?",
            updates,
        )
        self.db.executemany("INSERT INTO digests VALUES (?, ?) ON CONFLICT (prefix) DO NOTHING", digests)
        self.db.executemany("DELETE FROM fingerprints WHERE url = ?", stale_fingerprints)
        self.store_fingerprints(fingerprints)

    def upsert_file(self, file_name: str, committed_length: int) -> int:
        """Set the committed length of a WARC file. Returns its id."""
        row = self.db.execute(
            "INSERT INTO files (id, name, committed) VALUES (?, ?, ?)"
            " ON CONFLICT (name) DO UPDATE SET committed = excluded.committed RETURNING id",
            (find_next_id(self.db, "files", self.id_range), file_name, committed_length),
        ).fetchone()
        return int(row[0])

    def load_committed_lengths(self) -> dict[str, int]:
        return dict(self.db.execute("SELECT name, committed FROM files").fetchall())


def _build_page_row(
    visit_row: VisitRow, previous_state: PageState | None, visit_id: int, has_changed: bool
) -> tuple[object, ...]:
    visit = visit_row.visit
    return (
        visit.id, visit.status, visit.mime, visit.charset, visit.title, visit.language,
        previous_state.first_seen if previous_state else visit.visited_at,
        visit.visited_at,
        previous_state.last_change if previous_state and not has_changed else visit.visited_at,
        visit.digest, visit.size, visit.etag, visit.last_modified, visit.canonical,
        NOINDEX_FROM_PAGE * visit.noindex | NOINDEX_FROM_HEADER * visit.header_noindex,
        visit.nofollow, visit_id,
        previous_state.visit_count + 1 if previous_state else 1,
        previous_state.change_count + has_changed if previous_state else 0,
        0,
        visit_row.identical_body.url_id if visit_row.identical_body else 0,
        visit.location, visit_row.link_count, visit_row.packed_links,
    )  # fmt: skip


def _build_page_update(visit: Visit, previous_state: PageState) -> tuple[object, ...]:
    """Build the update of a page whose stored version stays the same."""
    misses = previous_state.miss_count + 1 if visit.outcome is Outcome.GONE else 0
    status = visit.status if visit.outcome is Outcome.FETCHED else previous_state.status  # a gone page may be back
    if visit.outcome not in PRESENT_OUTCOMES and misses >= MISSES_UNTIL_GONE:
        status = STATUS_NOT_FOUND if 200 <= visit.status < 300 else visit.status
    etag, last_modified = previous_state.etag, previous_state.last_modified  # not those of an error page
    if visit.outcome in PRESENT_OUTCOMES:
        etag, last_modified = visit.etag or etag, visit.last_modified or last_modified
    kept_noindex = NOINDEX_FROM_PAGE
    if visit.outcome is not Outcome.FETCHED:
        kept_noindex |= NOINDEX_FROM_HEADER  # a 304 may omit X-Robots-Tag
    header_noindex = NOINDEX_FROM_HEADER * visit.header_noindex
    return visit.visited_at, status, etag, last_modified, misses, kept_noindex, header_noindex, visit.id
