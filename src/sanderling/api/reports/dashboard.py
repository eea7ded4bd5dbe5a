"""Totals, rates, freshness, schedule, hosts, errors."""

import msgspec

from sanderling.api.reports.view_models import ChartPoint, DueUrlRow, FailedVisitRow, HostStatusRow
from sanderling.db.connection import Connection
from sanderling.revisit.schedule import explain_due_times

RECENT_VISITS = 2_000  # safety margin in visit ids for rates
# Sitemaps and feeds are in the same table. They are few, so excluding them costs less than a join.
STORED_CONDITION = "status BETWEEN 200 AND 299 AND url NOT IN (SELECT id FROM urls WHERE role <> 'page')"


class CrawlTotals(msgspec.Struct, frozen=True):
    pages: int
    urls: dict[str, int]
    stored_bytes: int
    archived_bytes: int
    downloaded_bytes: int
    saved_bytes: int
    changed_today: int
    fresh_ratio: float


def count_totals(db: Connection, now: float) -> CrawlTotals:
    pages, stored, fresh = db.execute(
        "SELECT count(*), coalesce(sum(size), 0), coalesce(sum(CASE WHEN last_visit > ? THEN 1 ELSE 0 END), 0)"
        f" FROM pages WHERE {STORED_CONDITION}",
        (now - 86400,),
    ).fetchone()
    (archived,) = db.execute("SELECT coalesce(sum(committed), 0) FROM files").fetchone()
    (downloaded, saved) = db.execute(
        "SELECT coalesce(sum(wire_bytes), 0), coalesce(sum(CASE outcome WHEN 'not_modified' THEN"
        " (SELECT size FROM pages WHERE pages.url = visits.url) ELSE 0 END), 0) FROM visits"
    ).fetchone()
    (changed,) = db.execute("SELECT count(*) FROM changes WHERE at > ? AND kinds <> ''", (now - 86400,)).fetchone()
    states = dict(db.execute("SELECT state, count(*) FROM urls WHERE role = 'page' GROUP BY state").fetchall())
    return CrawlTotals(pages, states, stored, archived, downloaded, saved, changed, fresh / pages if pages else 0.0)


def compute_speed(db: Connection, now: float, last_visit: int) -> tuple[float, float]:
    """Return visits and bytes per second, over ten seconds."""
    row = db.execute(
        "SELECT count(*), coalesce(sum(wire_bytes), 0) FROM visits WHERE id > ? AND at > ?",
        (last_visit - RECENT_VISITS * 10, now - 10),
    ).fetchone()
    return row[0] / 10, row[1] / 10


def compute_visit_rates(db: Connection, now: float, minutes: int) -> list[ChartPoint]:
    since = now - minutes * 60
    first = _find_visit_at(db, since)
    rows = dict(
        db.execute(
            "SELECT CAST((at - ?) / 60 AS INTEGER), count(*) FROM visits WHERE id >= ? AND at >= ? GROUP BY 1",
            (since, first, since),
        ).fetchall()
    )
    return [ChartPoint(since + minute * 60, rows.get(minute, 0) / 60) for minute in range(minutes)]


def _find_visit_at(db: Connection, timestamp: float) -> int:
    """Return a visit id shortly before a time, by binary search."""
    low, high = 1, int(db.execute("SELECT coalesce(max(id), 0) FROM visits").fetchone()[0])
    while low < high:
        middle = (low + high) // 2
        row = db.execute("SELECT at FROM visits WHERE id >= ? ORDER BY id LIMIT 1", (middle,)).fetchone()
        if row is None or row[0] >= timestamp:
            high = middle
        else:
            low = middle + 1
    return max(1, low - RECENT_VISITS)


def compute_freshness(db: Connection, now: float) -> list[ChartPoint]:
    """Return the share of pages visited within 1 to 30 days."""
    ages = dict(
        db.execute(
            "SELECT CAST((? - last_visit) / 86400 AS INTEGER), count(*)"
            f" FROM pages WHERE {STORED_CONDITION} GROUP BY 1",
            (now,),
        ).fetchall()
    )
    total, count, points = sum(ages.values()), 0, []
    for day in range(30):
        count += ages.get(day, 0) + (sum(n for age, n in ages.items() if age < 0) if day == 0 else 0)
        points.append(ChartPoint(day, count / total if total else 0.0))
    return points


# max() of two values is not portable
READY_AT_SQL = "CASE WHEN q.ready_at > h.next_request_at THEN q.ready_at ELSE h.next_request_at END"


