"""How fast one host may be asked, and how much of it may be in one migrant's hands. Pure."""

from msgspec import Struct

SPAN_SECONDS = 10.0  # work handed out at once to a host that wants pauses
TERM_SECONDS = 120.0  # a lease lasts this long plus what its itinerary needs
NEAR_BATCH = 2000  # stops of one letter to a host beside its web server
UNKNOWN_BATCH = 8  # stops at a host whose robots.txt is yet to be read
UNBOUNDED = 2**31
FIRST_PAUSE = 0.05  # seconds between requests to a host that complains where we kept none
LONGEST_PAUSE = 30.0  # as for a Crawl-delay
QUIET_SECONDS = 1800.0  # without a complaint, then the pause is tried with half its length; as StormCrawler forgives


def slowed(pause: float) -> float:
    """Give the pause that a host may bear which complained while we kept this one."""
    return min(max(2 * pause, FIRST_PAUSE), LONGEST_PAUSE)


def eased(pause: float, quiet_seconds: float) -> float:
    """Give what is left of a pause that complaints taught after so much time without one."""
    left = pause * 0.5 ** (max(0.0, quiet_seconds) // QUIET_SECONDS)
    return left if left >= FIRST_PAUSE else 0.0


class Pace(Struct, frozen=True):
    """How fast one host may be asked."""

    delay_seconds: float = 1.0
    connections: int = 1  # for one migrant
    shared: bool = False  # may several migrants hold the host at once?
    batch: int = 64  # most stops of one itinerary
    proxied: bool = False  # names are resolved by a proxy, not by us
    term_seconds: float = TERM_SECONDS
    near: frozenset[str] = frozenset()  # sites fetched beside their server now: its owner sets the pace

    def most(self, pause: float = 0.0) -> int:
        """Stops of one host that may be in one migrant's hands; `pause` is what its robots.txt asks for."""
        if (delay := max(self.delay_seconds, pause)) > 0:
            return max(1, min(self.batch, int(SPAN_SECONDS / delay)))
        return UNBOUNDED

    def size(self, host: str, leased: int, robots_known: bool, pause: float) -> int:
        """Stops of the next itinerary to a host of which so many URLs are in somebody's hands."""
        if host in self.near:
            return NEAR_BATCH
        if self.delay_seconds > 0 or pause > 0:
            return self.most(pause) - leased
        return self.batch if robots_known else min(self.batch, UNKNOWN_BATCH)

    def delay(self, host: str, learned: float = 0.0) -> float:
        """Seconds between two requests to a host, as far as we decide it; `learned` is what its complaints taught."""
        return 0.0 if host in self.near else max(self.delay_seconds, learned)

    def term(self, host: str, stops: int, pause: float) -> float:
        """Seconds that the leases of an itinerary last."""
        return self.term_seconds + stops * (max(self.delay(host), pause) + 1)
