"""The catalogue: one row per page as it is now, one per visit as it was; read by every command that shows something."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from sanderling.db.connection import Connection, rows_of
from sanderling.http.content_type import HTML_TYPES, UNKNOWN_TYPES
from sanderling.models import Outcome, Reason, Visit

CHUNK = 400
PASSING = ("before", "after")  # marks that are compared when a page comes, and not kept
OWN, BARRED = 1, 2  # who says noindex: the page, a header
LOOKS = 2  # a stored page is gone when it was missing this many times in a row
NOT_THERE = 404  # of a page that says so, with whatever status
STILL_THERE = (Outcome.NOT_MODIFIED, Outcome.FETCHED)


class Latest(Struct, frozen=True):
    """What we hold of a page before this visit."""

    url: int
    status: int
    charset: str
    digest: bytes
    etag: str
    last_modified: str
    first_seen: float
    last_visit: float
    last_change: float
    visits: int
    changes: int
    misses: int
    size: int
    visit: int
    links: bytes
    duplicate_of: int = 0
    mime: str = ""

    @property
    def is_there(self) -> bool:
        """Was the page there when it was last looked for?"""
        return 200 <= self.status < 300

    @property
    def was_page(self) -> bool:
        """May its last version have been read as a page? One that came without a type may."""
        return self.mime in HTML_TYPES or self.mime in UNKNOWN_TYPES

    @property
    def is_away(self) -> bool:
        """Did the page go away, so that what we hold is what it was before?"""
        return self.status >= 400 and bool(self.digest)


class Twin(Struct, frozen=True):
    """A stored body with the same digest, and where it lies."""

    visit: int
    url: int
    at: float
    record: str
    payload: str
    wire: str
    file: str
    start: int
    length: int


class Filed(Struct, frozen=True):
    """A visit with where its record went and what became of the page."""

    visit: Visit
    changed: bool
    file: int = 0
    start: int = 0
    length: int = 0
    record: str = ""
    payload: str = ""
    twin: Twin | None = None
    links: bytes = b""
    link_count: int = 0


COLUMNS = (
    "url", "status", "mime", "charset", "title", "language", "first_seen", "last_visit", "last_change", "digest",
    "size", "etag", "last_modified", "canonical", "noindex", "nofollow", "visit", "visits", "changes", "misses",
    "duplicate_of", "location", "link_count", "links",
)  # fmt: skip
UPSERT_PAGE = (
    f"INSERT INTO pages ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"
    f" ON CONFLICT (url) DO UPDATE SET {', '.join(f'{c} = excluded.{c}' for c in COLUMNS[1:])}"
)


TWIN = """
    v.id, v.url, v.at, v.record, v.payload, CASE u.wire WHEN '' THEN h.name || u.path ELSE u.wire END,
    f.name, v.start, v.length
    FROM visits AS v JOIN urls AS u ON u.id = v.url JOIN hosts AS h ON h.id = u.host JOIN files AS f ON f.id = v.file
