"""Hosts as the frontier sees them, and what went wrong with URLs."""

from sanderling.database import Connection
from sanderling.search.window import ErrorRow, HostRow

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
