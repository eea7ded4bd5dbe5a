"""Decide at the start of a run which known URLs to queue."""

import json
from collections.abc import Collection, Sequence

from sanderling.crawl.context import REQUISITE_RANK, CrawlContext
from sanderling.crawl.request import CrawlRequest
from sanderling.crawl.stages.rank_updates import evict_worst
from sanderling.crawl.stages.sitemaps import can_list_url
from sanderling.dedup.url_variants import find_redundant_ids
from sanderling.frontier.requeue import dequeue_urls, requeue_urls, update_skip_reasons
from sanderling.frontier.url_filter import PUBLISHER_SOURCES
from sanderling.frontier.url_rows import StoredUrl, load_stored_urls, select_by_state, select_queued_pages
from sanderling.frontier.url_store import FrontierEntry
from sanderling.models import CandidateUrl, Reason, Url, UrlRole, UrlSource, UrlState
from sanderling.storage.collection_meta import CollectionMeta
from sanderling.storage.link_graph import load_outgoing_links, load_source_ids
from sanderling.storage.queries import load_urls
from sanderling.urls.normalize import NormalizedUrl
from sanderling.urls.scope import check_scope

REEVALUATED_REASONS = (
    Reason.OUT_OF_SCOPE,
    Reason.EXCLUDED,
    Reason.DEPTH,
    Reason.LIMIT,
    Reason.HOST_LIMIT,
    Reason.EVICTED,
    Reason.DELETED,
    Reason.PRIVATE_ADDRESS,
    Reason.TOO_LARGE,
    Reason.DUPLICATE,
    Reason.REPEATED_CONTENT,
    Reason.USAGE,
)


def enqueue_seeds(context: CrawlContext, seeds: Sequence[NormalizedUrl], now: float) -> None:
    known = context.frontier.url_store.get([seed.url for seed in seeds])
    entries: dict[Url, FrontierEntry] = {}
    for seed in seeds:
        candidate = CandidateUrl(
            seed.url, seed.distinct_request_url, context.frontier.url_filter.get_seed_depth(seed.url), UrlSource.SEED
        )
        if seed.url not in known:
            entry = context.frontier.url_filter.admit(candidate, False, now)
            if entry is not None:
                entries[seed.url] = entry
        elif known[seed.url].is_soft_skip:
            context.frontier.url_store.requeue_skipped(known[seed.url].id, candidate)
        elif known[seed.url].depth > candidate.depth:
            context.frontier.url_store.lower_depth(known[seed.url].id, candidate)
    context.frontier.enqueue(list(entries.values()), now)


def reevaluate_skipped(context: CrawlContext, request: CrawlRequest, now: float) -> None:
    """If rules changed, queue URLs they now admit and dequeue those they now reject."""
    rules = json.dumps(
        [
            request.scope.scope,
            request.scope.include,
            request.scope.exclude,
            context.frontier.url_filter.depth_limit,
            sorted(context.frontier.url_filter.scope_rule.seeds),
            request.limits.keep,
            request.fetching.allow_private,
            request.fetching.max_body,
            request.limits.limit_per_host,
            request.limits.repeat_limit,
            request.politeness.purpose,
            *sorted(f"{rule.site} {rule.kind} {rule.name}" for rule in context.frontier.url_filter.dust_rules),
        ]
    )
    meta = CollectionMeta(context.db)
    stored_rules, meta.filter_rules = meta.filter_rules, rules
    if stored_rules in ("", rules):
        return
    _dequeue_rejected(context)
    other_reasons: list[tuple[int, Reason, str]] = []
    for row in select_by_state(context.db, skip_reasons=REEVALUATED_REASONS):
        candidate = row.to_candidate(_rank_known(context, row))
        if row.role is UrlRole.REQUISITE:
            reason, note = context.frontier.url_filter.find_requisite_rejection(row.url, now)
        else:
            reason, note = context.frontier.url_filter.find_rejection(
                row.url, row.depth, row.source, _is_foreign_sitemap_url(context, candidate, row.id), now
            )
        if not reason:
            context.frontier.url_store.requeue_skipped(row.id, candidate)
        elif reason != row.reason:
            other_reasons.append((row.id, reason, note))
    update_skip_reasons(context.db, other_reasons)


