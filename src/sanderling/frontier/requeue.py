"""Change the state or rank of many known URLs: when a run starts, pages become due, or pages are deleted."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from sanderling.db.connection import Connection, select_by_ids
from sanderling.frontier.url_store import SOFT_REASONS
from sanderling.models import CandidateUrl, Reason, UrlRole, UrlState

REVISITABLE_STATES = f"'{UrlState.VISITED}', '{UrlState.GONE}'"

PAGE_REASONS = SOFT_REASONS | {Reason.OUT_OF_SCOPE, Reason.HOST_LIMIT}  # apply to pages, not to their requisites


def requeue_pages(db: Connection, url_ids: Iterable[int], rank: float = 0.0) -> None:
    """Queue known pages for a revisit, in this order; duplicates are queued once."""
    rows = [(rank + position, url) for position, url in enumerate(dict.fromkeys(url_ids))]
    ids = [(url,) for _, url in rows]
    db.executemany(
        "INSERT INTO queue (url, host, rank) SELECT id, host, ? FROM urls WHERE id = ?"
        f" AND state IN ({REVISITABLE_STATES}) ON CONFLICT (url) DO NOTHING",
        rows,
    )
    db.executemany(
        "UPDATE hosts SET waiting = waiting + 1 WHERE id ="
        f" (SELECT host FROM urls WHERE id = ? AND state IN ({REVISITABLE_STATES}))",
        ids,
    )
    db.executemany(
        f"UPDATE urls SET state = '{UrlState.QUEUED}', attempts = 0, losses = 0"
        f" WHERE id = ? AND state IN ({REVISITABLE_STATES})",
        ids,
    )


def requeue_urls(db: Connection, rows: Sequence[tuple[int, int, float]]) -> None:
    """Queue URLs, given as (id, host id, rank), whatever their state."""
    db.executemany("INSERT INTO queue (url, host, rank) VALUES (?, ?, ?)", rows)
    db.executemany(
        f"UPDATE urls SET state = '{UrlState.QUEUED}', attempts = 0, losses = 0 WHERE id = ?",
        [(url,) for url, _, _ in rows],
    )
    recount_queued(db)


def promote_requisites(db: Connection, candidates: Mapping[int, CandidateUrl]) -> None:
    """Queue page requisites, given by their ids, that were skipped as pages."""
    reasons = ",".join(f"'{reason}'" for reason in sorted(PAGE_REASONS))
    sql = (
        f"SELECT id, host FROM urls WHERE id IN ({{}}) AND state = '{UrlState.SKIPPED}' AND role = '{UrlRole.PAGE}'"
        f" AND reason IN ({reasons})"
    )
    found = [(candidates[id_], id_, host) for id_, host in select_by_ids(db, sql, list(candidates))]
    db.executemany(
        f"UPDATE urls SET state = '{UrlState.QUEUED}', reason = '', note = '', role = '{UrlRole.REQUISITE}', depth = ?,"
        " via = ?, request_url = ? WHERE id = ?",
        [(new.depth, new.referrer_id, new.request_url, id_) for new, id_, _ in found],
    )
    db.executemany(
        "INSERT INTO queue (host, rank, url) VALUES (?, ?, ?)", [(host, new.rank, id_) for new, id_, host in found]
    )
    db.executemany("UPDATE hosts SET waiting = waiting + 1 WHERE id = ?", [(host,) for _, _, host in found])


def dequeue_urls(db: Connection, rows: Sequence[tuple[int, UrlState, Reason]]) -> None:
    """Remove URLs from the queue and set their state and reason."""
    db.executemany(
        "UPDATE urls SET state = ?, reason = ? WHERE id = ?", [(state, why, url) for url, state, why in rows]
    )
    db.executemany("DELETE FROM queue WHERE url = ?", [(url,) for url, _, _ in rows])
    recount_queued(db)


def update_skip_reasons(db: Connection, rows: Sequence[tuple[int, Reason, str]]) -> None:
    """Set the reason and detail of URLs that stay skipped."""
    db.executemany("UPDATE urls SET reason = ?, note = ? WHERE id = ?", [(why, note, url) for url, why, note in rows])


def rerank_queued_pages(db: Connection, get_rank: Callable[[int, int], float]) -> None:
    """Set the rank of all queued pages; `get_rank` maps URL id and depth to it."""
    rows = db.execute(
        "SELECT q.url, u.depth FROM queue AS q JOIN urls AS u ON u.id = q.url WHERE u.role = 'page'"
    ).fetchall()
    db.executemany("UPDATE queue SET rank = ? WHERE url = ?", [(get_rank(url, depth), url) for url, depth in rows])


def shift_depths(db: Connection, levels: int) -> None:
    """Move all URLs down by so many levels, because a new seed may start further up."""
    db.execute("UPDATE urls SET depth = depth + ?", (levels,))


def restore_visited(db: Connection, url_ids: Iterable[int]) -> None:
    """Mark URLs as visited again: their last fetch failed, but a version is stored."""
    db.executemany(f"UPDATE urls SET state = '{UrlState.VISITED}' WHERE id = ?", [(url,) for url in url_ids])


def set_request_url(db: Connection, url_id: int, request_url: str) -> None:
    """Set the URL that is sent for a URL key."""
    db.execute("UPDATE urls SET request_url = ? WHERE id = ?", (request_url, url_id))


def mark_deleted(db: Connection, url_ids: Sequence[int], state: UrlState) -> None:
    """Set the state of URLs whose pages were deleted. They stay known, so that no link queues them again."""
    db.executemany(
        "UPDATE urls SET state = ?, reason = ?, note = '' WHERE id = ?",
        [(str(state), str(Reason.DELETED), url) for url in url_ids],
    )


def recount_queued(db: Connection) -> None:
    db.execute("UPDATE hosts SET waiting = (SELECT count(*) FROM queue WHERE queue.host = hosts.id)")
