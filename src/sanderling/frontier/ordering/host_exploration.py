"""Hosts nobody has seen: their first links are tried, since no word of another host tells what is there.

Without it a focused crawl stays at the first host that speaks a little of its topic. What a newcomer may be worth is
learned: it begins high, and falls with each one that had nothing to say, so that a crawl of many sites spends little.
"""

from sanderling.models import Url

LINKS_PER_NEW_HOST = 3  # links of a new host
EXPECTED_RELEVANCE = 0.3  # relevance that is expected of the first newcomers
PRIOR_HOSTS = 3  # newcomers that expectation counts for
MAX_HOSTS = 100_000  # remembered; after that nobody is new


class NewHostBonus:
    """Counts how often the links of each host were tried, and how that went."""

    def __init__(self) -> None:
        self.link_counts: dict[str, int] = {}
        self.host_count = PRIOR_HOSTS
        self.relevance_sum = PRIOR_HOSTS * EXPECTED_RELEVANCE
        self.pending_hosts: set[str] = set()

    def compute_bonus(self, url: Url) -> float:
        """What to add to the rank of a new URL: something for the first links of a new host, else nothing."""
        host = url.split("/", 3)[2]
        tried = self.link_counts.get(host, 0)
        if tried >= LINKS_PER_NEW_HOST or (not tried and len(self.link_counts) >= MAX_HOSTS):
            return 0.0
        self.link_counts[host] = tried + 1
        self.pending_hosts.add(host)
        return self.relevance_sum / self.host_count

    def record_page(self, url: Url, relevance: float) -> None:
        """A page was stored: if it is the first of its host, it says what newcomers are worth."""
        if not self.pending_hosts:
            return
        host = url.split("/", 3)[2]
        if host in self.pending_hosts:
            self.pending_hosts.discard(host)
            self.host_count += 1
            self.relevance_sum += relevance
