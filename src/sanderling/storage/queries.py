"""Query the page catalog: stored pages, skipped URLs, URL ids, and stored records."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from msgspec import Struct

from sanderling.db.connection import Connection, select_by_ids
from sanderling.errors import UsageError
from sanderling.models import Outcome, Reason, UrlState
from sanderling.storage.collection import StoredCollection
from sanderling.storage.page_history import COUNT_CHANGES_SQL, LAST_CHANGE_SQL
from sanderling.urls.normalize import normalize_url
from sanderling.warc.records import RecordLocation
from sanderling.warc.warc_reader import StoredRecord, read_record

SQL_CHUNK_SIZE = 400


class CatalogRow(Struct, frozen=True):
    url: str
    status: int
    mime: str
    title: str
    depth: int
    first_seen: float
    last_visit: float
    last_change: float
    digest: str
    body_bytes: int
    language: str
    etag: str
    last_modified: str
    canonical: str
    location: str
    link_count: int
    visit_count: int
    change_count: int
    duplicate_of: str
    source: str
    referrer: str
    url_id: int
    sitemap_lastmod: float  # from its sitemap or feed; 0: unknown
    sitemap_changefreq: str
    sitemap_priority: float  # -1: unknown


SELECT_PAGES = f"""
    SELECT h.name || u.path, p.status, p.mime, p.title, u.depth, p.first_seen, p.last_visit, {LAST_CHANGE_SQL},
           lower(hex(p.digest)), p.size, p.language, p.etag, p.last_modified, p.canonical, p.location, p.link_count,
           p.visits, {COUNT_CHANGES_SQL},
           coalesce((SELECT dh.name || du.path FROM urls AS du JOIN hosts AS dh ON dh.id = du.host
                     WHERE du.id = p.duplicate_of), ''),
           u.source,
           coalesce((SELECT vh.name || vu.path FROM urls AS vu JOIN hosts AS vh ON vh.id = vu.host
                     WHERE vu.id = u.via), ''),
           p.url, coalesce(t.lastmod, 0), coalesce(t.changefreq, ''), coalesce(t.priority, -1)
    FROM pages AS p JOIN urls AS u ON u.id = p.url JOIN hosts AS h ON h.id = u.host
    LEFT JOIN sitemap_hints AS t ON t.url = p.url
