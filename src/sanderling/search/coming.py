"""What is visited next, and why: what waits in the queue, then what waits for its time."""

from sanderling.database import Connection
from sanderling.refresh.diary import reasons
from sanderling.search.window import DueRow

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
