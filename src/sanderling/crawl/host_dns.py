"""Resolve host names in background threads. Hosts with only private addresses are given up."""

from concurrent.futures import Future, ThreadPoolExecutor

from sanderling.clock import Clock
from sanderling.crawl.context import CrawlContext
from sanderling.db.connection import transaction
from sanderling.fetch.address_guard import filter_global
from sanderling.fetch.dns import DnsAnswer, DnsResolver
from sanderling.frontier.hosts import UnresolvedHost
from sanderling.models import Reason, UrlState
from sanderling.storage.signal_log import Signal
from sanderling.urls.normalize import get_hostname

RETRY_SECONDS = 2.0  # before a failed lookup is repeated
MAX_CONCURRENT_LOOKUPS = 32


class HostResolver:
    def __init__(self, context: CrawlContext, resolver: DnsResolver, *, allow_private: bool, clock: Clock) -> None:
        self.context = context
        self.resolver = resolver
        self.allow_private = allow_private
        self.clock = clock
        self.pending_lookups: dict[int, Future[DnsAnswer]] = {}

    def resolve_hosts(self, pool: ThreadPoolExecutor) -> None:
        """Store finished lookups, and start new ones."""
        if self.context.queue.politeness.uses_proxy:
            return
        now = self.clock()
        for host_id, future in list(self.pending_lookups.items()):
            if future.done():
                del self.pending_lookups[host_id]
                self._store_answer(host_id, future.result(), now)
        if len(self.pending_lookups) < MAX_CONCURRENT_LOOKUPS:
            for host in self.context.hosts.find_unresolved(now, MAX_CONCURRENT_LOOKUPS):
                if host.id not in self.pending_lookups:
                    self.context.crawl_log.record_signal(Signal.TO_MAP, 1, host.name)
                    self.pending_lookups[host.id] = pool.submit(self.resolver.lookup, get_hostname(host.name))
                    self._take_cached_answer(host, now)

    def _take_cached_answer(self, unresolved: UnresolvedHost, now: float) -> None:
        future = self.pending_lookups[unresolved.id]
        if future.done():
            del self.pending_lookups[unresolved.id]
            self._store_answer(unresolved.id, future.result(), now)

    def _store_answer(self, host_id: int, answer: DnsAnswer, now: float) -> None:
        hosts = self.context.hosts
        addresses = answer.addresses if self.allow_private else filter_global(answer.addresses)
        with transaction(self.context.db):
            if addresses:
                hosts.set_addresses(host_id, addresses, answer.expires_at)
                self.context.crawl_log.record_signal(Signal.INITIALIZE, 1, " ".join(addresses))
            elif answer.addresses:
                self._give_up_host(host_id, Reason.PRIVATE_ADDRESS, UrlState.SKIPPED, " ".join(answer.addresses))
            elif hosts.record_dns_failure(host_id, now, RETRY_SECONDS):
                self._give_up_host(host_id, Reason.DNS, UrlState.FAILED, answer.detail)

    def _give_up_host(self, host_id: int, reason: Reason, state: UrlState, detail: str) -> None:
        count = self.context.hosts.give_up(host_id, reason, state, detail)
        self.context.stats["lost" if state is UrlState.FAILED else "passed_over"] += count
        (name,) = self.context.db.execute("SELECT name FROM hosts WHERE id = ?", (host_id,)).fetchone()
        self.context.url_filter.failed_hosts[name] = reason
