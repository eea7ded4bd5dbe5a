"""A URL that a visit refers to, before the URL filter."""

from msgspec import Struct

from sanderling.frontier.ordering.protocol import FoundUrl
from sanderling.frontier.ordering.topic import unpack_relevance
from sanderling.frontier.shard_links import ForeignLink
from sanderling.models import CandidateUrl, Url, UrlRole, UrlSource, Visit

LINK = UrlSource.LINK


class DiscoveredUrl(Struct, frozen=True, gc=False):
    """A URL that a visit refers to."""

    depth: int
    nofollow: bool
    source: UrlSource
    page: Visit
    request_url: str = ""
    topic_score: float = 0.0  # of the anchor text and its context, in a focused crawl
    hops: int = 0
    priority: float = 0.5  # from the sitemap
    role: UrlRole = UrlRole.PAGE
    is_seed: bool = False  # found on a seed page
    link_count: int = 0  # of a page of another shard; 0: see `page`
    relevance: float = 0.0  # likewise
    mass: float = 0.0  # of a link of another shard

    def to_candidate(self, url: Url, rank: float = 0.0) -> CandidateUrl:
        return CandidateUrl(
            url, self.request_url, self.depth, self.source, self.page.id, self.hops, rank, role=self.role
        )

    def to_foreign_link(self, url: Url) -> ForeignLink:
        page = self.page
        return ForeignLink(
            url,
            self.request_url,
            self.depth,
            self.source,
            self.role,
            self.hops,
            self.nofollow,
            self.topic_score,
            self.priority,
            self.is_seed,
            len(page.links),
            get_relevance(page),
            page.url,
        )

    def to_found_url(self, url: Url, backlink_count: int = 1) -> FoundUrl:
        page = self.page
        links = self.link_count or (len(page.links) if self.source is LINK else 1)
        relevance = self.relevance or get_relevance(page)
        return FoundUrl(
            url,
            self.depth,
            page.id,
            page.token,
            links,
            backlink_count,
            self.is_seed,
            relevance,
            self.topic_score,
            self.priority,
            self.mass,
        )


def get_relevance(page: Visit) -> float:
    """Return the topic relevance of a page, 0 in unfocused crawls."""
    packed = page.fingerprints.relevance
    return unpack_relevance(packed) if packed else 0.0
