"""Decide at the start of a run which known URLs to queue."""

import json
from collections.abc import Collection, Sequence

from sanderling.crawl.context import CrawlContext
from sanderling.crawl.request import CrawlRequest
from sanderling.crawl.stages.rank_updates import evict_worst
from sanderling.crawl.stages.sitemaps import can_list_url
from sanderling.db.connection import Connection
from sanderling.dedup.url_variants import find_redundant_ids
from sanderling.frontier.requeue import dequeue_urls, requeue_urls, update_skip_reasons
from sanderling.frontier.url_filter import PUBLISHER_SOURCES
from sanderling.frontier.url_store import FrontierEntry
from sanderling.models import CandidateUrl, Reason, Url, UrlRole, UrlSource, UrlState
from sanderling.storage.collection import get_meta, set_meta
from sanderling.storage.link_graph import load_outgoing_links, load_source_ids
from sanderling.storage.queries import load_urls
from sanderling.urls.normalize import NormalizedUrl
from sanderling.urls.scope import check_scope

RULES_META_KEY = "rules"  # meta table: rules of the last run
OWN_HOSTS_META_KEY = "own_hosts"  # meta table: hosts whose robots.txt was ignored
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
)


def enqueue_seeds(context: CrawlContext, seeds: Sequence[NormalizedUrl], now: float) -> None:
    known = context.url_store.get([seed.url for seed in seeds])
    entries: dict[Url, FrontierEntry] = {}
    for seed in seeds:
        candidate = CandidateUrl(
            seed.url, seed.distinct_request_url, context.url_filter.get_seed_depth(seed.url), UrlSource.SEED
        )
        if seed.url not in known:
            entry = context.url_filter.admit(candidate, False, now)
            if entry is not None:
                entries[seed.url] = entry
        elif known[seed.url].is_soft_skip:
            context.url_store.requeue_skipped(known[seed.url].id, candidate)
        elif known[seed.url].depth > candidate.depth:
            context.url_store.lower_depth(known[seed.url].id, candidate)
    context.url_store.insert_and_enqueue(list(entries.values()), now)


def reevaluate_skipped(context: CrawlContext, request: CrawlRequest, now: float) -> None:
    """If rules changed, queue URLs they now admit and dequeue those they now reject."""
    rules = json.dumps(
        [
            request.scope.scope,
            request.scope.include,
            request.scope.exclude,
            context.url_filter.depth_limit,
            sorted(context.url_filter.scope_rule.seeds),
            request.limits.keep,
            request.fetching.allow_private,
            request.fetching.max_body,
            request.limits.limit_per_host,
            *sorted(f"{rule.site} {rule.kind} {rule.name}" for rule in context.url_filter.dust_rules),
        ]
    )
    stored_rules = get_meta(context.db, RULES_META_KEY)
    set_meta(context.db, RULES_META_KEY, rules)
    if stored_rules in ("", rules):
        return
    _dequeue_rejected(context)
    rows = context.db.execute(
        "SELECT u.id, h.name || u.path, u.depth, u.wire, u.via, u.source, u.reason"
        " FROM urls AS u JOIN hosts AS h ON h.id = u.host"
        f" WHERE u.state = ? AND u.reason IN ({_build_placeholders(REEVALUATED_REASONS)})",
        (UrlState.SKIPPED, *REEVALUATED_REASONS),
    ).fetchall()
    other_reasons: list[tuple[int, Reason, str]] = []
    for id_, url, depth, request_url, referrer_id, source, reason_before in rows:
        candidate = CandidateUrl(
            Url(url), request_url, depth, UrlSource(source), referrer_id, rank=context.ordering.rank_known(id_, depth)
        )
        reason, note = context.url_filter.find_rejection(
            candidate.url, depth, candidate.source, _is_foreign_sitemap_url(context, candidate, id_), now
        )
        if not reason:
            context.url_store.requeue_skipped(id_, candidate)
        elif reason != reason_before:
            other_reasons.append((id_, reason, note))
    update_skip_reasons(context.db, other_reasons)


def apply_ignore_robots_changes(context: CrawlContext, request: CrawlRequest) -> None:
    """If `--ignore-robots` changed, refetch robots.txt and queue URLs it blocked."""
    ignored_hosts = json.dumps(sorted(request.politeness.ignore_robots))
    if ignored_hosts == get_meta(context.db, OWN_HOSTS_META_KEY, "[]"):
        return
    set_meta(context.db, OWN_HOSTS_META_KEY, ignored_hosts)
    context.hosts.expire_robots()
    enqueue_all_pages(context, states=(), reasons=(Reason.ROBOTS, Reason.ROBOTS_UNREACHABLE))


