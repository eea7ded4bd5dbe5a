"""Hosts nobody has seen: their first links are tried, since no word of another host tells what is there.

Without it a focused crawl stays at the first host that speaks a little of its topic. What a newcomer may be worth is
learned: it begins high, and falls with each one that had nothing to say, so that a crawl of many sites spends little.
"""

from sanderling.models import Url

TRIED = 3  # links of a new host
HOPED = 0.3  # relevance that is expected of the first newcomers
PRIOR = 3  # newcomers that expectation counts for
MOST_HOSTS = 100_000  # remembered; after that nobody is new


class Newcomers:
    """Counts how often the links of each host were tried, and how that went."""

    def __init__(self) -> None:
        self.tried: dict[str, int] = {}
        self.came = PRIOR
        self.brought = PRIOR * HOPED
        self.expected: set[str] = set()

    def worth(self, url: Url) -> float:
        """What to add to the rank of a new URL: something for the first links of a new host, else nothing."""
        host = url.split("/", 3)[2]
        tried = self.tried.get(host, 0)
        if tried >= TRIED or (not tried and len(self.tried) >= MOST_HOSTS):
            return 0.0
        self.tried[host] = tried + 1
        self.expected.add(host)
        return self.brought / self.came

    def came_home(self, url: Url, relevance: float) -> None:
        """A page was stored: if it is the first of its host, it says what newcomers are worth."""
        if not self.expected:
            return
        host = url.split("/", 3)[2]
        if host in self.expected:
            self.expected.discard(host)
            self.came += 1
            self.brought += relevance
