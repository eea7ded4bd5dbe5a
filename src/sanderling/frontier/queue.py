"""URL queue: lease the best ready URLs of hosts to workers.

The transaction that grants the leases also decides whether the host may be requested, by the rules of `politeness`.
URLs enter the queue through `frontier.enqueue` and `frontier.requeue`.
"""

from collections.abc import Callable, Mapping, Sequence
from math import inf

from msgspec.structs import replace

from sanderling.db.connection import Connection
from sanderling.frontier import leases
from sanderling.frontier.host_quota import HostQuota
from sanderling.frontier.leases import Lease, LeaseOutcome
from sanderling.frontier.ordering.protocol import HostPreference
from sanderling.frontier.politeness import UNBOUNDED, Politeness
from sanderling.frontier.ready_hosts import (
    EQUAL_SHARE_DIVISOR,
    MAX_MERGED_HOSTS,
    HostCapacity,
    ReadyHost,
    assign_equal_shares,
    assign_shares_by_rank,
    find_ready_hosts,
)
from sanderling.models import FetchBatch, FetchTask, Host, RobotsTxt, Url, UrlRole

HOST_COLUMNS = "addresses, leased, robots_status, robots_body, robots_at, robots_until, crawl_delay, learned_delay"
SELECT_BEST_URLS = """
    SELECT q.rank, q.url, u.path, u.request_url, u.depth, u.hops, u.attempts, u.role, u.losses
    FROM queue AS q JOIN urls AS u ON u.id = q.url
    WHERE q.host = ? AND q.ready_at <= ? AND q.rank >= ? ORDER BY q.rank, q.url LIMIT ?
"""
SELECT_LEASES = "SELECT url, host, rank, token FROM leases"


