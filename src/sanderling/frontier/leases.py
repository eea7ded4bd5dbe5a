"""URLs in somebody's hands: who still holds what, and how it ends."""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from sanderling.db.connection import Connection, rows_of
from sanderling.models import SUSPECT, Reason, State

LOSSES = 5  # migrants lost before a URL is given up with the next one
TRIED = "SELECT attempts, losses FROM urls WHERE id = ?"


class Lease(Struct, frozen=True, gc=False):
    """A URL in somebody's hands."""

    url: int
    host: int
    rank: float
    token: int


class Closing(Struct, frozen=True, gc=False):
    """How a lease ends: a final state, or back into the queue."""

    lease: Lease
    state: State
    reason: Reason = Reason.NONE
    note: str = ""
    attempts: int = 0
    losses: int | None = None  # migrants lost that may have been at it; None: as before
    ready_at: float = 0.0  # for a URL that goes back: not before
    rank: float = 0.0
    wire: str | None = None  # how it is asked for from now on; None: as before
    hops: int | None = None  # redirects that led here; None: as before


def begin(db: Connection, leases: Sequence[Lease], migrant: str, now: float, until: float) -> None:
    """Take URLs of one host out of the queue into a migrant's hands, until then."""
    db.executemany("DELETE FROM queue WHERE url = ?", [(lease.url,) for lease in leases])
    db.executemany(
        "INSERT INTO leases (url, host, rank, migrant, token, until) VALUES (?, ?, ?, ?, ?, ?)",
        [(lease.url, lease.host, lease.rank, migrant, lease.token, until) for lease in leases],
    )
    db.execute(
        "UPDATE hosts SET waiting = waiting - ?, leased = leased + ?, holder = ?, open_at = ? WHERE id = ?",
        (len(leases), len(leases), migrant, now, leases[0].host),
    )


def held(db: Connection, pairs: Sequence[tuple[int, int]]) -> dict[int, Lease]:
    """The leases that these (url, token) pairs still hold; a pair that is missing is fenced off."""
    wanted = set(pairs)  # not a dict: a late result may come in one batch with that of the new holder
    rows = rows_of(db, "SELECT url, host, rank, token FROM leases WHERE url IN ({})", list({url for url, _ in pairs}))
    return {row[0]: Lease(*row) for row in rows if (row[0], row[3]) in wanted}


def finish(db: Connection, closings: Sequence[Closing]) -> None:
    """End leases: each URL is in a final state now, or queued again."""
    db.executemany("DELETE FROM leases WHERE url = ?", [(c.lease.url,) for c in closings])
    db.executemany(
        "UPDATE urls SET state = ?, reason = ?, note = ?, attempts = ? WHERE id = ?",
        [(str(c.state), str(c.reason), c.note, c.attempts, c.lease.url) for c in closings],
    )
    losses = [(c.losses, c.lease.url) for c in closings if c.losses is not None]
    db.executemany("UPDATE urls SET losses = ? WHERE id = ?", losses)
    wires = [(c.wire, c.lease.url) for c in closings if c.wire is not None]
    db.executemany("UPDATE urls SET wire = ? WHERE id = ?", wires)
    hops = [(c.hops, c.lease.url) for c in closings if c.hops is not None]
    db.executemany("UPDATE urls SET hops = ? WHERE id = ?", hops)
    again = [c for c in closings if c.state == State.QUEUED]
    db.executemany(
        "INSERT INTO queue (host, rank, url, ready_at) VALUES (?, ?, ?, ?)",
        [(c.lease.host, c.rank or c.lease.rank, c.lease.url, c.ready_at) for c in again],
    )
    ended, returned, visited = dict[int, int](), dict[int, int](), dict[int, int]()
    for c in closings:
        ended[c.lease.host] = ended.get(c.lease.host, 0) + 1
        visited[c.lease.host] = visited.get(c.lease.host, 0) + (c.state == State.VISITED)
    for c in again:
        returned[c.lease.host] = returned.get(c.lease.host, 0) + 1
    db.executemany(
        "UPDATE hosts SET leased = leased - ?, waiting = waiting + ?, visited = visited + ? WHERE id = ?",
        [(count, returned.get(host, 0), visited[host], host) for host, count in ended.items()],
    )


def give_back(db: Connection, leases: Iterable[Lease]) -> None:
    """Queue again what nobody will bring, and nobody is to blame for."""
    rows = [(lease, *db.execute(TRIED, (lease.url,)).fetchone()) for lease in leases]
    finish(db, [Closing(lease, State.QUEUED, attempts=attempts) for lease, attempts, _ in rows])


def blame(db: Connection, leases: Iterable[Lease], connections: int, alone: int) -> int:
    """Queue again what a migrant held that was lost; say how many of them were given up.

    Where it was at one of them `alone`, that one is to blame, and given up in the end. Else any that its connections to
    a host may have begun is: it becomes a suspect, and no more than that.
    """
    held = sorted(leases, key=lambda lease: lease.token)
    is_certain = any(lease.token == alone for lease in held)
    closings, before = [], Counter[int]()
    for lease in held:
        attempts, losses = db.execute(TRIED, (lease.url,)).fetchone()
        state = State.QUEUED
        if lease.token == alone:
            state, losses = State.FAILED if losses >= LOSSES else State.QUEUED, losses + 1
        elif not is_certain and before[lease.host] < connections:
            losses = max(losses, min(losses + 1, SUSPECT))
        before[lease.host] += 1
        reason = Reason.MIGRANT_LOST if state is State.FAILED else Reason.NONE
        closings.append(Closing(lease, state, reason, attempts=attempts, losses=losses))
    finish(db, closings)
    return sum(closing.state is State.FAILED for closing in closings)
