"""Bonus for the first links of new hosts, since relevance on other hosts predicts nothing about a new host.

Without it a focused crawl stays at the first host with slightly relevant pages. The bonus is the mean relevance of
first pages on new hosts so far: it starts high and falls with each irrelevant host, so a crawl of many sites spends
little on exploration.
"""

from sanderling.models import Url

LINKS_PER_NEW_HOST = 3
EXPECTED_RELEVANCE = 0.3  # prior mean relevance of a new host
PRIOR_HOSTS = 3  # hosts that the prior counts for
MAX_HOSTS = 100_000  # beyond, no host counts as new


class NewHostBonus:
    """Counts links tried per host and the relevance of the first page of each."""

    def __init__(self) -> None:
        self.link_counts: dict[str, int] = {}
        self.host_count = PRIOR_HOSTS
        self.relevance_sum = PRIOR_HOSTS * EXPECTED_RELEVANCE
        self.pending_hosts: set[str] = set()

    def compute_bonus(self, url: Url) -> float:
        """Count a link and return its rank bonus: positive for the first links of a new host, else 0."""
        host = url.split("/", 3)[2]
        tried = self.link_counts.get(host, 0)
        if tried >= LINKS_PER_NEW_HOST or (not tried and len(self.link_counts) >= MAX_HOSTS):
            return 0.0
        self.link_counts[host] = tried + 1
        self.pending_hosts.add(host)
        return self.relevance_sum / self.host_count

    def record_page(self, url: Url, relevance: float) -> None:
        """Update the expected relevance with the first stored page of a new host."""
        if not self.pending_hosts:
            return
        host = url.split("/", 3)[2]
        if host in self.pending_hosts:
            self.pending_hosts.discard(host)
            self.host_count += 1
            self.relevance_sum += relevance
