"""Which page first: the seam behind `--order`. One ordering is one small file in `orderings/`.

An ordering gives a new URL its rank (smaller is sooner), learns from each stored page, and now and then says which
waiting URLs gained by what it learned. It sees values only; the queue moves the rows. What it remembers of URLs lies in
tallies of a few bytes each, so its memory is bounded, and a crawl that was killed learns it again from stored pages.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

from sanderling.frontier.ordering.score_table import Sums
from sanderling.models import Link, Url

LEARN_PAGES = 2_000  # pages between two looks at the gains, at most: what is moved costs more the more is waiting
LEARN_LEAST = 16  # and at least: a small crawl learns as early as a large one
LEARN_SHARE = 10  # a tenth of the crawl so far
EARLY_PAGES = 120  # of a focused crawl: each is chosen by all that is known so far
ARRANGED = 200_000  # pages whose links are looked at together, when all are visited again
NEVER = float("inf")  # the rank of a URL that is not wanted


class Finding(Struct, frozen=True, gc=False):
    """A URL somebody just found: what an ordering may judge it by before it was ever visited."""

    url: Url
    depth: int
    page: int = 0  # id of the page it was found on; 0 for none
    turn: int = 0  # fencing token of that page's lease: it only grows
    links: int = 1  # of that page
    back: int = 1  # pages of this batch that link to it, for orderings that count them
    is_seed: bool = False  # the page is a seed
    relevance: float = 0.0  # of that page, in a focused crawl
    promise: float = 0.0  # what the words of the link and those around it say, in a focused crawl
    priority: float = 0.5  # what a sitemap said


class Lesson(Struct, frozen=True, gc=False):
    """A stored page with its links: what an ordering learns from."""

    page: int
    url: Url
    targets: Sequence[int]  # ids
    rank: float = 0.0  # the page's own, when it was leased
    is_seed: bool = False
    relevance: float = 0.0
    promises: Sequence[float] = ()  # of the links, in their order; empty if the crawl has no topic
    title: str = ""
    structure: bytes = b""  # the signature of how the page is built
    links: Iterable[tuple[int, Link]] = ()  # the links themselves, with the ids of their targets
    kept: bool = False  # it did not come home: a migrant keeps it


LinksOf = Callable[[int], Sequence[int]]
"""The links of a stored page, as ids; none if it is not stored."""


class Favour(StrEnum):
    """Which host goes first where several may be asked."""

    BEST = "best"  # the one with the best URL
    UNSEEN = "unseen"  # the same, and the less is seen of a host, the more its URLs may be worth
    LARGEST = "largest"  # the one with most URLs waiting


class Ordering(Protocol):
    """What the pipeline asks of an ordering; one that learns nothing leaves all but `rank` as they are."""

    favour: Favour = Favour.BEST
    is_focused: bool = False  # it wants the topic of the crawl
    is_eager: bool = False  # it learns from every page: little is to be in hand, and what waits is moved at once
    counts_back: bool = False  # it wants to know how many pages link to a new URL
    heeds_owners: bool = False  # what a sitemap says of a URL moves it
    compares: bool = True  # what waits can be told from what is stored by rank

    def rank(self, findings: Sequence[Finding]) -> Sequence[float]:
        """The places of new URLs that were found together; smaller is sooner, NEVER is not at all."""

    def learn(self, lesson: Lesson) -> None:  # noqa: ARG002 for those who learn
        """A page was stored."""
        return

    def gains(self) -> Mapping[int, float]:
        """By how much waiting URLs moved forward since the last time this was asked."""
        return {}

    def told(self, more: Mapping[int, float]) -> Mapping[int, float]:  # noqa: ARG002 for those who listen to owners
        """By how much waiting URLs move forward, of which a sitemap now says so much more, or less, than before."""
        return {}

    def again(self, url: int, depth: int) -> float:  # noqa: ARG002 for those who remember
        """The place of a URL that is known already: at a new session, or after another ordering."""
        return float(depth)

    def arrange(self, known: Sequence[tuple[int, int]], links: LinksOf) -> Sequence[float]:  # noqa: ARG002
        """The places of URLs, with their depths, that are all to be visited again; `links` gives those of a page."""
        return [self.again(url, depth) for url, depth in known]

    def keeps(self, url: int, depth: int, relevance: float) -> float:  # noqa: ARG002 for those who know more
        """The place of a page in a collection of limited size, as `rank` counts; the last leave it."""
        return self.again(url, depth)

    def tallies(self) -> Mapping[str, Sums]:
        """What it remembers of URLs, by name."""
        return {}
