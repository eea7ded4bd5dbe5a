"""Politeness rules: crawl delay, batch size and lease duration per host. No I/O.

`hosts` stores the delay and back-off of each host; `fetch/host_queue.py` spaces the requests of a batch.
"""

from msgspec import Struct

BATCH_SECONDS = 10.0  # work leased at once for a host with a crawl delay
LEASE_SECONDS = 120.0  # a lease lasts this long plus the expected time of its fetch batch
MIGRANT_BATCH = 2000  # tasks of one batch for a migrant
NO_ROBOTS_BATCH = 8  # tasks for a host whose robots.txt is not fetched yet
UNBOUNDED = 2**31
MIN_LEARNED_DELAY = 0.05  # first delay, in seconds, of a host that rate-limits requests sent without one
MAX_LEARNED_DELAY = 30.0  # same limit as for Crawl-delay in robots.txt
DELAY_HALF_LIFE_SECONDS = 1800.0  # without a rate limit, after which a learned delay is halved; as in StormCrawler


def increase_delay(delay: float) -> float:
    """Return the next longer delay for a host that still rate-limits requests."""
    return min(max(2 * delay, MIN_LEARNED_DELAY), MAX_LEARNED_DELAY)


def decay_delay(delay: float, elapsed_seconds: float) -> float:
    """Return a learned delay after this much time without a rate limit; 0 once it is negligible."""
    decayed = delay * 0.5 ** (max(0.0, elapsed_seconds) // DELAY_HALF_LIFE_SECONDS)
    return decayed if decayed >= MIN_LEARNED_DELAY else 0.0


class Politeness(Struct, frozen=True):
    """Limits for requests to a host."""

    delay_seconds: float = 1.0
    connections: int = 1  # per worker
    allows_sharing: bool = False  # several workers may lease URLs of one host at once
    max_batch_size: int = 64  # tasks of one fetch batch
    uses_proxy: bool = False  # the proxy resolves host names
    lease_seconds: float = LEASE_SECONDS
    migrant_hosts: frozenset[str] = frozenset()  # fetched by a migrant: its operator sets the delay

    def get_max_in_flight(self, crawl_delay: float = 0.0) -> int:
        """Return how many URLs of a host a worker may hold at this robots.txt Crawl-delay."""
        if (delay := max(self.delay_seconds, crawl_delay)) > 0:
            return max(1, min(self.max_batch_size, int(BATCH_SECONDS / delay)))
        return UNBOUNDED

    def compute_batch_size(self, host: str, leased: int, has_robots: bool, crawl_delay: float) -> int:
        """Return the size of the next fetch batch for a host with `leased` URLs in flight."""
        if host in self.migrant_hosts:
            return MIGRANT_BATCH
        if self.delay_seconds > 0 or crawl_delay > 0:
            return self.get_max_in_flight(crawl_delay) - leased
        return self.max_batch_size if has_robots else min(self.max_batch_size, NO_ROBOTS_BATCH)

    def get_delay(self, host: str, learned_delay: float = 0.0) -> float:
        """Return the seconds between requests to a host, not counting its robots.txt Crawl-delay."""
        return 0.0 if host in self.migrant_hosts else max(self.delay_seconds, learned_delay)

    def compute_lease_seconds(self, host: str, task_count: int, crawl_delay: float) -> float:
        return self.lease_seconds + task_count * (max(self.get_delay(host), crawl_delay) + 1)
