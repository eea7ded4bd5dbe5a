"""Protocol of crawl orderings: which page is fetched first (`--order`).

An ordering ranks new URLs (smaller is sooner), learns from each stored page, and reports which queued URLs gained rank.
It sees values only; the queue updates rows. Its memory is bounded score tables, which a crash can lose: they are
learned again from stored pages.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

from sanderling.frontier.ordering.score_table import SumTable
from sanderling.models import Link, Url

MAX_RERANK_INTERVAL = 2_000  # pages between two re-rankings: the cost grows with the queue
MIN_RERANK_INTERVAL = 16  # a small crawl learns as early as a large one
RERANK_INTERVAL_DIVISOR = 10  # re-rank after a tenth of the crawl so far
EAGER_PAGES = 120  # first pages of a focused crawl: re-rank after each
MAX_RANKED_TOGETHER = 200_000  # pages whose links `rank_all` considers
INFINITE_RANK = float("inf")  # the URL is not crawled


class FoundUrl(Struct, frozen=True, gc=False):
    """A newly found URL with the properties an ordering may rank it by."""

    url: Url
    depth: int
    source_id: int = 0  # page it was found on; 0: none
    source_token: int = 0  # fencing token of that page's lease; tokens only grow
    source_links: int = 1  # links of that page
    backlinks: int = 1  # pages of this batch that link to it, if `needs_backlinks`
    is_source_seed: bool = False
    source_relevance: float = 0.0  # in a focused crawl
    topic_score: float = 0.0  # of link text and surrounding text, in a focused crawl
    priority: float = 0.5  # from a sitemap
    mass: float = 0.0  # that came with a link from another shard


class CrawledPage(Struct, frozen=True, gc=False):
    """A stored page with its links, from which an ordering learns."""

    id: int
    url: Url
    target_ids: Sequence[int]
    rank: float = 0.0  # of the page when it was leased
    is_seed: bool = False
    relevance: float = 0.0
    topic_scores: Sequence[float] = ()  # per link; empty without a topic
    title: str = ""
    structure_fingerprint: bytes = b""
    links: Iterable[tuple[int, Link]] = ()  # (target id, link)
    is_parked: bool = False  # a worker keeps the page, only its links were reported


LinkLookup = Callable[[int], Sequence[int]]
"""Return the target ids of a page's links; empty if the page is not stored."""


class HostPreference(StrEnum):
    """Which of several ready hosts goes first."""

    BEST = "best"  # the host with the best URL
    UNSEEN = "unseen"  # the same, with a bonus for hosts of which little is fetched
    LARGEST = "largest"  # the host with most queued URLs


class Ordering(Protocol):
    """Interface of an ordering. Only `rank` is required."""

    host_preference: HostPreference = HostPreference.BEST
    is_focused: bool = False  # needs a topic
    is_eager: bool = False  # learns from every page: lease few URLs, re-rank at once
    needs_backlinks: bool = False  # needs FoundUrl.backlinks
    uses_sitemap_priority: bool = False  # a sitemap priority re-ranks the URL
    has_mass: bool = False  # ranks by mass that travels with links, also to other shards
    has_comparable_ranks: bool = True  # ranks of queued URLs and stored pages can be compared

    def rank(self, found_urls: Sequence[FoundUrl]) -> Sequence[float]:
        """Return ranks of URLs that were found together; smaller is sooner, `INFINITE_RANK` is never."""

    def learn(self, crawled_page: CrawledPage) -> None:  # noqa: ARG002
        """Learn from a stored page."""
        return

    def pop_rank_gains(self) -> Mapping[int, float]:
        """Return how much queued URLs gained since the last call, by URL id."""
        return {}

    def get_link_mass(self, rank: float, depth: int) -> float:  # noqa: ARG002
        """Return the mass that a link gives to a new URL of this rank."""
        return 0.0

    def get_gained_mass(self, url_id: int, gain: float) -> float:  # noqa: ARG002
        """Return the mass behind a rank gain that `pop_rank_gains` returned."""
        return 0.0

    def add_mass(self, masses: Mapping[int, float]) -> None:  # noqa: ARG002
        """Add the mass of links from other shards, by URL id."""
        return

    def compute_sitemap_gains(self, priority_changes: Mapping[int, float]) -> Mapping[int, float]:  # noqa: ARG002
        """Return how much queued URLs gain when their sitemap priority changes by these amounts."""
        return {}

    def rank_known(self, url_id: int, depth: int) -> float:  # noqa: ARG002
        """Return the rank of a known URL, at the start of a session or after a change of ordering."""
        return float(depth)

    def rank_all(self, known_urls: Sequence[tuple[int, int]], get_links: LinkLookup) -> Sequence[float]:  # noqa: ARG002
        """Return ranks of (URL id, depth) pairs that are all revisited; `get_links` returns a page's links."""
        return [self.rank_known(url, depth) for url, depth in known_urls]

    def rank_for_retention(self, url_id: int, depth: int, relevance: float) -> float:  # noqa: ARG002
        """Return the rank of a page in a collection of limited size; the largest are evicted."""
        return self.rank_known(url_id, depth)

    def get_score_tables(self) -> Mapping[str, SumTable]:
        """Return the persistent score tables by name."""
        return {}