def count_open_urls(db: Connection) -> tuple[int, int]:
    """Return the numbers of queued and of leased URLs."""
    (waiting,) = db.execute("SELECT coalesce(sum(waiting), 0) FROM hosts").fetchone()
    (in_flight,) = db.execute("SELECT count(*) FROM leases").fetchone()
    return waiting, in_flight


def list_due_urls(db: Connection, now: float, limit: int) -> list[DueUrlRow]:
    """Return queued URLs, then scheduled revisits."""
    rows = db.execute(
        f"SELECT h.name || u.path, {READY_AT_SQL}, q.rank, u.depth, u.source, h.delay_reason, u.attempts,"
        " EXISTS (SELECT 1 FROM pages AS p WHERE p.url = u.id)"
        " FROM queue AS q JOIN urls AS u ON u.id = q.url JOIN hosts AS h ON h.id = q.host"
        f" ORDER BY {READY_AT_SQL} > ?, q.rank, q.url LIMIT ?",
        (now, limit),
    )
    queued = [_build_due_row(row, now) for row in rows]
    return queued + _list_scheduled(db, limit - len(queued), now)


def _list_scheduled(db: Connection, limit: int, now: float) -> list[DueUrlRow]:
    rows = db.execute(
        "SELECT h.name || u.path, d.due_at, d.url, u.depth FROM due AS d JOIN urls AS u ON u.id = d.url"
        " JOIN hosts AS h ON h.id = u.host WHERE u.state <> 'queued' ORDER BY d.due_at, d.url LIMIT ?",
        (max(0, limit),),
    ).fetchall()
    reasons = explain_due_times(db, [id_ for _, _, id_, _ in rows], now) if rows else {}
    return [DueUrlRow(url, reasons[id_], due_at, 0.0, depth, True) for url, due_at, id_, depth in rows]


def _build_due_row(row: tuple[str, float, float, int, str, str, int, int], now: float) -> DueUrlRow:
    url, due_at, rank, depth, source, delay_reason, attempts, visited = row
    if due_at > now:
        reason = f"waiting for its host: {delay_reason or 'crawl delay'}"
    elif attempts:
        reason = f"retry after {attempts} failed attempts"
    elif visited:
        reason = "revisit: may have changed"
    else:
        reason = f"new URL from {source}, depth {depth}"
    return DueUrlRow(url, reason, due_at, rank, depth, bool(visited))


ERROR_SCAN_VISITS = 20_000  # last visits that are searched


def list_hosts(db: Connection, limit: int) -> list[tuple[int, HostStatusRow]]:
    """Return contacted hosts: with queued URLs first, then with failures."""
    rows = db.execute(
        "SELECT id, name, waiting, leased, next_request_at, delay_reason, failures, failure_reason, robots_status"
        " FROM hosts"
        " WHERE waiting > 0 OR leased > 0 OR failures > 0 OR robots_status >= 0"
        " ORDER BY leased DESC, waiting DESC, failures DESC, name LIMIT ?",
        (limit,),
    ).fetchall()
    return [(row[0], HostStatusRow(*row[1:])) for row in rows]


def count_host_pages(db: Connection, host: int) -> int:
    sql = (
        "SELECT count(*) FROM urls AS u JOIN pages AS p ON p.url = u.id"
        " WHERE u.host = ? AND u.role = 'page' AND p.status BETWEEN 200 AND 299"
    )
    return int(db.execute(sql, (host,)).fetchone()[0])


def list_errors(db: Connection, limit: int) -> list[FailedVisitRow]:
    """Return failed visits except missing sitemaps, which are mostly guesses."""
    rows = db.execute(
        "SELECT h.name || u.path, v.at, v.outcome, v.reason, v.status FROM"
        f" (SELECT * FROM visits ORDER BY id DESC LIMIT {ERROR_SCAN_VISITS}) AS v"
        " JOIN urls AS u ON u.id = v.url JOIN hosts AS h ON h.id = u.host"
        " WHERE v.outcome IN ('failed', 'retry', 'gone') AND (u.role = 'page' OR v.outcome <> 'gone')"
        " ORDER BY v.id DESC LIMIT ?",
        (limit,),
    )
    return [FailedVisitRow(*row) for row in rows]


def count_reasons(db: Connection) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {"skipped": {}, "failed": {}}
    for state, reason, count in db.execute(
        "SELECT state, reason, count(*) FROM urls WHERE state IN ('skipped', 'failed') AND role = 'page'"
        " GROUP BY 1, 2 ORDER BY 3 DESC"
    ):
        counts[state][reason] = count
    return counts
