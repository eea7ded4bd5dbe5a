"""Who may be asked for now: leases of queued URLs, and the host closed in the same transaction.

All politeness is decided here, atomically, by the owner of the queue.
"""

from collections.abc import Mapping, Sequence

from sanderling.db.connection import Connection
from sanderling.frontier import leases
from sanderling.frontier.host_quota import Quota
from sanderling.frontier.leases import Closing, Lease
from sanderling.frontier.ordering.protocol import Favour
from sanderling.frontier.politeness import UNBOUNDED, Pace
from sanderling.frontier.ready_hosts import EVEN, HOSTS_MERGED, Door, Soon, evened, merged, open_doors
from sanderling.models import Host, Itinerary, Robots, Role, Stop, Url

ASKED = "addresses, leased, robots_status, robots_body, robots_at, robots_until, pause, learned"
BEST = """
    SELECT q.rank, q.url, u.path, u.wire, u.depth, u.hops, u.attempts, u.role, u.losses
    FROM queue AS q JOIN urls AS u ON u.id = q.url
    WHERE q.host = ? AND q.ready_at <= ? ORDER BY q.rank, q.url LIMIT ?
"""
HELD = "SELECT url, host, rank, token FROM leases"


class Queue:
    """Hands out leases and takes them back."""

    def __init__(self, db: Connection, pace: Pace, favour: Favour = Favour.BEST) -> None:
        self.db = db
        self.pace = pace
        self.favour = favour
        self.quota: Quota | None = None  # pages of each host, where they are limited
        self.alone: dict[str, int] = {}  # which lease a migrant is at with nothing beside it, as it said

    def doors(self, able: Sequence[str], now: float, room: int = UNBOUNDED, soon: Soon | None = None) -> list[Door]:
        """The hosts that one of these migrants may be sent to now, the best first, and how much each may give."""
        found = open_doors(self.db, self.pace, self.favour, able, now)
        if len(found) < 2:
            return found
        if self.pace.delay_seconds > 0:
            return evened(found, room)
        found = found[:HOSTS_MERGED]
        even = room // (EVEN * len(found)) if self.favour is Favour.UNSEEN else 0
        return merged(self.db, found, room, even, soon)

    def take(self, migrant: str, room: int, now: float) -> list[Itinerary]:
        """Lease the best ready URLs, up to `room`, to one migrant."""
        out: list[Itinerary] = []
        for door in self.doors([migrant], now, room):
            if room <= 0:
                break
            itinerary = self.grant(door, migrant, min(room, door.share), now)
            if itinerary is not None:
                out.append(itinerary)
                room -= len(itinerary.stops)
        return out

    def grant(self, door: Door, migrant: str, room: int, now: float) -> Itinerary | None:
        """Lease the best ready URLs of one host; it is closed to others in the same breath. None: nothing is ready."""
        host, name = door.id, door.host
        row = self.db.execute(f"SELECT {ASKED} FROM hosts WHERE id = ?", (host,)).fetchone()
        addresses, leased, status, body, at, until, pause, learned = row
        robots = Robots(Host(name), status, body or b"", at, until) if until > now else None
        size = min(room, self.pace.size(name, leased, robots is not None, pause))
        size = min(size, self.quota.room(host)) if self.quota is not None else size
        if size <= 0:
            return None
        rows = self.db.execute(BEST, (host, now, size)).fetchall()
        if not rows:
            self._wait_for_retries(host)
            return None
        token = self._tokens(len(rows))
        granted = [Lease(r[1], host, r[0], token + n) for n, r in enumerate(rows)]
        leases.begin(self.db, granted, migrant, now, now + self.pace.term(name, len(rows), pause))
        stops = tuple(
            Stop(r[1], token + n, Url(name + r[2]), r[3], r[4], r[5], r[6], role=Role(r[7]), losses=r[8])
            for n, r in enumerate(rows)
        )
        addressed = tuple(addresses.split())
        delay = self.pace.delay(name, learned)
        return Itinerary(Host(name), stops, addressed, robots, delay, self.pace.connections)

    def _wait_for_retries(self, host: int) -> None:
        self.db.execute(
            "UPDATE hosts SET open_at = coalesce((SELECT min(ready_at) FROM queue WHERE host = hosts.id), open_at)"
            " WHERE id = ?",
            (host,),
        )

    def _tokens(self, count: int) -> int:
        """The first of `count` fencing tokens; they only ever grow."""
        row = self.db.execute(
            "INSERT INTO counters VALUES ('token', ?)"
            " ON CONFLICT (name) DO UPDATE SET value = counters.value + ? RETURNING value",
            (count, count),
        ).fetchone()
        return int(row[0]) - count + 1

    def leases(self, pairs: Sequence[tuple[int, int]]) -> dict[int, Lease]:
        """The leases that these (url, token) pairs still hold; a pair that is missing is fenced off."""
        return leases.held(self.db, pairs)

    def finish(self, closings: Sequence[Closing]) -> None:
        """End leases: each URL is in a final state now, or queued again."""
        leases.finish(self.db, closings)

    def promote(self, gains: Mapping[int, float]) -> None:
        """Move URLs forward by what was learned of them since the last time; those no longer queued are passed over."""
        self.db.executemany(
            "UPDATE queue SET rank = rank - ? WHERE url = ?", [(gain, url) for url, gain in gains.items()]
        )

    def renew(self, migrant: str, now: float) -> None:
        """A heartbeat came: its leases live on."""
        self.db.execute(
            "UPDATE leases SET until = ? WHERE migrant = ? AND until < ?",
            (now + self.pace.term_seconds, migrant, now + self.pace.term_seconds / 2),
        )

    def release(self, migrant: str) -> int:
        """Give back what a migrant held that never began; say how much that was."""
        return self._give_back(self._held_by(migrant))

    def lose(self, migrant: str) -> tuple[int, int]:
        """Give back what a lost migrant held; say how much that was, and how much of it is given up as its killer."""
        held = self._held_by(migrant)
        return len(held), leases.blame(self.db, held, self.pace.connections, self.alone.pop(migrant, 0))

    def release_all(self) -> int:
        """Give back every lease: at start, when no migrant of an earlier run can be alive."""
        returned = self._give_back([Lease(*row) for row in self.db.execute(HELD)])
        self.db.execute("UPDATE hosts SET leased = 0, holder = '' WHERE leased <> 0 OR holder <> ''")
        return returned

    def _held_by(self, migrant: str) -> list[Lease]:
        return [Lease(*row) for row in self.db.execute(f"{HELD} WHERE migrant = ?", (migrant,))]

    def _give_back(self, held: Sequence[Lease]) -> int:
        leases.give_back(self.db, held)
        return len(held)

    def outstanding(self) -> int:
        """How many URLs are in somebody's hands."""
        return int(self.db.execute("SELECT count(*) FROM leases").fetchone()[0])

    def waiting(self) -> int:
        """How many URLs wait to be visited."""
        return int(self.db.execute("SELECT coalesce(sum(waiting), 0) FROM hosts").fetchone()[0])
