"""From host names to addresses: asked in threads, pinned with the host; a host that leads inside is refused."""

from concurrent.futures import Future, ThreadPoolExecutor

from sanderling.clock import Clock
from sanderling.crawl.context import House
from sanderling.db.connection import transaction
from sanderling.fetch.address_guard import only_global
from sanderling.fetch.dns import Answer, Resolver
from sanderling.frontier.hosts import Unresolved
from sanderling.models import Reason, State
from sanderling.storage.signal_log import Signal
from sanderling.urls.normalize import hostname

WAIT_SECONDS = 2.0  # before a name that was not found is asked for again
MOST_AT_ONCE = 32


class Naming:
    """Resolves the hosts of one crawl."""

    def __init__(self, house: House, resolver: Resolver, *, allow_private: bool, clock: Clock) -> None:
        self.house = house
        self.resolver = resolver
        self.allow_private = allow_private
        self.clock = clock
        self.resolving: dict[int, Future[Answer]] = {}

    def look_up(self, pool: ThreadPoolExecutor) -> None:
        """Ask for the addresses of hosts that have none, and take in what was answered."""
        if self.house.queue.pace.proxied:
            return
        now = self.clock()
        for host, future in list(self.resolving.items()):
            if future.done():
                del self.resolving[host]
                self._resolved(host, future.result(), now)
        if len(self.resolving) < MOST_AT_ONCE:
            for new in self.house.hosts.unresolved(now, MOST_AT_ONCE):
                if new.id not in self.resolving:
                    self.house.log.signal(Signal.TO_MAP, 1, new.name)
                    self.resolving[new.id] = pool.submit(self.resolver.lookup, hostname(new.name))
                    self._settle(new, now)

    def _settle(self, new: Unresolved, now: float) -> None:
        """An answer from the cache needs no waiting."""
        future = self.resolving[new.id]
        if future.done():
            del self.resolving[new.id]
            self._resolved(new.id, future.result(), now)

    def _resolved(self, host: int, answer: Answer, now: float) -> None:
        hosts = self.house.hosts
        addresses = answer.addresses if self.allow_private else only_global(answer.addresses)
        with transaction(self.house.db):
            if addresses:
                hosts.locate(host, addresses, answer.expires_at)
                self.house.log.signal(Signal.INITIALIZE, 1, " ".join(addresses))
            elif answer.addresses:
                self._condemn(host, Reason.PRIVATE_ADDRESS, State.SKIPPED, " ".join(answer.addresses))
            elif hosts.not_found(host, now, WAIT_SECONDS):
                self._condemn(host, Reason.DNS, State.FAILED, answer.note)

    def _condemn(self, host: int, reason: Reason, state: State, note: str) -> None:
        count = self.house.hosts.condemn(host, reason, state, note)
        self.house.counts["lost" if state is State.FAILED else "passed_over"] += count
        (name,) = self.house.db.execute("SELECT name FROM hosts WHERE id = ?", (host,)).fetchone()
        self.house.judge.condemned[name] = reason
