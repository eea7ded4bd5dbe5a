"""Update the ordering, rerank the queue, and evict pages."""

from collections.abc import Mapping, Sequence

from sanderling.crawl.stages.archive_pages import ArchivedPages, resolve_link_ids
from sanderling.crawl.stages.discovered_url import get_relevance
from sanderling.crawl.stages.stage_services import RankServices
from sanderling.crawl.stages.visit_batch import VisitBatch
from sanderling.frontier.eviction import CollectionLimit
from sanderling.frontier.leases import Lease
from sanderling.frontier.ordering.protocol import (
    MAX_RERANK_INTERVAL,
    MIN_RERANK_INTERVAL,
    RERANK_INTERVAL_DIVISOR,
    CrawledPage,
)
from sanderling.models import Outcome, Url, UrlRole, Visit
from sanderling.urls.normalize import resolve_url


def update_ordering(pages: ArchivedPages, batch: VisitBatch, ids: Mapping[Url, int], context: RankServices) -> None:
    """Teach the ordering new and changed pages, redirects, and parked pages."""
    is_focused = context.ordering.is_focused
    for item, links in zip(pages.archived, pages.links, strict=True):
        visit, row = item.visit, batch.rows[item.visit.id]
        if not item.has_changed or visit.role is not UrlRole.PAGE:
            continue
        targets = links.targets
        if visit.outcome is Outcome.REDIRECT and (target := resolve_url(row.request_url or visit.url, visit.location)):
            targets = [ids[target.url]] if target.url in ids else []
        context.ordering.learn(
            CrawledPage(
                visit.id,
                visit.url,
                targets,
                batch.leases[visit.id].rank,
                row.is_seed,
                get_relevance(visit),
                [link.topic_score for link in links.links] if is_focused else (),
                visit.title,
                visit.fingerprints.structure or b"",
                links,
            )
        )
    _learn_parked(batch.parked, batch.leases, ids, context)


def _learn_parked(
    parked: Sequence[Visit], leases: Mapping[int, Lease], ids: Mapping[Url, int], context: RankServices
) -> None:
    """Teach parked pages: their links count as if they were stored."""
    context.storage.catalog.store_fingerprints(
        [(visit.id, kind, fingerprint) for visit in parked for kind, fingerprint in visit.fingerprints.list_stored()]
    )
    for visit in parked:
        links = resolve_link_ids(visit.links, ids)
        context.ordering.learn(
            CrawledPage(
                visit.id,
                visit.url,
                links.targets,
                leases[visit.id].rank,
                title=visit.title,
                structure_fingerprint=visit.fingerprints.structure or b"",
                links=links,
                is_parked=True,
            )
        )


def rerank_queue(page_count: int, context: RankServices, now: float) -> None:
    """Apply rank gains: often at first, then after each tenth of growth."""
    state = context.run
    state.pages_since_rerank += page_count
    interval = max(MIN_RERANK_INTERVAL, context.stats.outcomes[Outcome.FETCHED] // RERANK_INTERVAL_DIVISOR)
    if context.ordering.is_eager or state.pages_since_rerank >= min(MAX_RERANK_INTERVAL, interval):
        gains = context.ordering.pop_rank_gains()
        context.frontier.raise_ranks(gains)
        if context.frontier.shard_links is not None and context.ordering.has_mass:
            masses = {url_id: context.ordering.get_gained_mass(url_id, gain) for url_id, gain in gains.items()}
            context.frontier.shard_links.send_mass(masses, now)
        state.pages_since_rerank = 0


def evict_if_due(page_count: int, context: RankServices, now: float) -> None:
    if context.frontier.collection_limit is not None and context.frontier.collection_limit.is_due(page_count):
        evict_worst(context, context.frontier.collection_limit, now)


def evict_worst(context: RankServices, collection_limit: CollectionLimit, now: float) -> None:
    """Remove the lowest-ranked pages of a full collection, and queued URLs that rank no better."""
    evicted = collection_limit.find_evictable(context.ordering)
    collection_limit.mark_evicted(evicted)
    page_ids = [page.url_id for page in evicted]
    context.storage.catalog.remove_pages(page_ids, context.run.session, now)
    context.revisit.schedule.delete_pages(page_ids)
    context.revisit.change_lists.remove_pages(page_ids)
    context.stats.evicted += len(page_ids)
    if context.ordering.has_comparable_ranks:
        context.stats.skipped += collection_limit.drop_queued()
