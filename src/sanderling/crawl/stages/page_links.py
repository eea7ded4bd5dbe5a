"""Links of stored pages go to the graph and to the ordering, which moves what waits."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

from msgspec import Struct

from sanderling.crawl.context import CrawlContext, UrlRow
from sanderling.crawl.stages.discovered_urls import get_relevance
from sanderling.frontier.eviction import CollectionLimit
from sanderling.frontier.leases import Lease
from sanderling.frontier.ordering.protocol import (
    MAX_RERANK_INTERVAL,
    MIN_RERANK_INTERVAL,
    RERANK_INTERVAL_DIVISOR,
    CrawledPage,
)
from sanderling.models import Link, Outcome, Url, UrlRole, Visit
from sanderling.storage.archive_batch import ArchivedVisit
from sanderling.storage.catalog import PageState, VisitRow
from sanderling.storage.link_graph import OutgoingLinks, pack_links, unpack_links
from sanderling.urls.normalize import resolve_url


class ResolvedLinks(Struct, frozen=True, gc=False):
    """The links of a page whose targets are known, and the ids of these, in the same order."""

    targets: list[int]
    links: Sequence[Link]

    def __iter__(self) -> Iterator[tuple[int, Link]]:
        return zip(self.targets, self.links, strict=True)


def resolve_link_ids(links: Sequence[Link], ids: Mapping[Url, int]) -> ResolvedLinks:
    """Pair links with the ids of their targets; a link that was not written down has none."""
    targets = list(map(ids.get, [link.url for link in links]))
    if all(targets):
        return ResolvedLinks(cast(list[int], targets), links)
    return ResolvedLinks([id_ for id_ in targets if id_], [link for link in links if link.url in ids])


def build_visit_row(
    item: ArchivedVisit,
    file_ids: Mapping[str, int],
    resolved_links: ResolvedLinks,
    old: PageState | None,
    context: CrawlContext,
) -> VisitRow:
    """Pack the links of a page that is new or changed, and tell the graph of those it did not have before."""
    visit, place = item.visit, item.location
    links, count = b"", 0
    if item.has_changed and visit.links:
        targets = resolved_links.targets
        count = len(targets)
        nofollow = [n for n, link in enumerate(resolved_links.links) if link.nofollow]
        links = pack_links(OutgoingLinks(targets, [link.anchor for link in resolved_links.links], nofollow))
        known = set(unpack_links(old.packed_links).target_ids) if old else ()
        context.link_graph.add(visit.id, [id_ for id_ in targets if id_ not in known] if known else targets)
    if place is None:
        return VisitRow(
            visit, item.has_changed, identical_body=item.identical_body, packed_links=links, link_count=count
        )
    where = file_ids[place.file], place.offset, place.length
    return VisitRow(
        visit, item.has_changed, *where, item.record_id, item.payload_digest, item.identical_body, links, count
    )


def pair_near_duplicates(
    visit_rows: Sequence[VisitRow], latest: Mapping[int, PageState], context: CrawlContext
) -> None:
    """Look pages up that nobody knew, whether they read like another."""
    if latest or context.collection_limit is not None:
        context.near_duplicates.defer()
    plain = [item.visit for item in visit_rows if 200 <= item.visit.status < 300 and item.identical_body is None]
    context.near_duplicates.add(
        [(visit.id, visit.fingerprints["minhash"]) for visit in plain if "minhash" in visit.fingerprints]
    )


def update_ordering(
    archived_visits: Iterable[tuple[ArchivedVisit, ResolvedLinks]],
    rows: Mapping[int, UrlRow],
    leases: Mapping[int, Lease],
    ids: Mapping[Url, int],
    context: CrawlContext,
) -> None:
    """Tell the ordering of pages that are new or changed, and of hops."""
    focused = context.ordering.is_focused
    for item, followed in archived_visits:
        visit, row = item.visit, rows[item.visit.id]
        if not item.has_changed or visit.role is not UrlRole.PAGE:
            continue
        targets = followed.targets
        if visit.outcome is Outcome.REDIRECT and (target := resolve_url(row.request_url or visit.url, visit.location)):
            targets = [ids[target.url]] if target.url in ids else []
        promises = [link.topic_score for link in followed.links] if focused else ()
        rank, relevance = leases[visit.id].rank, get_relevance(visit)
        said = visit.title, visit.fingerprints.get("structure", b""), followed
        context.ordering.learn(CrawledPage(visit.id, visit.url, targets, rank, row.is_seed, relevance, promises, *said))


def update_ordering_from_parked(
    parked_visits: Sequence[Visit], leases: Mapping[int, Lease], ids: Mapping[Url, int], context: CrawlContext
) -> None:
    """Tell the ordering of pages that specialised migrants keep: where they lead counts as if they had come home."""
    context.catalog.store_fingerprints(
        [(visit.id, kind, mark) for visit in parked_visits for kind, mark in visit.fingerprints.items()]
    )
    for visit in parked_visits:
        followed = resolve_link_ids(visit.links, ids)
        said = visit.title, visit.fingerprints.get("structure", b""), followed, True
        context.ordering.learn(
            CrawledPage(visit.id, visit.url, followed.targets, leases[visit.id].rank, False, 0.0, (), *said)
        )


def rerank_queue(page_count: int, context: CrawlContext) -> None:
    """Now and then, move waiting URLs by what was learned: often at first, then each time the crawl grew by a tenth."""
    context.pages_since_rerank += page_count
    if context.ordering.is_eager or context.pages_since_rerank >= min(
        MAX_RERANK_INTERVAL, max(MIN_RERANK_INTERVAL, context.stats[Outcome.FETCHED] // RERANK_INTERVAL_DIVISOR)
    ):
        context.queue.apply_rank_gains(context.ordering.pop_rank_gains())
        context.pages_since_rerank = 0


def evict_worst(context: CrawlContext, collection_limit: CollectionLimit, now: float) -> None:
    """Let the worst pages leave a collection that is full, and give up what waits and is no better."""
    evicted = collection_limit.find_evictable(context.ordering)
    collection_limit.mark_evicted(evicted)
    gone = [page.url_id for page in evicted]
    context.catalog.remove_pages(gone, context.session, now)
    context.revisit_schedule.delete_pages(gone)
    context.change_lists.remove_pages(gone)
    context.stats["evicted"] += len(gone)
    if context.ordering.has_comparable_ranks:
        context.stats["passed_over"] += collection_limit.drop_queued()
