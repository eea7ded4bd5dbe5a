"""Who may be asked for now: leases of queued URLs, and the host closed in the same transaction.

All politeness is decided here, atomically, by the owner of the queue. A host is *exclusive* when it wants pause between
requests (ours, or that of its robots.txt), when its robots.txt is not known yet, or when it takes fewer connections
than there are migrants: then one migrant at a time holds it, and no other host at the same address is in anybody's
hands.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf, log

from msgspec import Struct
from msgspec.structs import replace

from sanderling.database import Connection
from sanderling.frontier.order import Favour
from sanderling.frontier.quota import Quota
from sanderling.records import Host, Itinerary, Reason, Robots, Role, State, Stop, Url

CHUNK = 400
SPAN_SECONDS = 10.0  # work handed out at once to a host that wants pauses
TERM_SECONDS = 120.0  # a lease lasts this long plus what its itinerary needs
HOSTS_PER_TAKE = 64
MOST_WEIGHED = 512  # URLs of each
EVEN = 4  # one in so many URLs is taken from all hosts alike, so that none is left unseen
NEAR_BATCH = 2000  # stops of one letter to a host beside its web server
HOSTS_MERGED = 16  # hosts whose URLs are weighed against each other one by one, where no pause is asked for
LOSSES = 5  # migrants lost over one URL before it is given up


class Pace(Struct, frozen=True):
    """How fast one host may be asked."""

    delay_seconds: float = 1.0
    connections: int = 1  # for one migrant
    shared: bool = False  # may several migrants hold the host at once?
    batch: int = 64  # most stops of one itinerary
    proxied: bool = False  # names are resolved by a proxy, not by us
    term_seconds: float = TERM_SECONDS
    near: frozenset[str] = frozenset()  # sites with a host of their own: it sets the pace, on the spot


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
    ready_at: float = 0.0  # for a URL that goes back: not before
    rank: float = 0.0


class Door(Struct, frozen=True, gc=False):
    """A host that may be knocked at now, and who may do it."""

    id: int
    host: Host
    place: str
    holder: str = ""  # the one migrant that may; empty: anyone
    shared: bool = False  # may several?
    waiting: int = 0  # URLs of the host in the queue
    leased: int = 0  # in somebody's hands
    share: int = 2**31  # how many of its URLs are among the best
    best: float = 0.0  # rank of its best URL
    bonus: float = 0.0  # what its URLs gain against those of other hosts


Soon = Callable[[Host], int]
"""How many URLs of a host can be worked off soon: more in hand would only keep migrants from other hosts."""

READY = """
    SELECT id, name, place, leased, holder, robots_until, waiting, visited, pause,
           (SELECT min(rank) FROM queue WHERE queue.host = hosts.id)
    FROM hosts
    WHERE waiting > 0 AND open_at <= :now AND verdict = '' AND (resolved_until > :now OR :proxied = 1)
      AND (leased = 0 OR (:shared = 1 AND robots_until > :now AND pause = 0)
           OR (leased < :batch AND holder IN ({able})))
      AND (:shared = 1 OR leased > 0 OR NOT EXISTS
           (SELECT 1 FROM hosts AS other WHERE other.place = hosts.place AND other.place <> '' AND other.leased > 0))
    ORDER BY open_at LIMIT :most