def _is_foreign_sitemap_url(context: CrawlContext, candidate: CandidateUrl, url_id: int) -> bool:
    """Whether only a sitemap of another site lists the URL."""
    if candidate.source not in PUBLISHER_SOURCES or candidate.referrer_id == 0 or load_source_ids(context.db, url_id):
        return False
    sitemap = load_urls(context.db, [candidate.referrer_id]).get(candidate.referrer_id, "")
    return bool(sitemap) and not can_list_url(sitemap, candidate.url, context, {})


def _dequeue_rejected(context: CrawlContext) -> None:
    """Dequeue rejected pages; visited pages keep their state."""
    db = context.db
    rows = db.execute(
        "SELECT u.id, h.name || u.path, u.depth, p.url FROM queue AS q JOIN urls AS u ON u.id = q.url"
        " JOIN hosts AS h ON h.id = u.host LEFT JOIN pages AS p ON p.url = u.id WHERE u.role = ?",
        (UrlRole.PAGE,),
    ).fetchall()
    redundant = find_redundant_ids(db, context.url_filter.dust_rules, [(id_, url) for id_, url, _, _ in rows])
    rejected = [
        (id_, UrlState.VISITED if page_id else UrlState.SKIPPED, Reason.NONE if page_id else reason)
        for id_, url, depth, page_id in rows
        if (reason := Reason.DUPLICATE if id_ in redundant else _find_rejection(context, url, depth)) is not Reason.NONE
    ]
    dequeue_urls(db, rejected)


def requeue_evicted(context: CrawlContext, now: float) -> None:
    """Queue evicted pages that now rank better."""
    if context.collection_limit is None:
        return
    evict_worst(context, context.collection_limit, now)
    readmitted = dict(context.collection_limit.find_readmittable(context.ordering))
    for id_, url in load_urls(context.db, list(readmitted)).items():
        (referrer_id,) = context.db.execute("SELECT via FROM urls WHERE id = ?", (id_,)).fetchone()
        rank = context.ordering.rank_for_retention(id_, readmitted[id_], 0.0)
        context.url_store.requeue_skipped(
            id_, CandidateUrl(Url(url), depth=readmitted[id_], referrer_id=referrer_id, rank=rank)
        )


def load_parked_pages(db: Connection) -> list[int]:
    """Load pages that workers keep because they did not match a template filter."""
    return [id_ for (id_,) in db.execute("SELECT id FROM urls WHERE reason = ?", (Reason.NOT_SIMILAR,))]


def requeue_parked_pages(context: CrawlContext, page_ids: Collection[int]) -> int:
    """Queue parked pages; workers return them without a fetch."""
    for id_ in page_ids:
        url, depth, request_url, referrer_id = context.db.execute(
            "SELECT h.name || u.path, u.depth, u.wire, u.via FROM urls AS u JOIN hosts AS h ON h.id = u.host"
            " WHERE u.id = ?",
            (id_,),
        ).fetchone()
        context.url_store.requeue_skipped(
            id_,
            CandidateUrl(
                Url(url), request_url, depth, referrer_id=referrer_id, rank=context.ordering.rank_known(id_, depth)
            ),
        )
    return len(page_ids)


def enqueue_all_pages(
    context: CrawlContext,
    states: Sequence[UrlState] = (UrlState.VISITED, UrlState.GONE, UrlState.FAILED),
    reasons: Sequence[Reason] = (),
) -> int:
    """Queue admitted pages in these states or skipped for these reasons. Returns their number."""
    db = context.db
    rows = db.execute(
        "SELECT u.id, u.host, u.depth, h.name || u.path FROM urls AS u JOIN hosts AS h ON h.id = u.host"
        f" WHERE u.state IN ({_build_placeholders(states)})"
        f" OR (u.state = ? AND u.reason IN ({_build_placeholders(reasons)}))",
        (*states, UrlState.SKIPPED, *reasons),
    ).fetchall()
    redundant = find_redundant_ids(db, context.url_filter.dust_rules, [(id_, url) for id_, _, _, url in rows])
    admitted = [
        (id_, host, depth)
        for id_, host, depth, url in rows
        if id_ not in redundant and _is_admitted(context, url, depth)
    ]
    ranks = context.ordering.rank_all(
        [(id_, depth) for id_, _, depth in admitted], lambda id_: load_outgoing_links(db, id_).target_ids
    )
    requeue_urls(db, [(id_, host, rank) for (id_, host, _), rank in zip(admitted, ranks, strict=True)])
    return len(admitted)


def _build_placeholders(values: Sequence[object]) -> str:
    return ",".join("?" * len(values)) or "NULL"


def _is_admitted(context: CrawlContext, url: str, depth: int) -> bool:
    return _find_rejection(context, url, depth) is Reason.NONE


def _find_rejection(context: CrawlContext, url: str, depth: int) -> Reason:
    reason = check_scope(context.url_filter.scope_rule, url)
    return Reason.DEPTH if reason is Reason.NONE and context.url_filter.is_too_deep(depth) else reason
