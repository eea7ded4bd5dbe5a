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
from sanderling.frontier.ordering.protocol import HostPreference
from sanderling.frontier.politeness import MIGRANT_BATCH, UNBOUNDED, Politeness
from sanderling.models import Host

HOSTS_PER_WORKER = 64
MAX_RANKED_URLS = 512  # URLs of each
EQUAL_SHARE_DIVISOR = 4  # one in so many URLs is taken from all hosts alike, so that none is left unseen
MAX_MERGED_HOSTS = 16  # hosts whose URLs are weighed against each other one by one, where no pause is asked for


class ReadyHost(Struct, frozen=True, gc=False):
    """A host that may be knocked at now, and who may do it."""

    id: int
    host: Host
    address: str
    assigned_worker: str = ""  # the one migrant that may; empty: anyone
    is_shared: bool = False  # may several?
    queued: int = 0  # URLs of the host in the queue
    leased: int = 0  # in somebody's hands
    share: int = UNBOUNDED  # how many of its URLs are among the best
    best_rank: float = 0.0  # rank of its best URL
    rank_bonus: float = 0.0  # what its URLs gain against those of other hosts


HostCapacity = Callable[[Host], int]
"""How many URLs of a host can be worked off soon: more in hand would only keep migrants from other hosts."""

SELECT_READY_HOSTS = """
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


def find_ready_hosts(
    db: Connection, politeness: Politeness, preference: HostPreference, workers: Sequence[str], now: float
) -> list[ReadyHost]:
    """The hosts that one of these migrants may be sent to now, the best first; no two at one address."""
    wanted = {
        "now": now,
        "proxied": int(politeness.uses_proxy),
        "shared": int(politeness.allows_sharing),
        "batch": MIGRANT_BATCH if politeness.migrant_hosts else politeness.get_max_in_flight(),
        "most": HOSTS_PER_WORKER * len(workers),  # those open longest: so nobody starves
    }
    holders = {f"holder_{chr(97 + n // 26)}{chr(97 + n % 26)}": name for n, name in enumerate(workers)}
    found: list[ReadyHost] = []
    places: set[str] = set()
    for row in db.execute(SELECT_READY_HOSTS.format(able=",".join(f":{key}" for key in holders)), wanted | holders):
        id_, name, place, leased, holder, robots_until, waiting, visited, pause, best = row
        if place and not politeness.allows_sharing and place in places:
            continue
        places.add(place)
        shared, more = (
            politeness.allows_sharing and robots_until > now and not pause,
            compute_rank_bonus(preference, waiting, visited),
        )
        alone = "" if shared or not leased else holder
        found.append(
            ReadyHost(id_, Host(name), place, alone, shared, waiting, leased, best_rank=best or 0.0, rank_bonus=more)
        )
    return sorted(
        found, key=lambda door: (door.best_rank - door.rank_bonus, -door.queued)
    )  # a long queue begun late ends last


def compute_rank_bonus(preference: HostPreference, queued: int, visited: int) -> float:
    """What the URLs of a host gain against those of others."""
    if preference is HostPreference.LARGEST:
        return 1e9 * queued
    return log((visited + queued) / max(1, visited)) if preference is HostPreference.UNSEEN else 0.0


def assign_shares_by_rank(
    db: Connection, hosts: Sequence[ReadyHost], limit: int, min_share: int, get_capacity: HostCapacity | None
) -> list[ReadyHost]:
    """Let a host give what it has among the best, but no more than it can answer soon, and `even` at least."""
    ranked: list[tuple[float, int, int]] = []  # of two alike, the one whose host gave fewer: so all are kept busy
    for number, door in enumerate(hosts):
        sql = "SELECT rank FROM queue WHERE host = ? ORDER BY rank LIMIT ?"
        most = max(0, get_capacity(door.host) - door.leased) if get_capacity else MAX_RANKED_URLS
        ranks = db.execute(sql, (door.id, min(limit, MAX_RANKED_URLS, most)))
        ranked += [(-inf if n < min_share else rank - door.rank_bonus, n, number) for n, (rank,) in enumerate(ranks)]
    ranked.sort()
    shares = Counter(number for _, _, number in ranked[:limit])
    return [replace(hosts[number], share=share) for number, share in shares.items()]


def assign_equal_shares(hosts: Sequence[ReadyHost], limit: int) -> list[ReadyHost]:
    """Let every host have its turn, however many URLs the first of them could take."""
    return [replace(door, share=max(1, limit // len(hosts))) for door in hosts]