"""


LATEST = (
    "SELECT url, status, charset, digest, etag, last_modified, first_seen, last_visit, last_change, visits, changes,"
    " misses, size, visit, links, duplicate_of, mime FROM pages WHERE url IN ({})"
)
TWINS = f"SELECT d.prefix, v.digest, {TWIN} JOIN digests AS d ON d.visit = v.id WHERE d.prefix IN ({{}})"


def prefix(digest: bytes) -> int:
    """The first 63 bits of a digest: enough to find a twin, never to prove it."""
    return int.from_bytes(digest[:8], "big") >> 1


class Catalogue:
    """Writes and reads pages and visits."""

    def __init__(self, db: Connection) -> None:
        self.db = db
        self.next_visit = 1 + int(db.execute("SELECT coalesce(max(id), 0) FROM visits").fetchone()[0])

    def latest(self, urls: Sequence[int]) -> dict[int, Latest]:
        """What is held of these pages."""
        return {row[0]: Latest(*row) for row in rows_of(self.db, LATEST, urls)}

    def twins(self, digests: Sequence[bytes]) -> dict[bytes, Twin]:
        """Stored bodies with one of these digests; the first that was stored."""
        wanted = {prefix(digest): digest for digest in digests}
        rows = rows_of(self.db, TWINS, list(wanted))
        return {row[1]: Twin(*row[2:]) for row in rows if wanted[row[0]] == row[1]}

    def marks(self, urls: Sequence[int], kind: str) -> dict[int, bytes]:
        """A mark of the last versions of some pages; those without one are left out."""
        found: dict[int, bytes] = {}
        for start in range(0, len(urls), CHUNK):
            part = urls[start : start + CHUNK]
            places = ",".join("?" * len(part))
            rows = self.db.execute(
                f"SELECT url, value FROM marks WHERE kind = ? AND url IN ({places})", (kind, *part)
            ).fetchall()
            found.update(rows)
        return found

    def mark(self, url: int, kind: str) -> bytes:
        """A mark of the last version of a page; empty if it has none."""
        row = self.db.execute("SELECT value FROM marks WHERE url = ? AND kind = ?", (url, kind)).fetchone()
        return row[0] if row else b""

    def body_places(self, visits: Sequence[int]) -> dict[int, tuple[str, int, int]]:
        """Where the records of some visits lie; those without one are left out."""
        found: dict[int, tuple[str, int, int]] = {}
        for start in range(0, len(visits), CHUNK):
            part = visits[start : start + CHUNK]
            rows = self.db.execute(
                "SELECT v.id, f.name, v.start, v.length FROM visits AS v JOIN files AS f ON f.id = v.file"
                f" WHERE v.id IN ({','.join('?' * len(part))})",
                part,
            )
            found.update({id_: (name, first, length) for id_, name, first, length in rows})
        return found

    def body_place(self, visit: int) -> tuple[str, int, int] | None:
        """Where the record of one visit lies."""
        return self.body_places([visit]).get(visit)

    def is_restored(self, visit: Visit, old: Latest) -> bool:
        """Is this the body of the last version, whose record was lost and whose digest was therefore forgotten?"""
        if old.digest or not visit.digest:
            return False
        row = self.db.execute("SELECT digest FROM visits WHERE id = ?", (old.visit,)).fetchone()
        return row is not None and row[0] == visit.digest

    def miss(self, urls: Sequence[int]) -> None:
        """Their site says that these are no more: that counts as one look, and the next decides."""
        self.db.executemany(
            "UPDATE pages SET misses = ? WHERE url = ? AND misses < ?", [(LOOKS - 1, url, LOOKS - 1) for url in urls]
        )

    def remove(self, urls: Sequence[int], session: int, now: float) -> None:
        """These pages leave the collection; a visit says so, and what the archive holds of them stays there."""
        self.note_absence(urls, session, now, Reason.EVICTED)
        gone = [(url,) for url in urls]
        bodies = [(prefix(old.digest), old.visit) for old in self.latest(urls).values() if old.digest]
        self.db.executemany("DELETE FROM digests WHERE prefix = ? AND visit = ?", bodies)
        for start in range(0, len(urls), CHUNK):
            part = urls[start : start + CHUNK]
            marks = ",".join("?" * len(part))
            self.db.execute(f"UPDATE pages SET duplicate_of = 0 WHERE duplicate_of IN ({marks})", part)
        self.db.executemany("DELETE FROM marks WHERE url = ?", gone)
        self.db.executemany("DELETE FROM pages WHERE url = ?", gone)

    def note_absence(self, urls: Sequence[int], session: int, now: float, why: Reason) -> None:
        """A visit that was none says that these pages are no longer held; the full-text index hears of it so."""
        rows = []
        for url in urls:
            rows.append(
                (self.next_visit, url, now, session, str(Outcome.SKIPPED), str(why), 0, 0, b"", *[0] * 6, "", "")
            )
            self.next_visit += 1
        self.db.executemany(f"INSERT INTO visits VALUES ({', '.join('?' * 17)})", rows)

    def point(self, digest: bytes, visit: int) -> None:
        """A body is held by the record of this visit from now on."""
        self.db.execute(
            "INSERT INTO digests VALUES (?, ?) ON CONFLICT (prefix) DO UPDATE SET visit = excluded.visit",
            (prefix(digest), visit),
        )

    def mark_all(self, marks: Iterable[tuple[int, str, bytes]]) -> None:
        """Keep what pages are compared by: URL id, kind, value."""
        self.db.executemany(
            "INSERT INTO marks VALUES (?, ?, ?) ON CONFLICT (url, kind) DO UPDATE SET value = excluded.value", marks
        )

    def file(self, filed: Sequence[Filed], latest: Mapping[int, Latest], session: int) -> None:
        """Write a batch down: visits, pages as they are now, digests, marks."""
        visits, pages, touched, digests, marks, unmarked = [], [], [], [], [], []
        for item in filed:
            visit, id_ = item.visit, self.next_visit
            self.next_visit += 1
            before = latest.get(visit.id)
            changed = item.changed and not (before is not None and self.is_restored(visit, before))
            visits.append(
                (id_, visit.id, visit.at, session, str(visit.outcome), str(visit.reason), visit.status, changed,
                 visit.digest, visit.size, visit.wire_bytes, visit.seconds, item.file, item.start, item.length,
                 item.record, item.payload)
            )  # fmt: skip
            if visit.outcome in (Outcome.FETCHED, Outcome.REDIRECT) and (item.changed or before is None):
                pages.append(self._page(item, before, id_, changed))
                if (
                    before is not None
                    and visit.outcome is Outcome.FETCHED
                    and not {"signature", "after"} & {*visit.marks}
                ):
                    unmarked.append((visit.id,))  # it was compared with nothing, so the full mark is another version's
                marks += [(visit.id, kind, value) for kind, value in visit.marks.items() if kind not in PASSING]
                if visit.outcome is Outcome.FETCHED and item.twin is None and visit.digest and item.length:
                    digests.append((prefix(visit.digest), id_))
            elif before is not None and visit.outcome is not Outcome.RETRY:
                misses = before.misses + 1 if visit.outcome is Outcome.GONE else 0
                status = visit.status if visit.outcome is Outcome.FETCHED else before.status  # it may be back
                if visit.outcome not in STILL_THERE and misses >= LOOKS:
                    status = NOT_THERE if 200 <= visit.status < 300 else visit.status
                validators = before.etag, before.last_modified  # of what we hold, not of a notice that it is gone
                if visit.outcome in STILL_THERE:
                    validators = visit.etag or before.etag, visit.last_modified or before.last_modified
                kept = OWN if visit.outcome is Outcome.FETCHED else OWN | BARRED  # a 304 may come without its headers
                touched.append((visit.at, status, *validators, misses, kept, BARRED * visit.barred, visit.id))
        self.db.executemany(f"INSERT INTO visits VALUES ({', '.join('?' * 17)})", visits)
        self.db.executemany(UPSERT_PAGE, pages)
        self.db.executemany(
            "UPDATE pages SET last_visit = ?, status = ?, etag = ?, last_modified = ?, visits = visits + 1, misses = ?,"
            " noindex = (noindex & ?) | ? WHERE url = ?",
            touched,
        )
        self.db.executemany("INSERT INTO digests VALUES (?, ?) ON CONFLICT (prefix) DO NOTHING", digests)
        self.db.executemany("DELETE FROM marks WHERE url = ?", unmarked)
        self.mark_all(marks)

    def _page(self, item: Filed, before: Latest | None, id_: int, changed: bool) -> tuple[object, ...]:
        visit = item.visit
        return (
            visit.id, visit.status, visit.mime, visit.charset, visit.title, visit.language,
            before.first_seen if before else visit.at, visit.at,
            before.last_change if before and not changed else visit.at, visit.digest, visit.size, visit.etag,
            visit.last_modified, visit.canonical, OWN * visit.noindex | BARRED * visit.barred, visit.nofollow, id_,
            before.visits + 1 if before else 1, before.changes + changed if before else 0, 0,
            item.twin.url if item.twin else 0, visit.location, item.link_count, item.links,
        )  # fmt: skip

    def file_id(self, name: str, committed: int) -> int:
        """Note how much of a WARC file counts, and give its id."""
        row = self.db.execute(
            "INSERT INTO files (name, committed) VALUES (?, ?)"
            " ON CONFLICT (name) DO UPDATE SET committed = excluded.committed RETURNING id",
            (name, committed),
        ).fetchone()
        return int(row[0])

    def committed(self) -> dict[str, int]:
        """How much of each WARC file counts."""
        return dict(self.db.execute("SELECT name, committed FROM files").fetchall())