"""


def load_pages(db: Connection, where: str = "", values: Sequence[object] = (), limit: int = 0) -> Iterator[CatalogRow]:
    """Yield stored pages in order of discovery. `where`: SQL over p (pages), u (urls), h (hosts)."""
    condition = f"AND {where}" if where else ""
    sql = f"{SELECT_PAGES} WHERE u.role = 'page' {condition} ORDER BY p.url {f'LIMIT {limit}' if limit else ''}"
    for row in db.execute(sql, tuple(values)):
        yield CatalogRow(*row)


def find_pages_fetched_after(db: Connection, visit_id: int, limit: int) -> tuple[list[CatalogRow], int]:
    """Return the pages stored by the next `limit` visits after this one, and the last of these visits."""
    sql = "SELECT id, url, outcome FROM visits WHERE id > ? ORDER BY id LIMIT ?"
    visits = db.execute(sql, (visit_id, limit)).fetchall()
    url_ids = list(dict.fromkeys(url for _, url, outcome in visits if outcome == Outcome.FETCHED))
    if not url_ids:
        return [], visits[-1][0] if visits else visit_id
    count = next(size for size in (16, 128, limit) if size >= len(url_ids))  # few statements to prepare
    marks, padding = ",".join("?" * count), [0] * (count - len(url_ids))
    rows = {row.url_id: row for row in load_pages(db, f"p.url IN ({marks})", [*url_ids, *padding])}
    return [rows[url] for url in url_ids if url in rows], visits[-1][0]


def find_latest_pages(db: Connection, limit: int) -> list[int]:
    """Return the pages visited last, oldest first."""
    rows = db.execute("SELECT url FROM pages ORDER BY visit DESC LIMIT ?", (limit,)).fetchall()
    return [url for (url,) in reversed(rows)]


def find_pages_visited_after(db: Connection, visit_id: int, limit: int) -> tuple[list[int], int]:
    """Return the next pages whose last visit was after this one, and the last of these visits."""
    sql = "SELECT url, visit FROM pages WHERE visit > ? ORDER BY visit LIMIT ?"
    rows = db.execute(sql, (visit_id, limit)).fetchall()
    return [url for url, _ in rows], rows[-1][1] if rows else visit_id


class StructurePage(Struct, frozen=True):
    """A stored page as a sample of its template."""

    status: int
    mime: str
    title: str
    location: str
    host_id: int
    structure: bytes | None  # fingerprint; None: no page


def load_structure_page(db: Connection, url_id: int) -> StructurePage | None:
    row = db.execute(
        "SELECT p.status, p.mime, p.title, p.location, u.host, m.value FROM pages AS p JOIN urls AS u ON u.id = p.url"
        " LEFT JOIN fingerprints AS m ON m.url = p.url AND m.kind = 'structure' WHERE p.url = ?",
        (url_id,),
    ).fetchone()
    return StructurePage(*row) if row else None


def find_notice_pages(db: Connection) -> set[int]:
    """Return pages classified as a notice instead of content: outage, login, or CAPTCHA."""
    rows = db.execute("SELECT url FROM fingerprints WHERE kind = 'soft_error' AND value = ?", (b"outage",))
    return {url for (url,) in rows}


class LearnablePage(Struct, frozen=True):
    """What an ordering learns from a stored page."""

    url_id: int
    url: str
    packed_links: bytes
    source: str
    packed_relevance: bytes | None


def load_learnable_pages(db: Connection, after_visit: int, limit: int) -> list[LearnablePage]:
    """Return the last pages stored after a visit, oldest first."""
    rows = db.execute(
        "SELECT p.url, h.name || u.path, p.links, u.source, m.value FROM pages AS p JOIN urls AS u ON u.id = p.url"
        " JOIN hosts AS h ON h.id = u.host LEFT JOIN fingerprints AS m ON m.url = p.url AND m.kind = 'relevance'"
        " WHERE p.visit > ? AND u.role = 'page' ORDER BY p.visit DESC LIMIT ?",
        (after_visit, limit),
    ).fetchall()
    return [LearnablePage(*row) for row in reversed(rows)]


def load_shortest_intervals(db: Connection) -> dict[str, float]:
    """Load the shortest revisit interval of queued pages by host."""
    return dict(
        db.execute(
            "SELECT h.name, min(d.due_at - d.planned_at) FROM queue AS q JOIN due AS d ON d.url = q.url"
            " JOIN hosts AS h ON h.id = q.host WHERE d.planned_at > 0 GROUP BY h.name"
        ).fetchall()
    )


class RedirectHop(Struct, frozen=True):
    """A redirecting page."""

    id: int
    location: str
    fetched_at: float
    state: str


def load_redirect_hop(db: Connection, url_id: int) -> RedirectHop | None:
    """Return a stored page as a hop of a redirect chain; None: it is not stored."""
    row = db.execute(
        "SELECT u.id, p.location, p.last_visit, u.state FROM pages AS p JOIN urls AS u ON u.id = p.url WHERE u.id = ?",
        (url_id,),
    ).fetchone()
    return RedirectHop(*row) if row else None


class SkippedRow(Struct, frozen=True):
    """A URL that is not stored, and the reason."""

    url: str
    state: str
    reason: str
    detail: str
    depth: int
    source: str
    referrer: str
    found_at: float


# A host without a reachable robots.txt has failed; its URLs were not skipped.
URL_STATE_SQL = f"CASE u.reason WHEN '{Reason.ROBOTS_UNREACHABLE}' THEN '{UrlState.FAILED}' ELSE u.state END"


def load_skipped_urls(db: Connection, where: str = "", values: Sequence[object] = ()) -> Iterator[SkippedRow]:
    sql = f"""
        SELECT h.name || u.path, {URL_STATE_SQL}, u.reason, u.note, u.depth, u.source,
               coalesce((SELECT vh.name || vu.path FROM urls AS vu JOIN hosts AS vh ON vh.id = vu.host
                         WHERE vu.id = u.via), ''), u.found_at
        FROM urls AS u JOIN hosts AS h ON h.id = u.host
        WHERE u.state <> '{UrlState.VISITED}' AND u.role = 'page' {"AND " + where if where else ""} ORDER BY u.id
    """
    for row in db.execute(sql, tuple(values)):
        yield SkippedRow(*row)


def find_url_id(db: Connection, url: str) -> int:
    """Return the id of a URL, or 0 if it is unknown."""
    slash = url.index("/", 8)
    row = db.execute(
        "SELECT u.id FROM urls AS u JOIN hosts AS h ON h.id = u.host WHERE h.name = ? AND u.path = ?",
        (url[:slash], url[slash:]),
    ).fetchone()
    return int(row[0]) if row else 0


def load_urls(db: Connection, url_ids: Sequence[int]) -> dict[int, str]:
    """Return URLs by id, also of other shards."""
    sql = "SELECT u.id, h.name || u.path FROM urls AS u JOIN hosts AS h ON h.id = u.host WHERE u.id"
    found = _load_by_id(db, sql, url_ids)
    missing = [id_ for id_ in url_ids if id_ not in found]
    return found | _load_by_id(db, "SELECT id, url FROM foreign_urls WHERE id", missing) if missing else found


def find_gone_pages_before(db: Connection, url_ids: Sequence[int], before: float) -> list[int]:
    """Return the pages that are gone and were not visited since a time."""
    sql = "SELECT u.id FROM urls AS u JOIN pages AS p ON p.url = u.id WHERE u.state = 'gone' AND u.id IN ({})"
    gone = [row[0] for row in select_by_ids(db, sql, url_ids)]
    visited = dict(select_by_ids(db, "SELECT url, last_visit FROM pages WHERE url IN ({})", gone))
    return [url_id for url_id in gone if visited.get(url_id, 0.0) < before]


def load_titles(db: Connection, url_ids: Sequence[int]) -> dict[int, str]:
    return _load_by_id(db, "SELECT url, title FROM pages WHERE url", url_ids)


def load_originals(db: Connection, url_ids: Sequence[int]) -> dict[int, str]:
    """Return the original URL of copies, by identical body or canonical link."""
    canonical_urls = _load_by_id(db, "SELECT url, canonical FROM pages WHERE canonical != '' AND url", url_ids)
    duplicates = _load_by_id(
        db,
        "SELECT p.url, h.name || u.path FROM pages AS p JOIN urls AS u ON u.id = p.duplicate_of"
        " JOIN hosts AS h ON h.id = u.host WHERE p.url",
        url_ids,
    )
    return canonical_urls | duplicates


def load_sketches(db: Connection, original_id: int, copy_id: int) -> tuple[bytes, bytes] | None:
    """Return the minhashes of an indexable page without another canonical URL, and of its copy."""
    row = db.execute(
        "SELECT a.value, b.value FROM pages AS p JOIN urls AS u ON u.id = p.url JOIN hosts AS h ON h.id = u.host"
        " JOIN fingerprints AS a ON a.url = p.url AND a.kind = 'minhash'"
        " JOIN fingerprints AS b ON b.url = ? AND b.kind = 'minhash'"
        " WHERE p.url = ? AND p.noindex = 0 AND p.misses = 0 AND p.status BETWEEN 200 AND 299"
        " AND p.canonical IN ('', h.name || u.path)",
        (copy_id, original_id),
    ).fetchone()
    return (row[0], row[1]) if row else None


def _load_by_id(db: Connection, sql: str, url_ids: Sequence[int]) -> dict[int, str]:
    values: dict[int, str] = {}
    for start in range(0, len(url_ids), SQL_CHUNK_SIZE):
        part = list(url_ids[start : start + SQL_CHUNK_SIZE])
        values.update(db.execute(f"{sql} IN ({','.join('?' * len(part))})", part).fetchall())
    return values


def resolve_known_url(collection: StoredCollection, text: str) -> tuple[int, str]:
    """Return id and key of a URL typed by a user. Without a scheme, https is tried before http."""
    candidates = [text] if "://" in text else [f"https://{text}", f"http://{text}"]
    keys = [normalized.url for candidate in candidates if (normalized := normalize_url(candidate)) is not None]
    if not keys:
        raise UsageError(f"{text!r} is not an http or https URL")
    for key in keys:
        if id_ := find_url_id(collection.db, key):
            return id_, key
    raise UsageError(f"{keys[0]} is not in {collection.folder}; list its pages with: sanderling pages")


STORED_VISITS_SQL = """
    FROM visits AS v JOIN files AS f ON f.id = v.file
    WHERE v.url = ? AND v.length > 0 AND v.outcome IN ('fetched', 'redirect')
"""  # a 304 need not repeat type and charset


def load_stored_record(
    collection: StoredCollection, url_id: int, url_key: str, max_time: float | None = None
) -> StoredRecord:
    """Read the last stored response of a URL, optionally not after `max_time`."""
    row = collection.db.execute(
        f"SELECT f.name, v.start, v.length {STORED_VISITS_SQL} AND v.at <= ? ORDER BY v.at DESC, v.id DESC LIMIT 1",
        (url_id, max_time if max_time is not None else 1e18),
    ).fetchone()
    if row is None:
        raise UsageError(f"no response is stored for {url_key}{_explain_missing_record(collection, url_id)}")
    return read_record(collection.archive_folder, RecordLocation(*row))


def _explain_missing_record(collection: StoredCollection, url_id: int) -> str:
    (first,) = collection.db.execute(f"SELECT min(v.at) {STORED_VISITS_SQL}", (url_id,)).fetchone()
    if first is not None:
        return f" at that time: it was first seen at {datetime.fromtimestamp(first, UTC):%Y-%m-%d %H:%M:%S} UTC"
    state, reason = collection.db.execute("SELECT state, reason FROM urls WHERE id = ?", (url_id,)).fetchone()
    return f": it is {state}{f' ({reason})' if reason else ''}"
