"""Sums over a whole crawl: how much, how fast, how fresh."""

import msgspec

from sanderling.database import Connection
from sanderling.search.window import Point

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
