"""Queue the URLs that pages of other shards refer to."""

from collections.abc import Sequence

from sanderling.crawl.stages.discovered_url import DiscoveredUrl
from sanderling.crawl.stages.discovered_urls import enqueue_discovered, extend_scope_to
from sanderling.crawl.stages.stage_services import UrlServices
from sanderling.db.connection import transaction
from sanderling.frontier.known_url import unpack_url_id
from sanderling.frontier.shard_links import ForeignLink
from sanderling.models import Outcome, Url, Visit


def apply_batch(sender: int, sequence: int, payload: bytes, context: UrlServices, now: float) -> bool:
    """Queue the URLs of a batch, once; False: it was applied before."""
    shard_links = context.frontier.shard_links
    assert shard_links is not None
    if sequence <= shard_links.load_applied().get(sender, 0):
        return False
    with transaction(context.db):
        _enqueue_foreign(shard_links.decode_batch(payload), context, now)
        shard_links.record_applied(sender, sequence)
    return True


def _enqueue_foreign(links: Sequence[ForeignLink], context: UrlServices, now: float) -> None:
    for link in links:
        if link.widens_scope:
            extend_scope_to(link.url, Url(link.referrer), context, is_own_seed=False)
    own = [link for link in links if not context.frontier.is_foreign(link.url) and not link.widens_scope]
    ids = enqueue_discovered(
        {link.url: _build_discovered(link, now) for link in own if not link.is_known}, context, now
    )
    if context.ordering.has_mass:
        known = context.frontier.url_store.get_packed([link.url for link in own if link.is_known])
        ids |= {url: unpack_url_id(packed) for url, packed in known.items()}
        context.ordering.add_mass({ids[link.url]: link.mass for link in own if link.mass and link.url in ids})


def _build_discovered(link: ForeignLink, now: float) -> DiscoveredUrl:
    """Build the reference of a page that has no row here."""
    page = Visit(0, 0, Url(link.referrer), Outcome.FETCHED, now)
    return DiscoveredUrl(
        link.depth,
        link.nofollow,
        link.source,
        page,
        link.request_url,
        link.topic_score,
        link.hops,
        link.priority,
        link.role,
        link.is_seed,
        max(1, link.link_count),
        link.relevance,
        link.mass,
    )
