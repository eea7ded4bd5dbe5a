"""Which hosts may be knocked at now, by whom, and how many URLs of each are among the best.

A host is *exclusive* when it wants pause between requests (ours, or that of its robots.txt), when its robots.txt is not
known yet, or when it takes fewer connections than there are migrants: then one migrant at a time holds it, and no other
host at the same address is in anybody's hands.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from math import inf, log

from msgspec import Struct
from msgspec.structs import replace

from sanderling.db.connection import Connection
from sanderling.frontier.ordering.protocol import Favour
from sanderling.frontier.politeness import NEAR_BATCH, UNBOUNDED, Pace
from sanderling.models import Host

HOSTS_PER_TAKE = 64
MOST_WEIGHED = 512  # URLs of each
EVEN = 4  # one in so many URLs is taken from all hosts alike, so that none is left unseen
HOSTS_MERGED = 16  # hosts whose URLs are weighed against each other one by one, where no pause is asked for


class Door(Struct, frozen=True, gc=False):
    """A host that may be knocked at now, and who may do it."""

    id: int
    host: Host
    place: str
    holder: str = ""  # the one migrant that may; empty: anyone
    shared: bool = False  # may several?
    waiting: int = 0  # URLs of the host in the queue
    leased: int = 0  # in somebody's hands
    share: int = UNBOUNDED  # how many of its URLs are among the best
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


def open_doors(db: Connection, pace: Pace, favour: Favour, able: Sequence[str], now: float) -> list[Door]:
    """The hosts that one of these migrants may be sent to now, the best first; no two at one address."""
    wanted = {
        "now": now,
        "proxied": int(pace.proxied),
        "shared": int(pace.shared),
        "batch": NEAR_BATCH if pace.near else pace.most(),
        "most": HOSTS_PER_TAKE * len(able),  # those open longest: so nobody starves
    }
    holders = {f"holder_{chr(97 + n // 26)}{chr(97 + n % 26)}": name for n, name in enumerate(able)}
    found: list[Door] = []
    places: set[str] = set()
    for row in db.execute(READY.format(able=",".join(f":{key}" for key in holders)), wanted | holders):
        id_, name, place, leased, holder, robots_until, waiting, visited, pause, best = row
        if place and not pace.shared and place in places:
            continue
        places.add(place)
        shared, more = pace.shared and robots_until > now and not pause, bonus(favour, waiting, visited)
        alone = "" if shared or not leased else holder
        found.append(Door(id_, Host(name), place, alone, shared, waiting, leased, best=best or 0.0, bonus=more))
    return sorted(found, key=lambda door: (door.best - door.bonus, -door.waiting))  # a long queue begun late ends last


def bonus(favour: Favour, waiting: int, visited: int) -> float:
    """What the URLs of a host gain against those of others."""
    if favour is Favour.LARGEST:
        return 1e9 * waiting
    return log((visited + waiting) / max(1, visited)) if favour is Favour.UNSEEN else 0.0


def merged(db: Connection, doors: Sequence[Door], room: int, even: int, soon: Soon | None) -> list[Door]:
    """Let a host give what it has among the best, but no more than it can answer soon, and `even` at least."""
    ranked: list[tuple[float, int, int]] = []  # of two alike, the one whose host gave fewer: so all are kept busy
    for number, door in enumerate(doors):
        sql = "SELECT rank FROM queue WHERE host = ? ORDER BY rank LIMIT ?"
        most = max(0, soon(door.host) - door.leased) if soon else MOST_WEIGHED
        ranks = db.execute(sql, (door.id, min(room, MOST_WEIGHED, most)))
        ranked += [(-inf if n < even else rank - door.bonus, n, number) for n, (rank,) in enumerate(ranks)]
    ranked.sort()
    shares = Counter(number for _, _, number in ranked[:room])
    return [replace(doors[number], share=share) for number, share in shares.items()]


def evened(doors: Sequence[Door], room: int) -> list[Door]:
    """Let every host have its turn, however many URLs the first of them could take."""
    return [replace(door, share=max(1, room // len(doors))) for door in doors]
