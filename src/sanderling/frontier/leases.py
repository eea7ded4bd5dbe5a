"""Leases: exclusive, fenced claims of workers on URLs."""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from sanderling.db.connection import Connection, select_by_ids
from sanderling.models import SUSPECT_LOSSES, Reason, UrlState

MAX_WORKER_LOSSES = 5  # crashed workers after which a URL is given up at the next crash
SELECT_ATTEMPTS = "SELECT attempts, losses FROM urls WHERE id = ?"


class Lease(Struct, frozen=True, gc=False):
    """A URL leased by a worker."""

    url_id: int
    host_id: int
    rank: float
    token: int


class LeaseOutcome(Struct, frozen=True, gc=False):
    """How a lease ends: a final state, or back to the queue.

    None: the stored value stays.
    """

    lease: Lease
    state: UrlState
    reason: Reason = Reason.NONE
    detail: str = ""
    attempts: int = 0
    losses: int | None = None  # crashed workers that may have been fetching it
    ready_at: float = 0.0  # earliest retry of a requeued URL
    rank: float = 0.0
    request_url: str | None = None
    hops: int | None = None  # redirects that led here


def acquire_leases(db: Connection, leases: Sequence[Lease], worker: str, now: float, until: float) -> None:
    """Move URLs of a host from the queue to a worker until a time."""
    db.executemany("DELETE FROM queue WHERE url = ?", [(lease.url_id,) for lease in leases])
    db.executemany(
        "INSERT INTO leases (url, host, rank, worker, token, until) VALUES (?, ?, ?, ?, ?, ?)",
        [(lease.url_id, lease.host_id, lease.rank, worker, lease.token, until) for lease in leases],
    )
    db.execute(
        "UPDATE hosts SET waiting = waiting - ?, leased = leased + ?, worker = ?, next_request_at = ? WHERE id = ?",
        (len(leases), len(leases), worker, now, leases[0].host_id),
    )


def find_held_leases(db: Connection, tokens: Sequence[tuple[int, int]]) -> dict[int, Lease]:
    """Return the leases that these (URL id, token) pairs still hold; expired leases are missing."""
    pairs = set(tokens)  # pairs: a late result may arrive in one batch with that of the new holder
    rows = select_by_ids(
        db, "SELECT url, host, rank, token FROM leases WHERE url IN ({})", list({url for url, _ in tokens})
    )
    return {row[0]: Lease(*row) for row in rows if (row[0], row[3]) in pairs}


def complete_leases(db: Connection, outcomes: Sequence[LeaseOutcome]) -> None:
    """End leases: set the final state of each URL, or requeue it."""
    db.executemany("DELETE FROM leases WHERE url = ?", [(c.lease.url_id,) for c in outcomes])
    db.executemany(
        "UPDATE urls SET state = ?, reason = ?, note = ?, attempts = ? WHERE id = ?",
        [(str(c.state), str(c.reason), c.detail, c.attempts, c.lease.url_id) for c in outcomes],
    )
    losses = [(c.losses, c.lease.url_id) for c in outcomes if c.losses is not None]
    db.executemany("UPDATE urls SET losses = ? WHERE id = ?", losses)
    request_urls = [(c.request_url, c.lease.url_id) for c in outcomes if c.request_url is not None]
    db.executemany("UPDATE urls SET request_url = ? WHERE id = ?", request_urls)
    hops = [(c.hops, c.lease.url_id) for c in outcomes if c.hops is not None]
    db.executemany("UPDATE urls SET hops = ? WHERE id = ?", hops)
    requeued = [c for c in outcomes if c.state == UrlState.QUEUED]
    db.executemany(
        "INSERT INTO queue (host, rank, url, ready_at) VALUES (?, ?, ?, ?)",
        [(c.lease.host_id, c.rank or c.lease.rank, c.lease.url_id, c.ready_at) for c in requeued],
    )
    ended, returned, visited = dict[int, int](), dict[int, int](), dict[int, int]()
    for c in outcomes:
        ended[c.lease.host_id] = ended.get(c.lease.host_id, 0) + 1
        visited[c.lease.host_id] = visited.get(c.lease.host_id, 0) + (c.state == UrlState.VISITED)
    for c in requeued:
        returned[c.lease.host_id] = returned.get(c.lease.host_id, 0) + 1
    db.executemany(
        "UPDATE hosts SET leased = leased - ?, waiting = waiting + ?, visited = visited + ? WHERE id = ?",
        [(count, returned.get(host, 0), visited[host], host) for host, count in ended.items()],
    )


def release_leases(db: Connection, leases: Iterable[Lease]) -> None:
    """Requeue leased URLs whose worker stopped normally. Does not count as an attempt."""
    rows = [(lease, *db.execute(SELECT_ATTEMPTS, (lease.url_id,)).fetchone()) for lease in leases]
    complete_leases(db, [LeaseOutcome(lease, UrlState.QUEUED, attempts=attempts) for lease, attempts, _ in rows])


def release_after_crash(db: Connection, leases: Iterable[Lease], connections: int, isolated_token: int) -> int:
    """Requeue the URLs of a crashed worker; return how many were given up.

    A URL that was fetched in isolation is known to be the cause and is given up after repeated crashes. Otherwise every
    URL that an open connection may have been fetching becomes a suspect.
    """
    held = sorted(leases, key=lambda lease: lease.token)
    is_certain = any(lease.token == isolated_token for lease in held)
    outcomes, counted = [], Counter[int]()
    for lease in held:
        attempts, losses = db.execute(SELECT_ATTEMPTS, (lease.url_id,)).fetchone()
        state = UrlState.QUEUED
        if lease.token == isolated_token:
            state, losses = UrlState.FAILED if losses >= MAX_WORKER_LOSSES else UrlState.QUEUED, losses + 1
        elif not is_certain and counted[lease.host_id] < connections:
            losses = max(losses, min(losses + 1, SUSPECT_LOSSES))
        counted[lease.host_id] += 1
        reason = Reason.WORKER_LOST if state is UrlState.FAILED else Reason.NONE
        outcomes.append(LeaseOutcome(lease, state, reason, attempts=attempts, losses=losses))
    complete_leases(db, outcomes)
    return sum(outcome.state is UrlState.FAILED for outcome in outcomes)
