"""Sums over a whole crawl: how much, how fast, how fresh."""

import msgspec

from sanderling.db.connection import Connection
from sanderling.revisit.schedule import reasons
from sanderling.web.view_models import DueRow, ErrorRow, HostRow, Point

RECENT = 2_000  # visits looked at for rates
# Sitemaps, feeds and the like are stored beside pages; they are few, so to leave them out costs less than a join.
STORED = "status BETWEEN 200 AND 299 AND url NOT IN (SELECT id FROM urls WHERE role <> 'page')"


class Counts(msgspec.Struct, frozen=True):
    """Sums over whole tables, taken now and then."""

    pages: int
    urls: dict[str, int]
    stored: int
    archived: int
    downloaded: int
    saved: int
    changed_today: int
    fresh: float


def count_all(db: Connection, now: float) -> Counts:
    """Count everything there is."""
    pages, stored, fresh = db.execute(
        "SELECT count(*), coalesce(sum(size), 0), coalesce(sum(CASE WHEN last_visit > ? THEN 1 ELSE 0 END), 0)"
        f" FROM pages WHERE {STORED}",
        (now - 86400,),
    ).fetchone()
    (archived,) = db.execute("SELECT coalesce(sum(committed), 0) FROM files").fetchone()
    (downloaded, unsent) = db.execute(
        "SELECT coalesce(sum(wire_bytes), 0), coalesce(sum(CASE outcome WHEN 'not_modified' THEN"
        " (SELECT size FROM pages WHERE pages.url = visits.url) ELSE 0 END), 0) FROM visits"
    ).fetchone()
    (changed,) = db.execute("SELECT count(*) FROM changes WHERE at > ? AND kinds <> ''", (now - 86400,)).fetchone()
    states = dict(db.execute("SELECT state, count(*) FROM urls WHERE role = 'page' GROUP BY state").fetchall())
    return Counts(pages, states, stored, archived, downloaded, unsent, changed, fresh / pages if pages else 0.0)


def speed(db: Connection, now: float, newest: int) -> tuple[float, float]:
    """Visits and bytes per second, over the last ten."""
    row = db.execute(
        "SELECT count(*), coalesce(sum(wire_bytes), 0) FROM visits WHERE id > ? AND at > ?",
        (newest - RECENT * 10, now - 10),
    ).fetchone()
    return row[0] / 10, row[1] / 10


def rates(db: Connection, now: float, minutes: int) -> list[Point]:
    """Visits per second, minute by minute."""
    since = now - minutes * 60
    first = _visit_at(db, since)
    rows = dict(
        db.execute(
            "SELECT CAST((at - ?) / 60 AS INTEGER), count(*) FROM visits WHERE id >= ? AND at >= ? GROUP BY 1",
            (since, first, since),
        ).fetchall()
    )
    return [Point(since + minute * 60, rows.get(minute, 0) / 60) for minute in range(minutes)]


def _visit_at(db: Connection, moment: float) -> int:
    """The first visit about that time, found by halving: visits are numbered as they come home."""
    low, high = 1, int(db.execute("SELECT coalesce(max(id), 0) FROM visits").fetchone()[0])
    while low < high:
        middle = (low + high) // 2
        row = db.execute("SELECT at FROM visits WHERE id >= ? ORDER BY id LIMIT 1", (middle,)).fetchone()
        if row is None or row[0] >= moment:
            high = middle
        else:
            low = middle + 1
    return max(1, low - RECENT)


def freshness(db: Connection, now: float) -> list[Point]:
    """Share of pages looked at within so many days, for the last thirty days."""
    ages = dict(
        db.execute(
            f"SELECT CAST((? - last_visit) / 86400 AS INTEGER), count(*) FROM pages WHERE {STORED} GROUP BY 1",
            (now,),
        ).fetchall()
    )
    total, reached, points = sum(ages.values()), 0, []
    for day in range(30):
        reached += ages.get(day, 0) + (sum(n for age, n in ages.items() if age < 0) if day == 0 else 0)
        points.append(Point(day, reached / total if total else 0.0))
    return points


READY = "CASE WHEN q.ready_at > h.open_at THEN q.ready_at ELSE h.open_at END"  # the later of the two, in any SQL


