"""Counts and lists over a whole collection. Like `queries`, these functions read the tables of every package."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from sanderling.db.connection import Connection, select_by_ids
from sanderling.models import Outcome, Reason, UrlRole, UrlState
from sanderling.storage.queries import URL_STATE_SQL, find_url_id, load_urls
from sanderling.urls.dust import DustSample
from sanderling.warc.records import RecordLocation

MAX_LISTED_HOSTS = 20
MAX_MISSING_REQUISITES = 20  # listed
IS_PRESENT = "p.status BETWEEN 200 AND 299 AND u.role = 'page'"


class CollectionTotals(Struct, frozen=True):
    """Size of a collection."""

    pages: int
    page_bytes: int
    archive_bytes: int
    hosts: int
    urls: dict[str, int]  # by state
    out_of_scope: int


class HostDelay(Struct, frozen=True):
    """A host that is not requested before a time."""

    host: str
    reason: str
    until: float
    waiting: int


class RateLimitedHost(Struct, frozen=True):
    """A host that returned 429 or 503, with the learned crawl delay."""

    host: str
    count: int
    last_at: float
    delay: float


def load_totals(db: Connection) -> CollectionTotals:
    pages, size = db.execute(
        f"SELECT count(*), coalesce(sum(p.size), 0) FROM pages AS p JOIN urls AS u ON u.id = p.url WHERE {IS_PRESENT}"
    ).fetchone()
    (archived,) = db.execute("SELECT coalesce(sum(committed), 0) FROM files").fetchone()
    (hosts,) = db.execute("SELECT count(DISTINCT host) FROM urls WHERE state = ?", (UrlState.VISITED,)).fetchone()
    states = dict(db.execute("SELECT state, count(*) FROM urls WHERE role = 'page' GROUP BY state").fetchall())
    (out_of_scope,) = db.execute(
        "SELECT count(*) FROM urls WHERE state = ? AND role = 'page' AND reason = ?",
        (UrlState.SKIPPED, Reason.OUT_OF_SCOPE),
    ).fetchone()
    return CollectionTotals(pages, size, archived, hosts, states, out_of_scope)


def has_pages(db: Connection) -> bool:
    return db.execute("SELECT 1 FROM pages LIMIT 1").fetchone() is not None


def has_schedule(db: Connection) -> bool:
    """Return whether any page has a planned visit."""
    return db.execute("SELECT 1 FROM due LIMIT 1").fetchone() is not None


def get_last_visit_id(db: Connection) -> int:
    return int(db.execute("SELECT coalesce(max(id), 0) FROM visits").fetchone()[0])


def get_next_visit_id(db: Connection, after: int) -> int:
    """Return the first visit after this one, or 0."""
    return int(db.execute("SELECT coalesce(min(id), 0) FROM visits WHERE id > ?", (after,)).fetchone()[0])


def count_visits_after(db: Connection, after: int) -> int:
    return int(db.execute("SELECT count(*) FROM visits WHERE id > ?", (after,)).fetchone()[0])


def count_session_pages(db: Connection, session: int) -> int:
    """Count pages fetched in this session by earlier runs."""
    sql = (
        "SELECT count(*) FROM visits JOIN urls ON urls.id = visits.url"
        " WHERE session = ? AND outcome IN (?, ?) AND role = 'page'"
    )
    return int(db.execute(sql, (session, Outcome.FETCHED, Outcome.NOT_MODIFIED)).fetchone()[0])


def count_pages(db: Connection) -> int:
    """Count pages whose last visit found them."""
    sql = (
        "SELECT count(*) FROM pages JOIN urls ON urls.id = pages.url WHERE status BETWEEN 200 AND 299 AND role = 'page'"
    )
    return int(db.execute(sql).fetchone()[0])


def count_skipped(db: Connection) -> dict[str, int]:
    """Count skipped pages by reason."""
    sql = "SELECT reason, count(*) FROM urls WHERE state = ? AND role = 'page' GROUP BY reason"
    return dict(db.execute(sql, (UrlState.SKIPPED,)).fetchall())


def count_reasons(db: Connection, state: UrlState) -> dict[str, int]:
    """Count pages in a state by reason, most frequent first, without links to other sites."""
    sql = (
        f"SELECT u.reason, count(*) FROM urls AS u WHERE {URL_STATE_SQL} = ? AND u.role = 'page' AND u.reason <> ?"
        " GROUP BY u.reason ORDER BY 2 DESC"
    )
    return dict(db.execute(sql, (state, Reason.OUT_OF_SCOPE)).fetchall())


class RequisiteReport(Struct, frozen=True):
    """How many of the page requisites that were found are stored."""

    found: int
    stored: int
    missing: tuple[tuple[str, str], ...] = ()  # URL and reason of the first ones


def report_requisites(db: Connection) -> RequisiteReport:
    """Count page requisites. An icon that no page names, and its host does not have, is not missing."""
    counted = "role = 'resource' AND NOT (state = 'gone' AND path = '/favicon.ico')"
    states = dict(db.execute(f"SELECT state, count(*) FROM urls WHERE {counted} GROUP BY state").fetchall())
    missing = db.execute(
        "SELECT h.name || u.path, CASE u.reason WHEN '' THEN u.state ELSE u.reason END FROM urls AS u"
        f" JOIN hosts AS h ON h.id = u.host WHERE {counted} AND state <> ? ORDER BY u.id LIMIT ?",
        (UrlState.VISITED, MAX_MISSING_REQUISITES),
    ).fetchall()
    return RequisiteReport(sum(states.values()), states.get(UrlState.VISITED, 0), tuple(missing))


def count_pages_by_host(db: Connection) -> list[tuple[str, int]]:
    """Return hosts with their number of present pages, largest first."""
    return db.execute(
        "SELECT h.name, count(*) FROM pages AS p JOIN urls AS u ON u.id = p.url JOIN hosts AS h ON h.id = u.host"
        f" WHERE {IS_PRESENT} GROUP BY h.name ORDER BY 2 DESC"
    ).fetchall()


def count_changes(db: Connection, since: float) -> tuple[int, int, int]:
    """Count changed pages, significant changes, and significant changes since a time."""
    pages, changes, recent = db.execute(
        "SELECT count(DISTINCT url), count(*), coalesce(sum(CASE WHEN at > ? THEN 1 ELSE 0 END), 0)"
        " FROM changes WHERE kinds <> ''",
        (since,),
    ).fetchone()
    return pages, changes, recent


def list_host_delays(db: Connection, now: float) -> list[HostDelay]:
    """List backed-off hosts with queued URLs, longest delay first."""
    rows = db.execute(
        "SELECT name, delay_reason, next_request_at, waiting FROM hosts"
        " WHERE waiting > 0 AND next_request_at > ? AND delay_reason <> ''"
        f" ORDER BY next_request_at DESC LIMIT {MAX_LISTED_HOSTS}",
        (now,),
    )
    return [HostDelay(*row) for row in rows]


def list_rate_limited_hosts(db: Connection) -> list[RateLimitedHost]:
    """List hosts by number of rate-limit responses, most frequent first."""
    rows = db.execute(
        "SELECT name, rate_limits, rate_limited_at, learned_delay FROM hosts WHERE rate_limits > 0"
        f" ORDER BY rate_limits DESC, name LIMIT {MAX_LISTED_HOSTS}"
    )
    return [RateLimitedHost(*row) for row in rows]


def load_dust_samples(db: Connection) -> Iterator[DustSample]:
    """Yield fetched pages with a digest of their text, or of the body if the text is unknown.

    Sitemaps and change lists are left out: many servers answer their URLs with a generic page.
    """
    for url, digest, text_digest, sketch in db.execute(
        "SELECT h.name || u.path, p.digest, m.value, s.value FROM pages AS p JOIN urls AS u ON u.id = p.url"
        " JOIN hosts AS h ON h.id = u.host LEFT JOIN fingerprints AS m ON m.url = p.url AND m.kind = 'text'"
        " LEFT JOIN fingerprints AS s ON s.url = p.url AND s.kind = 'minhash'"
        " WHERE p.status BETWEEN 200 AND 299 AND p.size > 0 AND u.role = ?",
        (UrlRole.PAGE,),
    ):
        yield DustSample(url, text_digest or digest, sketch or b"")


def list_newest_bodies(db: Connection) -> list[tuple[str, str, int, int]]:
    """Return URL, file, offset and length of the newest body of every page, in archive order."""
    return db.execute(
        "SELECT h.name || u.path, f.name, v.start, v.length FROM pages AS p"
        " JOIN urls AS u ON u.id = p.url JOIN hosts AS h ON h.id = u.host"
        " JOIN visits AS v ON v.id = p.visit JOIN files AS f ON f.id = v.file"
        " WHERE v.length > 0 AND p.duplicate_of = 0 AND p.status BETWEEN 200 AND 299 ORDER BY f.id, v.start"
    ).fetchall()


def load_packed_links(db: Connection) -> Iterator[tuple[str, bytes]]:
    """Yield URL and packed links of every page with links."""
    yield from db.execute(
        "SELECT h.name || u.path, p.links FROM pages AS p JOIN urls AS u ON u.id = p.url"
        " JOIN hosts AS h ON h.id = u.host WHERE p.links <> x''"
    )


class StoredVersionRow(Struct, frozen=True):
    """A visit with the record of a body."""

    visit_id: int
    url: str
    at: float
    digest: bytes
    place: RecordLocation


def iterate_stored_versions(db: Connection, outcome: Outcome = Outcome.FETCHED) -> Iterator[StoredVersionRow]:
    """Yield the visits with a record and this outcome, by page and time."""
    sql = (
        "SELECT v.id, h.name || u.path, v.at, v.digest, f.name, v.start, v.length FROM visits AS v"
        " JOIN files AS f ON f.id = v.file JOIN urls AS u ON u.id = v.url JOIN hosts AS h ON h.id = u.host"
        " WHERE v.length > 0 AND v.outcome = ? ORDER BY v.url, v.at, v.id"
    )
    for id_, url, at, digest, file, start, length in db.execute(sql, (outcome,)):
        yield StoredVersionRow(id_, url, at, digest, RecordLocation(file, start, length))


class FormReport(Struct, frozen=True):
    """A form that a crawl found: how it was used, or why it was skipped."""

    page: str
    action: str
    fields: str
    state: str
    reason: str
    requests: int
    useful: int  # requests with new records
    found: int  # new records


def list_forms(db: Connection) -> list[FormReport]:
    """Return all forms, the most useful first."""
    rows = db.execute(
        "SELECT coalesce(h.name || u.path, ''), f.action, f.fields, f.state, f.reason, f.requests, f.useful, f.found"
        " FROM forms AS f LEFT JOIN urls AS u ON u.id = f.page LEFT JOIN hosts AS h ON h.id = u.host"
        " ORDER BY f.found DESC, f.state, f.id"
    )
    return [FormReport(*row) for row in rows.fetchall()]


def describe_form_query(db: Connection, url_id: int) -> str:
    """Return the values chosen in the form that led to a URL, and how many new records it found; "": no form did."""
    row = db.execute(
        "SELECT f.action, q.query, q.found FROM form_queries AS q JOIN forms AS f ON f.id = q.form WHERE q.url = ?",
        (url_id,),
    ).fetchone()
    if row is None:
        return ""
    return f"{row[0]} with {row[1]}" + (f": {row[2]:,} new records" if row[2] >= 0 else "")


def find_topic_candidates(db: Connection, urls: Sequence[str], limit: int) -> list[tuple[int, str, float]]:
    """Return id, URL and last visit of these pages, and of the feeds of the collection: they may name a hub."""
    known = [url_id for url in urls[:limit] if (url_id := find_url_id(db, url))]
    feeds = db.execute("SELECT id FROM urls WHERE role = 'feed' AND state = 'visited' LIMIT ?", (limit,)).fetchall()
    sql = "SELECT url, max(at) FROM visits WHERE url IN ({}) GROUP BY url"
    visited = dict(select_by_ids(db, sql, [*known, *(url_id for (url_id,) in feeds)]))
    return [(url_id, url, visited[url_id]) for url_id, url in load_urls(db, list(visited)).items()]
