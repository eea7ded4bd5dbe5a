"""Frontier of a crawl: the known URLs, their queue and leases, and the hosts.

    enqueue -> queued -> lease -> leased -> complete -> visited, skipped, failed or gone
                 ^                              |
                 +---------- requeue -----------+

The tables `urls`, `queue`, `leases` and `hosts` are written only in this package. What concerns one part is a method of
that part (`url_store`, `url_filter`, `queue`, `hosts`); what must stay consistent between parts is a method here. The
caller holds the transaction. Visited pages are queued again when they are due by `crawl/queue_refill.py`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from sanderling.db.connection import Connection
from sanderling.frontier import requeue
from sanderling.frontier.eviction import CollectionLimit
from sanderling.frontier.host_quota import HostQuota
from sanderling.frontier.hosts import HostStore, get_failed_host_state
from sanderling.frontier.known_url import KnownUrl
from sanderling.frontier.leases import Lease, LeaseOutcome
from sanderling.frontier.ordering.protocol import HostPreference
from sanderling.frontier.politeness import UNBOUNDED, Politeness
from sanderling.frontier.queue import UrlQueue
from sanderling.frontier.ready_hosts import HostCapacity, ReadyHost
from sanderling.frontier.shard_links import ForeignLink, ShardIdentity, ShardLinks
from sanderling.frontier.url_cache import UrlCache
from sanderling.frontier.url_filter import UrlFilter
from sanderling.frontier.url_rows import UrlRow, load_url_rows
from sanderling.frontier.url_store import FrontierEntry, UrlStore
from sanderling.models import CandidateUrl, FetchBatch, Host, Reason, Url, UrlState

ORPHAN_SECONDS = 1.0  # in which workers of a dead coordinator notice it


class Frontier:
    """Decides what is fetched next, and records how each fetch ends."""

    def __init__(
        self,
        db: Connection,
        url_filter: UrlFilter,
        politeness: Politeness,
        host_preference: HostPreference = HostPreference.BEST,
        *,
        url_cache: UrlCache | None = None,
        max_pages_per_host: int = 0,
        max_pages: int = 0,
        shard: ShardIdentity | None = None,
    ) -> None:
        self.db = db
        self.url_filter = url_filter
        self.shard_links = ShardLinks(db, shard) if shard else None  # None: not a shard of a set
        self.url_store = UrlStore(db, url_cache, shard_links=self.shard_links)
        self.hosts = HostStore(db)
        self.quota = HostQuota(db, max_pages_per_host) if max_pages_per_host else None  # None: no limit per host
        self.queue = UrlQueue(db, politeness, host_preference, self.quota)
        self.collection_limit = CollectionLimit(db, max_pages) if max_pages else None  # None: no limit
        if self.quota is not None:
            url_filter.full_hosts.update(self.quota.find_full_hosts())

    @property
    def politeness(self) -> Politeness:
        return self.queue.politeness

    def begin_run(self, now: float) -> None:
        """Requeue the leases of an earlier run, and reset hosts that it gave up."""
        self.delay_leased_hosts(now + ORPHAN_SECONDS)
        self.queue.release_all_leases()
        self.reset_hosts()
        self.hosts.repair_clock(now, self.politeness.delay_seconds)

    def delay_leased_hosts(self, now: float, worker: str | None = None) -> None:
        """Wait for the crawl delay before requests to hosts that a lost worker may just have requested. None: all."""
        sql = "SELECT id, crawl_delay, learned_delay, name FROM hosts WHERE id IN (SELECT host FROM leases{})"
        where = "" if worker is None else " WHERE worker = ?"
        for host, pause, learned, name in self.db.execute(sql.format(where), (worker,) if worker else ()).fetchall():
            if delay := max(self.politeness.get_delay(name, learned), pause):
                self.hosts.delay_address(host, now + delay, Reason.NONE)

    def load_rows(self, url_ids: Sequence[int]) -> dict[int, UrlRow]:
        return load_url_rows(self.db, url_ids)

    def enqueue(self, entries: Sequence[FrontierEntry], now: float) -> dict[Url, int]:
        """Insert new URLs, and queue those that the filter admitted; return their ids."""
        self.url_filter.repeated_content.record_leads(entries)
        return self.url_store.insert_and_enqueue(entries, now)

    def is_foreign(self, url: Url) -> bool:
        """Return whether another shard owns a URL."""
        return self.shard_links is not None and self.shard_links.is_foreign(url)

    def send_foreign(self, links: Sequence[ForeignLink], known: Mapping[Url, int], now: float) -> dict[Url, int]:
        """Send URLs to the shards that own them; return ids for those that are not in `known` (URL to id)."""
        if self.shard_links is None or not links:
            return {}
        new = {link.url: link.known_depth for link in links if link.url not in known}
        ids = self.url_store.allocate_foreign_ids(new)
        for link in links:
            if link.url in known:
                self.url_store.cache_known_url(link.url, KnownUrl(known[link.url], link.known_depth))
        self.shard_links.record_sent(links, {**known, **ids})
        self.shard_links.send(links, now)
        return ids

    def find_ready_hosts(
        self, workers: Sequence[str], now: float, limit: int = UNBOUNDED, get_capacity: HostCapacity | None = None
    ) -> list[ReadyHost]:
        """Return the hosts whose crawl delay has passed, best first, with the share of each."""
        return self.queue.find_ready_hosts(workers, now, limit, get_capacity)

    def lease(self, ready_host: ReadyHost, worker: str, limit: int, now: float) -> FetchBatch | None:
        """Lease the best URLs of a ready host to a worker; None: none is ready."""
        return self.queue.lease_host(ready_host, worker, limit, now)

    def find_held_leases(self, tokens: Sequence[tuple[int, int]]) -> dict[int, Lease]:
        """Return the leases that these (URL id, token) pairs still hold."""
        return self.queue.find_held_leases(tokens)

    def complete(self, outcomes: Sequence[LeaseOutcome]) -> None:
        """End leases: each URL gets its final state, or is queued again."""
        self.queue.complete_leases(outcomes)

    def requeue(self, url_ids: Iterable[int], rank: float = 0.0) -> None:
        """Queue known pages for a revisit, in this order; duplicates are queued once."""
        requeue.requeue_pages(self.db, url_ids, rank)

    def promote_requisites(self, candidates: Mapping[int, CandidateUrl]) -> None:
        """Queue page requisites, given by their ids, that were skipped as pages."""
        requeue.promote_requisites(self.db, candidates)

    def rerank(self, get_rank: Callable[[int, int], float]) -> None:
        """Rank all queued pages again; `get_rank` maps URL id and depth to a rank."""
        requeue.rerank_queued_pages(self.db, get_rank)

    def delay_url(self, url_id: int, ready_at: float) -> None:
        """Do not request a queued URL before this time."""
        self.db.execute("UPDATE queue SET ready_at = ? WHERE url = ?", (ready_at, url_id))

    def raise_ranks(self, gains: Mapping[int, float]) -> None:
        """Raise the rank of queued URLs; URLs no longer queued are ignored."""
        self.queue.apply_rank_gains(gains)

    def delay_host(self, host_id: int, until: float, reason: Reason, *, with_address: bool = False) -> None:
        """Send no request to a host before this time; `with_address`: nor to other hosts at its address."""
        if with_address:
            self.hosts.delay_address(host_id, until, reason)
        else:
            self.hosts.delay_host(host_id, until, reason)

    def give_up_host(self, host_id: int, host: Host, reason: Reason, detail: str = "") -> tuple[UrlState, int]:
        """Give up a host for this session, and reject new URLs of it.

        Returns the final state of its queued URLs and their number.
        """
        self.url_filter.failed_hosts[host] = reason
        state = get_failed_host_state(reason)
        return state, self.hosts.give_up(host_id, reason, state, detail)

    def reset_hosts(self) -> None:
        """Reset every given-up host; a requested Retry-After still applies."""
        self.hosts.reset_failed_hosts()
        self.url_filter.failed_hosts.clear()

    def count_page(self, host_id: int, host: Host) -> int:
        """Count a new page of a host; return how many queued URLs its page limit dropped."""
        if self.quota is None or not self.quota.add_page(host_id):
            return 0
        self.url_filter.full_hosts.add(host)
        return self.quota.drop_queued(host_id)
