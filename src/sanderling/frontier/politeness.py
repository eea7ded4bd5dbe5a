"""How fast one host may be asked, and how much of it may be in one migrant's hands. Pure."""

from msgspec import Struct

BATCH_SECONDS = 10.0  # work handed out at once to a host that wants pauses
LEASE_SECONDS = 120.0  # a lease lasts this long plus what its itinerary needs
MIGRANT_BATCH = 2000  # stops of one letter to a host beside its web server
NO_ROBOTS_BATCH = 8  # stops at a host whose robots.txt is yet to be read
UNBOUNDED = 2**31
MIN_LEARNED_DELAY = 0.05  # seconds between requests to a host that complains where we kept none
MAX_LEARNED_DELAY = 30.0  # as for a Crawl-delay
DELAY_HALF_LIFE_SECONDS = (
    1800.0  # without a complaint, then the pause is tried with half its length; as StormCrawler forgives
)


def increase_delay(delay: float) -> float:
    """Give the pause that a host may bear which complained while we kept this one."""
    return min(max(2 * delay, MIN_LEARNED_DELAY), MAX_LEARNED_DELAY)


def decay_delay(delay: float, elapsed_seconds: float) -> float:
    """Give what is left of a pause that complaints taught after so much time without one."""
    left = delay * 0.5 ** (max(0.0, elapsed_seconds) // DELAY_HALF_LIFE_SECONDS)
    return left if left >= MIN_LEARNED_DELAY else 0.0


class Politeness(Struct, frozen=True):
    """How fast one host may be asked."""

    delay_seconds: float = 1.0
    connections: int = 1  # for one migrant
    allows_sharing: bool = False  # may several migrants hold the host at once?
    max_batch_size: int = 64  # most stops of one itinerary
    uses_proxy: bool = False  # names are resolved by a proxy, not by us
    lease_seconds: float = LEASE_SECONDS
    migrant_hosts: frozenset[str] = frozenset()  # sites fetched beside their server now: its owner sets the pace

    def get_max_in_flight(self, crawl_delay: float = 0.0) -> int:
        """Stops of one host that may be in one migrant's hands; `pause` is what its robots.txt asks for."""
        if (delay := max(self.delay_seconds, crawl_delay)) > 0:
            return max(1, min(self.max_batch_size, int(BATCH_SECONDS / delay)))
        return UNBOUNDED

    def compute_batch_size(self, host: str, leased: int, has_robots: bool, crawl_delay: float) -> int:
        """Stops of the next itinerary to a host of which so many URLs are in somebody's hands."""
        if host in self.migrant_hosts:
            return MIGRANT_BATCH
        if self.delay_seconds > 0 or crawl_delay > 0:
            return self.get_max_in_flight(crawl_delay) - leased
        return self.max_batch_size if has_robots else min(self.max_batch_size, NO_ROBOTS_BATCH)

    def get_delay(self, host: str, learned_delay: float = 0.0) -> float:
        """Seconds between two requests to a host, as far as we decide it; `learned` is what its complaints taught."""
        return 0.0 if host in self.migrant_hosts else max(self.delay_seconds, learned_delay)

    def compute_lease_seconds(self, host: str, task_count: int, crawl_delay: float) -> float:
        """Seconds that the leases of an itinerary last."""
        return self.lease_seconds + task_count * (max(self.get_delay(host), crawl_delay) + 1)