def apply_ignore_robots_changes(context: CrawlContext, request: CrawlRequest) -> None:
    """If `--ignore-robots` changed, refetch robots.txt and queue URLs it blocked."""
    meta, ignored_hosts = CollectionMeta(context.db), sorted(request.politeness.ignore_robots)
    if ignored_hosts == meta.own_hosts:
        return
    meta.own_hosts = ignored_hosts
    context.frontier.hosts.expire_robots()
    enqueue_all_pages(context, states=(), reasons=(Reason.ROBOTS, Reason.ROBOTS_UNREACHABLE))


def _is_foreign_sitemap_url(context: CrawlContext, candidate: CandidateUrl, url_id: int) -> bool:
    """Whether only a sitemap of another site lists the URL."""
    if candidate.source not in PUBLISHER_SOURCES or candidate.referrer_id == 0 or load_source_ids(context.db, url_id):
        return False
    sitemap = load_urls(context.db, [candidate.referrer_id]).get(candidate.referrer_id, "")
    return bool(sitemap) and not can_list_url(sitemap, candidate.url, context, {})


def _dequeue_rejected(context: CrawlContext) -> None:
    """Dequeue rejected pages; visited pages keep their state."""
    rows = select_queued_pages(context.db)
    redundant = find_redundant_ids(
        context.db, context.frontier.url_filter.dust_rules, [(row.id, row.url) for row in rows]
    )
    rejected = {
        row.id: reason
        for row in rows
        if (reason := Reason.DUPLICATE if row.id in redundant else _find_rejection(context, row.url, row.depth))
    }
    stored = context.storage.catalog.find_stored(list(rejected))
    dequeue_urls(
        context.db,
        [
            (id_, UrlState.VISITED, Reason.NONE) if id_ in stored else (id_, UrlState.SKIPPED, reason)
            for id_, reason in rejected.items()
        ],
    )


def requeue_evicted(context: CrawlContext, now: float) -> None:
    """Queue evicted pages that now rank better."""
    limit = context.frontier.collection_limit
    if limit is None:
        return
    evict_worst(context, limit, now)
    readmitted = [url for url, _ in limit.find_readmittable(context.ordering)]
    for row in load_stored_urls(context.db, readmitted):
        rank = context.ordering.rank_for_retention(row.id, row.depth, 0.0)
        context.frontier.url_store.requeue_skipped(row.id, row.to_candidate(rank))


def requeue_parked_pages(context: CrawlContext, page_ids: Collection[int]) -> int:
    """Queue parked pages; workers return them without a fetch."""
    for row in load_stored_urls(context.db, list(page_ids)):
        rank = context.ordering.rank_known(row.id, row.depth)
        context.frontier.url_store.requeue_skipped(row.id, row.to_candidate(rank))
    return len(page_ids)


def enqueue_all_pages(
    context: CrawlContext,
    states: Sequence[UrlState] = (UrlState.VISITED, UrlState.GONE, UrlState.FAILED),
    reasons: Sequence[Reason] = (),
    selected: Collection[str] | None = None,
) -> int:
    """Queue admitted URLs in these states or skipped for these reasons, or the selected ones. Counts the pages."""
    rows = select_by_state(context.db, states, reasons)
    if selected is not None:
        rows = [row for row in rows if row.url in selected]
    requisites = [row for row in rows if row.role is UrlRole.REQUISITE]
    rows = [row for row in rows if row.role is not UrlRole.REQUISITE]
    if context.options.fetches_requisites:
        requeue_urls(context.db, [(row.id, row.host_id, REQUISITE_RANK) for row in requisites])
    redundant = find_redundant_ids(
        context.db, context.frontier.url_filter.dust_rules, [(row.id, row.url) for row in rows]
    )
    redundant |= context.revisit.sitemap_schedule.load_retired()
    admitted = [row for row in rows if row.id not in redundant and not _find_rejection(context, row.url, row.depth)]
    ranks = context.ordering.rank_all(
        [(row.id, row.depth) for row in admitted], lambda id_: load_outgoing_links(context.db, id_).target_ids
    )
    requeue_urls(context.db, [(row.id, row.host_id, rank) for row, rank in zip(admitted, ranks, strict=True)])
    return sum(row.role is UrlRole.PAGE for row in admitted)


def _rank_known(context: CrawlContext, row: StoredUrl) -> float:
    return REQUISITE_RANK if row.role is UrlRole.REQUISITE else context.ordering.rank_known(row.id, row.depth)


def _find_rejection(context: CrawlContext, url: str, depth: int) -> Reason:
    reason = check_scope(context.frontier.url_filter.scope_rule, url)
    return Reason.DEPTH if reason is Reason.NONE and context.frontier.url_filter.is_too_deep(depth) else reason