def due(db: Connection, now: float, most: int) -> list[DueRow]:
    """What is visited next, and why in that order."""
    rows = db.execute(
        f"SELECT h.name || u.path, {READY}, q.rank, u.depth, u.source, h.hold, u.attempts,"
        " EXISTS (SELECT 1 FROM pages AS p WHERE p.url = u.id)"
        " FROM queue AS q JOIN urls AS u ON u.id = q.url JOIN hosts AS h ON h.id = q.host"
        f" ORDER BY {READY} > ?, q.rank, q.url LIMIT ?",
        (now, most),
    )
    queued = [_due(row, now) for row in rows]
    return queued + _planned(db, most - len(queued), now)


def _planned(db: Connection, most: int, now: float) -> list[DueRow]:
    """Pages that wait for their time, and what the plan says of each."""
    rows = db.execute(
        "SELECT h.name || u.path, d.due_at, d.url, u.depth FROM due AS d JOIN urls AS u ON u.id = d.url"
        " JOIN hosts AS h ON h.id = u.host WHERE u.state <> 'queued' ORDER BY d.due_at, d.url LIMIT ?",
        (max(0, most),),
    ).fetchall()
    why = reasons(db, [id_ for _, _, id_, _ in rows], now) if rows else {}
    return [DueRow(url, why[id_], due_at, 0.0, depth, True) for url, due_at, id_, depth in rows]


def _due(row: tuple[str, float, float, int, str, str, int, int], now: float) -> DueRow:
    url, due_at, rank, depth, source, hold, attempts, visited = row
    if due_at > now:
        why = f"its host rests: {hold}" if hold else "its host was asked a moment ago"
    elif attempts:
        why = f"tried {attempts} times, worth another"
    elif visited:
        why = "may have changed since the last visit"
    else:
        why = f"new, found by {source}, {depth} links from a seed"
    return DueRow(url, why, due_at, rank, depth, bool(visited))


LOOKED_AT = 20_000  # visits looked through for the last errors


def host_rows(db: Connection, most: int) -> list[tuple[int, HostRow]]:
    """Hosts that were ever knocked at, with their ids: those with work first, then those in trouble."""
    rows = db.execute(
        "SELECT id, name, waiting, leased, open_at, hold, strikes, verdict, robots_status FROM hosts"
        " WHERE waiting > 0 OR leased > 0 OR strikes > 0 OR robots_status >= 0"
        " ORDER BY leased DESC, waiting DESC, strikes DESC, name LIMIT ?",
        (most,),
    ).fetchall()
    return [(row[0], HostRow(*row[1:])) for row in rows]


def pages_of(db: Connection, host: int) -> int:
    """How many pages of a host are stored."""
    sql = (
        "SELECT count(*) FROM urls AS u JOIN pages AS p ON p.url = u.id"
        " WHERE u.host = ? AND u.role = 'page' AND p.status BETWEEN 200 AND 299"
    )
    return int(db.execute(sql, (host,)).fetchone()[0])


def last_errors(db: Connection, most: int) -> list[ErrorRow]:
    """Return the last visits that went wrong. A sitemap that is not there is no error: most addresses are guesses."""
    rows = db.execute(
        "SELECT h.name || u.path, v.at, v.outcome, v.reason, v.status FROM"
        f" (SELECT * FROM visits ORDER BY id DESC LIMIT {LOOKED_AT}) AS v"
        " JOIN urls AS u ON u.id = v.url JOIN hosts AS h ON h.id = u.host"
        " WHERE v.outcome IN ('failed', 'retry', 'gone') AND (u.role = 'page' OR v.outcome <> 'gone')"
        " ORDER BY v.id DESC LIMIT ?",
        (most,),
    )
    return [ErrorRow(*row) for row in rows]


def why_not(db: Connection) -> dict[str, dict[str, int]]:
    """Why URLs were skipped or given up."""
    found: dict[str, dict[str, int]] = {"skipped": {}, "failed": {}}
    for state, reason, count in db.execute(
        "SELECT state, reason, count(*) FROM urls WHERE state IN ('skipped', 'failed') AND role = 'page'"
        " GROUP BY 1, 2 ORDER BY 3 DESC"
    ):
        found[state][reason] = count
    return found
