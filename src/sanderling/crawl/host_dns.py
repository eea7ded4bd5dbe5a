"""Resolve host names in background threads. Hosts with only private addresses are given up."""

from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

from sanderling.clock import Clock
from sanderling.crawl.context import CrawlContext
from sanderling.db.connection import transaction
from sanderling.fetch.address_guard import filter_global
from sanderling.fetch.dns import DnsAnswer, DnsResolver
from sanderling.frontier.hosts import UnresolvedHost
from sanderling.models import Reason
from sanderling.storage.signal_log import Signal
from sanderling.urls.normalize import get_hostname

RETRY_SECONDS = 2.0  # before a failed lookup is repeated
MAX_CONCURRENT_LOOKUPS = 32


class PendingLookup(NamedTuple):
    host: UnresolvedHost
    answer: Future[DnsAnswer]


class HostResolver:
    def __init__(self, context: CrawlContext, resolver: DnsResolver, *, allow_private: bool, clock: Clock) -> None:
        self.context = context
        self.resolver = resolver
        self.allow_private = allow_private
        self.clock = clock
        self.pending_lookups: dict[int, PendingLookup] = {}  # by host id

    def resolve_hosts(self, pool: ThreadPoolExecutor) -> None:
        """Store finished lookups, and start new ones."""
        if self.context.frontier.politeness.uses_proxy:
            return
        now = self.clock()
        for lookup in list(self.pending_lookups.values()):
            self._take_answer(lookup, now)
        if len(self.pending_lookups) < MAX_CONCURRENT_LOOKUPS:
            for host in self.context.frontier.hosts.find_unresolved(now, MAX_CONCURRENT_LOOKUPS):
                if host.id not in self.pending_lookups:
                    self.context.log.record_signal(Signal.TO_MAP, 1, host.name)
                    answer = pool.submit(self.resolver.lookup, get_hostname(host.name))
                    lookup = self.pending_lookups[host.id] = PendingLookup(host, answer)
                    self._take_answer(lookup, now)  # it may be cached

    def _take_answer(self, lookup: PendingLookup, now: float) -> None:
        if lookup.answer.done():
            del self.pending_lookups[lookup.host.id]
            self._store_answer(lookup.host, lookup.answer.result(), now)

    def _store_answer(self, host: UnresolvedHost, answer: DnsAnswer, now: float) -> None:
        hosts = self.context.frontier.hosts
        addresses = answer.addresses if self.allow_private else filter_global(answer.addresses)
        with transaction(self.context.db):
            if addresses:
                hosts.set_addresses(host.id, addresses, answer.expires_at, now)
                self.context.log.record_signal(Signal.INITIALIZE, 1, " ".join(addresses))
            elif answer.addresses:
                self._give_up_host(host, Reason.PRIVATE_ADDRESS, " ".join(answer.addresses))
            elif hosts.record_dns_failure(host.id, now, RETRY_SECONDS):
                self._give_up_host(host, Reason.DNS, answer.detail)

    def _give_up_host(self, host: UnresolvedHost, reason: Reason, detail: str) -> None:
        self.context.stats.count_dropped(*self.context.frontier.give_up_host(host.id, host.name, reason, detail))
