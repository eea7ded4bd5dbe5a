"""Which page first: the seam behind `--order`. One ordering is one small file in `orderings/`.

An ordering gives a new URL its rank (smaller is sooner), learns from each stored page, and now and then says which
waiting URLs gained by what it learned. It sees values only; the queue moves the rows. What it remembers of URLs lies in
tallies of a few bytes each, so its memory is bounded, and a crawl that was killed learns it again from stored pages.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

from sanderling.frontier.ordering.score_table import SumTable
from sanderling.models import Link, Url

MAX_RERANK_INTERVAL = (
    2_000  # pages between two looks at the gains, at most: what is moved costs more the more is waiting
)
MIN_RERANK_INTERVAL = 16  # and at least: a small crawl learns as early as a large one
RERANK_INTERVAL_DIVISOR = 10  # a tenth of the crawl so far
EAGER_PAGES = 120  # of a focused crawl: each is chosen by all that is known so far
MAX_RANKED_TOGETHER = 200_000  # pages whose links are looked at together, when all are visited again
INFINITE_RANK = float("inf")  # the rank of a URL that is not wanted


class FoundUrl(Struct, frozen=True, gc=False):
    """A URL somebody just found: what an ordering may judge it by before it was ever visited."""

    url: Url
    depth: int
    source_id: int = 0  # id of the page it was found on; 0 for none
    source_token: int = 0  # fencing token of that page's lease: it only grows
    source_links: int = 1  # of that page
    backlinks: int = 1  # pages of this batch that link to it, for orderings that count them
    is_source_seed: bool = False  # the page is a seed
    source_relevance: float = 0.0  # of that page, in a focused crawl
    topic_score: float = 0.0  # what the words of the link and those around it say, in a focused crawl
    priority: float = 0.5  # what a sitemap said


class CrawledPage(Struct, frozen=True, gc=False):
    """A stored page with its links: what an ordering learns from."""

    id: int
    url: Url
    target_ids: Sequence[int]  # ids
    rank: float = 0.0  # the page's own, when it was leased
    is_seed: bool = False
    relevance: float = 0.0
    topic_scores: Sequence[float] = ()  # of the links, in their order; empty if the crawl has no topic
    title: str = ""
    structure_fingerprint: bytes = b""  # the signature of how the page is built
    links: Iterable[tuple[int, Link]] = ()  # the links themselves, with the ids of their targets
    is_parked: bool = False  # it did not come home: a migrant keeps it


LinkLookup = Callable[[int], Sequence[int]]
"""The links of a stored page, as ids; none if it is not stored."""


class HostPreference(StrEnum):
    """Which host goes first where several may be asked."""

    BEST = "best"  # the one with the best URL
    UNSEEN = "unseen"  # the same, and the less is seen of a host, the more its URLs may be worth
    LARGEST = "largest"  # the one with most URLs waiting


class Ordering(Protocol):
    """What the pipeline asks of an ordering; one that learns nothing leaves all but `rank` as they are."""

    host_preference: HostPreference = HostPreference.BEST
    is_focused: bool = False  # it wants the topic of the crawl
    is_eager: bool = False  # it learns from every page: little is to be in hand, and what waits is moved at once
    needs_backlinks: bool = False  # it wants to know how many pages link to a new URL
    uses_sitemap_priority: bool = False  # what a sitemap says of a URL moves it
    has_comparable_ranks: bool = True  # what waits can be told from what is stored by rank

    def rank(self, found_urls: Sequence[FoundUrl]) -> Sequence[float]:
        """The places of new URLs that were found together; smaller is sooner, NEVER is not at all."""

    def learn(self, crawled_page: CrawledPage) -> None:  # noqa: ARG002 for those who learn
        """A page was stored."""
        return

    def pop_rank_gains(self) -> Mapping[int, float]:
        """By how much waiting URLs moved forward since the last time this was asked."""
        return {}

    def compute_sitemap_gains(self, priority_changes: Mapping[int, float]) -> Mapping[int, float]:  # noqa: ARG002 for those who listen to owners
        """By how much waiting URLs move forward, of which a sitemap now says so much more, or less, than before."""
        return {}

    def rank_known(self, url_id: int, depth: int) -> float:  # noqa: ARG002 for those who remember
        """The place of a URL that is known already: at a new session, or after another ordering."""
        return float(depth)

    def rank_all(self, known_urls: Sequence[tuple[int, int]], get_links: LinkLookup) -> Sequence[float]:  # noqa: ARG002
        """The places of URLs, with their depths, that are all to be visited again; `links` gives those of a page."""
        return [self.rank_known(url, depth) for url, depth in known_urls]

    def rank_for_retention(self, url_id: int, depth: int, relevance: float) -> float:  # noqa: ARG002 for those who know more
        """The place of a page in a collection of limited size, as `rank` counts; the last leave it."""
        return self.rank_known(url_id, depth)

    def get_score_tables(self) -> Mapping[str, SumTable]:
        """What it remembers of URLs, by name."""
        return {}
