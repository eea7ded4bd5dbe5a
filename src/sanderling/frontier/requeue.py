"""Known URLs that are queued once more, or no longer wanted: many at a time, when a run begins or pages become due."""

from collections.abc import Iterable, Sequence

from sanderling.db.connection import Connection
from sanderling.models import Reason, State

RESTING = f"'{State.VISITED}', '{State.GONE}'"  # states in which a page may be visited again


def queue_pages(db: Connection, urls: Iterable[int], rank: float = 0.0) -> None:
    """Queue known pages for another visit, in this order; one that is named twice is visited once."""
    rows = [(rank + place, url) for place, url in enumerate(dict.fromkeys(urls))]
    ids = [(url,) for _, url in rows]
    db.executemany(
        f"INSERT INTO queue (url, host, rank) SELECT id, host, ? FROM urls WHERE id = ? AND state IN ({RESTING})"
        " ON CONFLICT (url) DO NOTHING",
        rows,
    )
    db.executemany(
        "UPDATE hosts SET waiting = waiting + 1 WHERE id ="
        f" (SELECT host FROM urls WHERE id = ? AND state IN ({RESTING}))",
        ids,
    )
    db.executemany(
        f"UPDATE urls SET state = '{State.QUEUED}', attempts = 0, losses = 0 WHERE id = ? AND state IN ({RESTING})", ids
    )


def queue_all(db: Connection, rows: Sequence[tuple[int, int, float]]) -> None:
    """Queue URLs, each with its host and its rank, whatever became of them before."""
    db.executemany("INSERT INTO queue (url, host, rank) VALUES (?, ?, ?)", rows)
    db.executemany(
        f"UPDATE urls SET state = '{State.QUEUED}', attempts = 0, losses = 0 WHERE id = ?",
        [(url,) for url, _, _ in rows],
    )
    _count_waiting(db)


def leave_out(db: Connection, rows: Sequence[tuple[int, State, Reason]]) -> None:
    """Take URLs out of the queue, each with what becomes of it and why."""
    db.executemany(
        "UPDATE urls SET state = ?, reason = ? WHERE id = ?", [(state, why, url) for url, state, why in rows]
    )
    db.executemany("DELETE FROM queue WHERE url = ?", [(url,) for url, _, _ in rows])
    _count_waiting(db)


def say_why(db: Connection, rows: Sequence[tuple[int, Reason, str]]) -> None:
    """Give URLs that stay skipped another reason and note."""
    db.executemany("UPDATE urls SET reason = ?, note = ? WHERE id = ?", [(why, note, url) for url, why, note in rows])


def _count_waiting(db: Connection) -> None:
    db.execute("UPDATE hosts SET waiting = (SELECT count(*) FROM queue WHERE queue.host = hosts.id)")
