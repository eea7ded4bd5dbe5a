"""Read stored URLs: rows for the stages of a crawl, and selections by state, reason or role."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct

from sanderling.db.connection import Connection, select_by_ids
from sanderling.models import CandidateUrl, Reason, Url, UrlRole, UrlSource, UrlState

URL_COLUMNS = "u.id, u.host, h.name || u.path, u.depth, u.request_url, u.via, u.source, u.reason, u.role"
SELECT_URLS = f"SELECT {URL_COLUMNS} FROM urls AS u JOIN hosts AS h ON h.id = u.host"
SELECT_REFERRER = "SELECT u.via, u.source, v.role FROM urls AS u JOIN urls AS v ON v.id = u.via WHERE u.id = ?"


class UrlRow(Struct, frozen=True):
    """A URL as stored before its visit."""

    depth: int
    hops: int
    attempts: int
    referrer_id: int
    request_url: str
    source: str = ""

    @property
    def is_seed(self) -> bool:
        """Whether the URL is a seed or the redirect target of a seed."""
        return self.source == UrlSource.SEED or (self.depth == 0 and self.source == UrlSource.REDIRECT)


class StoredUrl(Struct, frozen=True, gc=False):
    """A known URL that may be queued again or dropped from the queue."""

    id: int
    host_id: int
    url: Url
    depth: int
    request_url: str
    referrer_id: int
    source: UrlSource
    reason: Reason
    role: UrlRole

    def to_candidate(self, rank: float) -> CandidateUrl:
        return CandidateUrl(
            self.url, self.request_url, self.depth, self.source, self.referrer_id, rank=rank, role=self.role
        )


def load_url_rows(db: Connection, ids: Sequence[int]) -> dict[int, UrlRow]:
    sql = "SELECT id, depth, hops, attempts, via, request_url, source FROM urls WHERE id IN ({})"
    return {row[0]: UrlRow(*row[1:]) for row in select_by_ids(db, sql, ids)}


def find_gone_pages(db: Connection, ids: Sequence[int]) -> list[int]:
    """Find the gone pages among these URLs."""
    sql = "SELECT id FROM urls WHERE id IN ({}) AND state = 'gone' AND role = 'page'"
    return [id_ for (id_,) in select_by_ids(db, sql, ids)]


def load_stored_urls(db: Connection, ids: Sequence[int]) -> list[StoredUrl]:
    return _build_stored_urls(select_by_ids(db, f"{SELECT_URLS} WHERE u.id IN ({{}})", ids))


def select_by_state(
    db: Connection, states: Sequence[UrlState] = (), skip_reasons: Sequence[Reason] = ()
) -> list[StoredUrl]:
    """Return URLs in these states, and those skipped for these reasons."""
    sql = (
        f"{SELECT_URLS} WHERE u.state IN ({_build_placeholders(states)})"
        f" OR (u.state = ? AND u.reason IN ({_build_placeholders(skip_reasons)}))"
    )
    return _build_stored_urls(db.execute(sql, (*states, UrlState.SKIPPED, *skip_reasons)).fetchall())


def select_queued_pages(db: Connection) -> list[StoredUrl]:
    sql = f"SELECT {URL_COLUMNS} FROM queue AS q JOIN urls AS u ON u.id = q.url JOIN hosts AS h ON h.id = u.host"
    return _build_stored_urls(db.execute(f"{sql} WHERE u.role = ?", (UrlRole.PAGE,)).fetchall())


class WaitingUrl(Struct, frozen=True, gc=False):
    """A queued URL with its rank."""

    id: int
    url: Url
    rank: float


def select_waiting(db: Connection, limit: int) -> list[WaitingUrl]:
    """Return the first queued URLs by id."""
    rows = db.execute(
        "SELECT q.url, h.name || u.path, q.rank FROM queue AS q JOIN urls AS u ON u.id = q.url"
        " JOIN hosts AS h ON h.id = u.host ORDER BY q.url LIMIT ?",
        (limit,),
    )
    return [WaitingUrl(*row) for row in rows.fetchall()]


def find_urls(db: Connection, matches: Callable[[str], object]) -> list[int]:
    """Return the ids of matching URLs that are not deleted yet."""
    rows = db.execute(
        "SELECT u.id, h.name || u.path FROM urls AS u JOIN hosts AS h ON h.id = u.host"
        " WHERE u.reason <> ? ORDER BY u.id",
        (str(Reason.DELETED),),
    )
    return [id_ for id_, url in rows if matches(url)]


def find_parked_pages(db: Connection) -> list[int]:
    """Return pages that workers keep because they did not match a template filter."""
    return [id_ for (id_,) in db.execute("SELECT id FROM urls WHERE reason = ?", (Reason.NOT_SIMILAR,))]


def find_visited_requisites(db: Connection) -> list[int]:
    sql = "SELECT id FROM urls WHERE role = ? AND state = ?"
    return [id_ for (id_,) in db.execute(sql, (UrlRole.REQUISITE, UrlState.VISITED))]


def is_skipped_for(db: Connection, url_id: int, reason: Reason) -> bool:
    return db.execute("SELECT 1 FROM urls WHERE id = ? AND reason = ?", (url_id, reason)).fetchone() is not None


def load_state(db: Connection, url_id: int) -> tuple[str, str, int] | None:
    """Return state, reason and depth of a URL, or None if it is unknown."""
    row = db.execute("SELECT state, reason, depth FROM urls WHERE id = ?", (url_id,)).fetchone()
    return (row[0], row[1], row[2]) if row else None


def get_path(db: Connection, url_id: int) -> str:
    """Return the path of a URL with its query, or an empty string if it is unknown."""
    row = db.execute("SELECT path FROM urls WHERE id = ?", (url_id,)).fetchone()
    return str(row[0]) if row else ""


def list_hosts(db: Connection) -> list[tuple[int, str]]:
    """Return id and name of all hosts, by name."""
    return db.execute("SELECT id, name FROM hosts ORDER BY name").fetchall()


def find_host_id(db: Connection, host: str) -> int:
    """Return the id of a host, or 0 if it is unknown."""
    row = db.execute("SELECT id FROM hosts WHERE name = ?", (host,)).fetchone()
    return int(row[0]) if row else 0


def count_sitemap_indexes(db: Connection, sitemap_id: int, limit: int) -> int:
    """Count the sitemap indexes above a sitemap, without redirects; follows at most `limit` referrers."""
    count = 0
    for _ in range(limit):
        row = db.execute(SELECT_REFERRER, (sitemap_id,)).fetchone()
        if row is None or row[2] == UrlRole.PAGE:
            break
        count += row[1] != UrlSource.REDIRECT
        sitemap_id = row[0]
    return count


def count_levels(db: Connection) -> Counter[tuple[int, str]]:
    """Count pages by (depth, state)."""
    sql = "SELECT depth, state, count(*) FROM urls WHERE role = 'page' GROUP BY depth, state"
    return Counter({(depth, state): count for depth, state, count in db.execute(sql)})


def count_levels_by_seed(db: Connection) -> Counter[tuple[int, str]]:
    """Count pages by (level, state), with levels relative to the start level of each seed."""
    rows = {row[0]: row[1:] for row in db.execute("SELECT id, via, depth, source, state FROM urls WHERE role = 'page'")}
    starts: dict[int, int] = {}
    counts: Counter[tuple[int, str]] = Counter()
    for id_, (_, depth, _, state) in rows.items():
        trail, at = [], id_
        while at in rows and at not in starts and rows[at][2] != UrlSource.SEED:
            trail.append(at)
            starts[at] = 0  # ends a cycle of referrers
            at = rows[at][0]
        start = rows[at][1] if at in rows and rows[at][2] == UrlSource.SEED else starts.get(at, 0)
        starts |= dict.fromkeys([*trail, at], start)
        counts[depth - start, state] += 1
    return counts


def _build_stored_urls(rows: Iterable[Any]) -> list[StoredUrl]:
    return [
        StoredUrl(
            id_, host_id, Url(url), depth, request_url, referrer_id, UrlSource(source), Reason(reason), UrlRole(role)
        )
        for id_, host_id, url, depth, request_url, referrer_id, source, reason, role in rows
    ]


def _build_placeholders(values: Sequence[object]) -> str:
    return ",".join("?" * len(values)) or "NULL"


def has_more_urls(db: Connection, host_id: int, count: int) -> bool:
    """Return whether more than `count` URLs of a host are known."""
    sql = "SELECT 1 FROM urls WHERE host = ? LIMIT 1 OFFSET ?"
    return db.execute(sql, (host_id, count)).fetchone() is not None