"""
ASKED = "addresses, leased, robots_status, robots_body, robots_at, robots_until, pause"


class Queue:
    """Hands out leases and takes them back."""

    def __init__(self, db: Connection, pace: Pace, favour: Favour = Favour.BEST) -> None:
        self.db = db
        self.pace = pace
        self.favour = favour
        self.quota: Quota | None = None  # pages of each host, where they are limited

    def doors(self, able: Sequence[str], now: float, room: int = 2**31, soon: Soon | None = None) -> list[Door]:
        """The hosts that one of these migrants may be sent to now, the best first; no two at one address."""
        wanted = {
            "now": now,
            "proxied": int(self.pace.proxied),
            "shared": int(self.pace.shared),
            "batch": NEAR_BATCH if self.pace.near else self._most(),
            "most": HOSTS_PER_TAKE * len(able),  # those open longest: so nobody starves
        }
        holders = {f"holder_{chr(97 + n // 26)}{chr(97 + n % 26)}": name for n, name in enumerate(able)}
        found: list[Door] = []
        places: set[str] = set()
        for row in self.db.execute(READY.format(able=",".join(f":{key}" for key in holders)), wanted | holders):
            id_, name, place, leased, holder, robots_until, waiting, visited, pause, best = row
            if place and not self.pace.shared and place in places:
                continue
            places.add(place)
            shared, bonus = self.pace.shared and robots_until > now and not pause, self._bonus(waiting, visited)
            alone = "" if shared or not leased else holder
            found.append(Door(id_, Host(name), place, alone, shared, waiting, leased, best=best or 0.0, bonus=bonus))
        found.sort(key=lambda door: (door.best - door.bonus, -door.waiting))  # a long queue begun late ends last
        return self._weighed(found, room, soon)

    def _bonus(self, waiting: int, visited: int) -> float:
        if self.favour is Favour.LARGEST:
            return 1e9 * waiting
        return log((visited + waiting) / max(1, visited)) if self.favour is Favour.UNSEEN else 0.0

    def _weighed(self, doors: list[Door], room: int, soon: Soon | None = None) -> list[Door]:
        """Without pauses, let a host give no more URLs than it has among the best, nor more than it can answer soon.

        With pauses every host gets its turn, however many URLs the first of them could take.
        """
        if len(doors) < 2:
            return doors
        if self.pace.delay_seconds > 0:
            return [replace(door, share=max(1, room // len(doors))) for door in doors]
        doors = doors[:HOSTS_MERGED]
        even = room // (EVEN * len(doors)) if self.favour is Favour.UNSEEN else 0
        ranked: list[tuple[float, int, int]] = []  # of two alike, the one whose host gave fewer: so all are kept busy
        for number, door in enumerate(doors):
            sql = "SELECT rank FROM queue WHERE host = ? ORDER BY rank LIMIT ?"
            most = max(0, soon(door.host) - door.leased) if soon else MOST_WEIGHED
            ranks = self.db.execute(sql, (door.id, min(room, MOST_WEIGHED, most)))
            ranked += [(-inf if n < even else rank - door.bonus, n, number) for n, (rank,) in enumerate(ranks)]
        ranked.sort()
        shares = Counter(number for _, _, number in ranked[:room])
        return [replace(doors[number], share=share) for number, share in shares.items()]

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

    def _most(self, pause: float = 0.0) -> int:
        """Stops of one host that may be in one migrant's hands; `pause` is what its robots.txt asks for."""
        if (delay := max(self.pace.delay_seconds, pause)) > 0:
            return max(1, min(self.pace.batch, int(SPAN_SECONDS / delay)))
        return 2**31

    def _batch(self, host: str, room: int, leased: int, robots_known: bool, pause: float) -> int:
        size = self.pace.batch
        if host in self.pace.near:
            return min(NEAR_BATCH, room)
        if self.pace.delay_seconds > 0 or pause > 0:
            size = self._most(pause) - leased
        elif not robots_known:
            size = min(size, 8)
        return min(size, room)

    def grant(self, door: Door, migrant: str, room: int, now: float) -> Itinerary | None:
        """Lease the best ready URLs of one host; it is closed to others in the same breath. None: nothing is ready."""
        host, name = door.id, door.host
        row = self.db.execute(f"SELECT {ASKED} FROM hosts WHERE id = ?", (host,)).fetchone()
        addresses, leased, status, body, at, until, pause = row
        robots = Robots(Host(name), status, body or b"", at, until) if until > now else None
        size = self._batch(name, room, leased, robots is not None, pause)
        size = min(size, self.quota.room(host)) if self.quota is not None else size
        if size <= 0:
            return None
        rows = self.db.execute(
            "SELECT q.rank, q.url, u.path, u.wire, u.depth, u.hops, u.attempts, u.role"
            " FROM queue AS q JOIN urls AS u ON u.id = q.url"
            " WHERE q.host = ? AND q.ready_at <= ? ORDER BY q.rank, q.url LIMIT ?",
            (host, now, size),
        ).fetchall()
        if not rows:
            self._wait_for_retries(host)
            return None
        token = self._tokens(len(rows))
        delay = 0.0 if name in self.pace.near else self.pace.delay_seconds
        term = now + self.pace.term_seconds + len(rows) * (max(delay, pause) + 1)
        self.db.executemany("DELETE FROM queue WHERE url = ?", [(r[1],) for r in rows])
        self.db.executemany(
            "INSERT INTO leases (url, host, rank, migrant, token, until) VALUES (?, ?, ?, ?, ?, ?)",
            [(r[1], host, r[0], migrant, token + n, term) for n, r in enumerate(rows)],
        )
        self.db.execute(
            "UPDATE hosts SET waiting = waiting - ?, leased = leased + ?, holder = ?, open_at = ? WHERE id = ?",
            (len(rows), len(rows), migrant, now, host),
        )
        stops = tuple(
            Stop(r[1], token + n, Url(name + r[2]), r[3], r[4], r[5], r[6], role=Role(r[7])) for n, r in enumerate(rows)
        )
        return Itinerary(
            Host(name),
            stops,
            tuple(addresses.split()),
            robots,
            delay,
            self.pace.connections,
        )

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
        wanted = set(pairs)  # not a dict: a late result may come in one batch with that of the new holder
        found: dict[int, Lease] = {}
        ids = list({url for url, _ in pairs})
        for start in range(0, len(ids), CHUNK):
            part = ids[start : start + CHUNK]
            marks = ",".join("?" * len(part))
            for row in self.db.execute(f"SELECT url, host, rank, token FROM leases WHERE url IN ({marks})", part):
                if (row[0], row[3]) in wanted:
                    found[row[0]] = Lease(*row)
        return found

    def finish(self, closings: Sequence[Closing]) -> None:
        """End leases: each URL is in a final state now, or queued again."""
        self.db.executemany("DELETE FROM leases WHERE url = ?", [(c.lease.url,) for c in closings])
        self.db.executemany(
            "UPDATE urls SET state = ?, reason = ?, note = ?, attempts = ? WHERE id = ?",
            [(str(c.state), str(c.reason), c.note, c.attempts, c.lease.url) for c in closings],
        )
        again = [c for c in closings if c.state == State.QUEUED]
        self.db.executemany(
            "INSERT INTO queue (host, rank, url, ready_at) VALUES (?, ?, ?, ?)",
            [(c.lease.host, c.rank or c.lease.rank, c.lease.url, c.ready_at) for c in again],
        )
        ended, returned, visited = dict[int, int](), dict[int, int](), dict[int, int]()
        for c in closings:
            ended[c.lease.host] = ended.get(c.lease.host, 0) + 1
            visited[c.lease.host] = visited.get(c.lease.host, 0) + (c.state == State.VISITED)
        for c in again:
            returned[c.lease.host] = returned.get(c.lease.host, 0) + 1
        self.db.executemany(
            "UPDATE hosts SET leased = leased - ?, waiting = waiting + ?, visited = visited + ? WHERE id = ?",
            [(count, returned.get(host, 0), visited[host], host) for host, count in ended.items()],
        )

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

    def release(self, migrant: str, *, blame: bool = False) -> int:
        """Give back what a lost migrant held; `blame` counts an attempt, so that a page that kills migrants ends."""
        rows = self.db.execute("SELECT url, host, rank, token FROM leases WHERE migrant = ?", (migrant,)).fetchall()
        self._return([Lease(*row) for row in rows], blame)
        return len(rows)

    def release_all(self) -> int:
        """Give back every lease: at start, when no migrant of an earlier run can be alive."""
        rows = self.db.execute("SELECT url, host, rank, token FROM leases").fetchall()
        self._return([Lease(*row) for row in rows], False)
        self.db.execute("UPDATE hosts SET leased = 0, holder = '' WHERE leased <> 0 OR holder <> ''")
        return len(rows)

    def _return(self, leases: Iterable[Lease], blame: bool) -> None:
        closings = []
        for lease in leases:
            (attempts,) = self.db.execute("SELECT attempts FROM urls WHERE id = ?", (lease.url,)).fetchone()
            if blame and attempts >= LOSSES:
                closings.append(Closing(lease, State.FAILED, Reason.MIGRANT_LOST, attempts=attempts + 1))
            else:
                closings.append(Closing(lease, State.QUEUED, attempts=attempts + blame))
        self.finish(closings)

    def outstanding(self) -> int:
        """How many URLs are in somebody's hands."""
        return int(self.db.execute("SELECT count(*) FROM leases").fetchone()[0])

    def waiting(self) -> int:
        """How many URLs wait to be visited."""
        return int(self.db.execute("SELECT coalesce(sum(waiting), 0) FROM hosts").fetchone()[0])
