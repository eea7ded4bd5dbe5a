"""Find hosts that may be requested now, by which worker, and how many of the best URLs each has.

A host is *exclusive* if it has a crawl delay (ours or that of its robots.txt), if its robots.txt is not known yet, or
if it accepts fewer connections than there are workers. Then one worker at a time leases it, and no other host at the
same address is leased.
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
MAX_RANKED_URLS = 512  # per host
EQUAL_SHARE_DIVISOR = 4  # one in so many URLs is shared equally, so that no host is left out
MAX_MERGED_HOSTS = 16  # hosts without crawl delay whose URLs are compared one by one


class ReadyHost(Struct, frozen=True, gc=False):
    """A host whose crawl delay has passed, and the worker assigned to it."""

    id: int
    host: Host
    address: str
    assigned_worker: str = ""  # empty: any worker
    is_shared: bool = False  # several workers may lease it
    queued: int = 0  # queued URLs
    leased: int = 0  # leased URLs
    share: int = UNBOUNDED  # number of its URLs among the best of all hosts
    best_rank: float = 0.0
    rank_bonus: float = 0.0  # bonus against URLs of other hosts


HostCapacity = Callable[[Host], int]
"""Return how many URLs of a host can be fetched soon; leasing more would keep workers from other hosts."""

SELECT_READY_HOSTS = """
    SELECT id, name, shared_address, leased, worker, robots_until, waiting, visited, crawl_delay,
           (SELECT min(rank) FROM queue WHERE queue.host = hosts.id)
    FROM hosts
    WHERE waiting > 0 AND next_request_at <= :now AND failure_reason = '' AND (resolved_until > :now OR :proxied = 1)
      AND (leased = 0 OR (:shared = 1 AND robots_until > :now AND crawl_delay = 0)
           OR (leased < :batch AND worker IN ({able})))
      AND (:shared = 1 OR leased > 0 OR NOT EXISTS
           (SELECT 1 FROM hosts AS other WHERE other.shared_address = hosts.shared_address
            AND other.shared_address <> '' AND other.leased > 0))
      AND (:min_rank < -1e300
           OR EXISTS (SELECT 1 FROM queue WHERE queue.host = hosts.id AND queue.rank >= :min_rank))
    ORDER BY next_request_at LIMIT :most
"""


def find_ready_hosts(
    db: Connection,
    politeness: Politeness,
    preference: HostPreference,
    workers: Sequence[str],
    now: float,
    min_rank: float = -inf,
) -> list[ReadyHost]:
    """Return the ready hosts for these workers, best first, without two at the same address."""
    parameters = {
        "now": now,
        "min_rank": min_rank,
        "proxied": int(politeness.uses_proxy),
        "shared": int(politeness.allows_sharing),
        "batch": MIGRANT_BATCH if politeness.migrant_hosts else politeness.get_max_in_flight(),
        "most": HOSTS_PER_WORKER * len(workers),  # those ready longest, so that no host starves
    }
    holders = {f"holder_{chr(97 + n // 26)}{chr(97 + n % 26)}": name for n, name in enumerate(workers)}
    found: list[ReadyHost] = []
    places: set[str] = set()
    for row in db.execute(SELECT_READY_HOSTS.format(able=",".join(f":{key}" for key in holders)), parameters | holders):
        id_, name, place, leased, holder, robots_until, waiting, visited, pause, best = row
        if place and not politeness.allows_sharing and place in places:
            continue
        places.add(place)
        shared = politeness.allows_sharing and robots_until > now and not pause
        bonus = compute_rank_bonus(preference, waiting, visited)
        assigned = "" if shared or not leased else holder
        found.append(
            ReadyHost(
                id_, Host(name), place, assigned, shared, waiting, leased, best_rank=best or 0.0, rank_bonus=bonus
            )
        )
    # Of equal ranks the longest queue first: started late, it would finish last.
    return sorted(found, key=lambda host: (host.best_rank - host.rank_bonus, -host.queued))


def compute_rank_bonus(preference: HostPreference, queued: int, visited: int) -> float:
    if preference is HostPreference.LARGEST:
        return 1e9 * queued
    return log((visited + queued) / max(1, visited)) if preference is HostPreference.UNSEEN else 0.0


def assign_shares_by_rank(
    db: Connection, hosts: Sequence[ReadyHost], limit: int, min_share: int, get_capacity: HostCapacity | None
) -> list[ReadyHost]:
    """Give each host its share of the best URLs: at least `min_share`, at most its capacity."""
    ranked: list[tuple[float, int, int]] = []  # ties: the host with fewer so far, so that all stay busy
    for number, host in enumerate(hosts):
        sql = "SELECT rank FROM queue WHERE host = ? ORDER BY rank LIMIT ?"
        capacity = max(0, get_capacity(host.host) - host.leased) if get_capacity else MAX_RANKED_URLS
        ranks = db.execute(sql, (host.id, min(limit, MAX_RANKED_URLS, capacity)))
        ranked += [(-inf if n < min_share else rank - host.rank_bonus, n, number) for n, (rank,) in enumerate(ranks)]
    ranked.sort()
    shares = Counter(number for _, _, number in ranked[:limit])
    return [replace(hosts[number], share=share) for number, share in shares.items()]


def assign_equal_shares(hosts: Sequence[ReadyHost], limit: int) -> list[ReadyHost]:
    """Give every host an equal share of the limit, but at least 1."""
    return [replace(host, share=max(1, limit // len(hosts))) for host in hosts]