class UrlQueue:
    """Grants leases on queued URLs and ends them."""

    def __init__(
        self,
        db: Connection,
        politeness: Politeness,
        host_preference: HostPreference = HostPreference.BEST,
        quota: HostQuota | None = None,
    ) -> None:
        self.db = db
        self.politeness = politeness
        self.host_preference = host_preference
        self.quota = quota  # None: no limit per host
        self.can_request: Callable[[str], bool] | None = None  # whether this shard may send requests to an address
        self.min_rank = (
            -inf
        )  # URLs with a smaller rank are not leased: at its page limit a crawl fetches only page requisites
        self.isolated_tokens: dict[str, int] = {}  # worker -> lease it fetches with nothing in parallel

    def set_migrant_hosts(self, hosts: frozenset[Host]) -> None:
        """Set the hosts that migrants fetch now, without a crawl delay of ours."""
        self.politeness = replace(self.politeness, migrant_hosts=hosts)

    def find_ready_hosts(
        self, workers: Sequence[str], now: float, limit: int = UNBOUNDED, get_capacity: HostCapacity | None = None
    ) -> list[ReadyHost]:
        """Return the ready hosts for these workers, best first, with the share of each."""
        found = find_ready_hosts(self.db, self.politeness, self.host_preference, workers, now, self.min_rank)
        if self.can_request is not None and not self.politeness.allows_sharing:
            found = [host for host in found if not host.address or self.can_request(host.address)]
        if len(found) < 2:
            return found
        if self.politeness.delay_seconds > 0:
            return assign_equal_shares(found, limit)
        found = found[:MAX_MERGED_HOSTS]
        even = limit // (EQUAL_SHARE_DIVISOR * len(found)) if self.host_preference is HostPreference.UNSEEN else 0
        return assign_shares_by_rank(self.db, found, limit, even, get_capacity)

    def lease_host(self, ready_host: ReadyHost, worker: str, limit: int, now: float) -> FetchBatch | None:
        """Lease the best ready URLs of a host to a worker.

        None: nothing is ready.
        """
        host, name = ready_host.id, ready_host.host
        row = self.db.execute(f"SELECT {HOST_COLUMNS} FROM hosts WHERE id = ?", (host,)).fetchone()
        addresses, leased, status, body, at, until, pause, learned = row
        robots = RobotsTxt(Host(name), status, body or b"", at, until) if until > now else None
        size = min(limit, self.politeness.compute_batch_size(name, leased, robots is not None, pause))
        if self.quota is not None and self.min_rank == -inf:
            size = min(size, self.quota.count_remaining(host))
        if size <= 0:
            return None
        rows = self.db.execute(SELECT_BEST_URLS, (host, now, self.min_rank, size)).fetchall()
        if not rows:
            self._delay_until_retry(host)
            return None
        token = self.allocate_tokens(len(rows))
        granted = [Lease(r[1], host, r[0], token + n) for n, r in enumerate(rows)]
        leases.acquire_leases(
            self.db, granted, worker, now, now + self.politeness.compute_lease_seconds(name, len(rows), pause)
        )
        tasks = tuple(
            FetchTask(r[1], token + n, Url(name + r[2]), r[3], r[4], r[5], r[6], role=UrlRole(r[7]), losses=r[8])
            for n, r in enumerate(rows)
        )
        address_list = tuple(addresses.split())
        delay = self.politeness.get_delay(name, learned)
        return FetchBatch(Host(name), tasks, address_list, robots, delay, self.politeness.connections)

    def has_queued(self, min_rank: float) -> bool:
        """Return whether a URL with at least this rank is queued."""
        sql = (
            "SELECT 1 FROM hosts WHERE waiting > 0 AND EXISTS (SELECT 1 FROM queue WHERE host = hosts.id AND rank >= ?)"
        )
        return self.db.execute(f"{sql} LIMIT 1", (min_rank,)).fetchone() is not None

    def _delay_until_retry(self, host_id: int) -> None:
        self.db.execute(
            "UPDATE hosts SET next_request_at = coalesce((SELECT min(ready_at) FROM queue"
            " WHERE host = hosts.id), next_request_at)"
            " WHERE id = ?",
            (host_id,),
        )

    def allocate_tokens(self, count: int) -> int:
        """Return the first of `count` new fencing tokens; tokens only grow."""
        row = self.db.execute(
            "INSERT INTO counters VALUES ('token', ?)"
            " ON CONFLICT (name) DO UPDATE SET value = counters.value + ? RETURNING value",
            (count, count),
        ).fetchone()
        return int(row[0]) - count + 1

    def find_held_leases(self, tokens: Sequence[tuple[int, int]]) -> dict[int, Lease]:
        """Return the leases that these (URL id, token) pairs still hold."""
        return leases.find_held_leases(self.db, tokens)

    def complete_leases(self, outcomes: Sequence[LeaseOutcome]) -> None:
        """End leases; see `leases.complete_leases`."""
        leases.complete_leases(self.db, outcomes)

    def apply_rank_gains(self, gains: Mapping[int, float]) -> None:
        """Raise the rank of queued URLs; URLs no longer queued are ignored."""
        self.db.executemany(
            "UPDATE queue SET rank = rank - ? WHERE url = ?", [(gain, url) for url, gain in gains.items()]
        )

    def renew_leases(self, worker: str, now: float) -> None:
        """Extend the leases of a worker after its heartbeat."""
        self.db.execute(
            "UPDATE leases SET until = ? WHERE worker = ? AND until < ?",
            (now + self.politeness.lease_seconds, worker, now + self.politeness.lease_seconds / 2),
        )

    def release_leases(self, worker: str) -> int:
        """Requeue the URLs of a worker that stopped normally; return their number."""
        return self._release(self._find_leases(worker))

    def release_after_crash(self, worker: str) -> tuple[int, int]:
        """Requeue the URLs of a crashed worker; return their number and how many were given up."""
        held = self._find_leases(worker)
        return len(held), leases.release_after_crash(
            self.db, held, self.politeness.connections, self.isolated_tokens.pop(worker, 0)
        )

    def release_all_leases(self) -> int:
        """Requeue every leased URL at startup, when no worker of an earlier run is alive."""
        returned = self._release([Lease(*row) for row in self.db.execute(SELECT_LEASES)])
        self.db.execute("UPDATE hosts SET leased = 0, worker = '' WHERE leased <> 0 OR worker <> ''")
        return returned

    def _find_leases(self, worker: str) -> list[Lease]:
        return [Lease(*row) for row in self.db.execute(f"{SELECT_LEASES} WHERE worker = ?", (worker,))]

    def _release(self, held_leases: Sequence[Lease]) -> int:
        leases.release_leases(self.db, held_leases)
        return len(held_leases)

    def count_queued(self) -> int:
        return int(self.db.execute("SELECT coalesce(sum(waiting), 0) FROM hosts").fetchone()[0])
