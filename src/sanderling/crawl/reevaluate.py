"""Which of the URLs we know are wanted in this run: seeds, what other rules let in or out, what is asked for again."""

import json
from collections.abc import Collection, Sequence

from sanderling.crawl.context import CrawlContext
from sanderling.crawl.request import CrawlRequest
from sanderling.crawl.stages.page_links import evict_worst
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

RULES_META_KEY = "rules"  # in the meta table: those of the last run
OWN_HOSTS_META_KEY = "own_hosts"  # the same for hosts whose robots.txt is ignored
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
    """When other rules hold than in the last run: what was skipped may be wanted now, and the other way round."""
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
    before = get_meta(context.db, RULES_META_KEY)
    set_meta(context.db, RULES_META_KEY, rules)
    if before in ("", rules):
        return
    _dequeue_rejected(context)
    rows = context.db.execute(
        "SELECT u.id, h.name || u.path, u.depth, u.wire, u.via, u.source, u.reason"
        " FROM urls AS u JOIN hosts AS h ON h.id = u.host"
        f" WHERE u.state = ? AND u.reason IN ({_build_placeholders(REEVALUATED_REASONS)})",
        (UrlState.SKIPPED, *REEVALUATED_REASONS),
    ).fetchall()
    others: list[tuple[int, Reason, str]] = []  # what is skipped for another reason now
    for id_, url, depth, wire, via, source, reason_before in rows:
        candidate = CandidateUrl(
            Url(url), wire, depth, UrlSource(source), via, rank=context.ordering.rank_known(id_, depth)
        )
        reason, note = context.url_filter.find_rejection(
            candidate.url, depth, candidate.source, _is_foreign_sitemap_url(context, candidate, id_), now
        )
        if not reason:
            context.url_store.requeue_skipped(id_, candidate)
        elif reason != reason_before:
            others.append((id_, reason, note))
    update_skip_reasons(context.db, others)


def apply_ignore_robots_changes(context: CrawlContext, request: CrawlRequest) -> None:
    """When other hosts are our user's own than in the last run: read each robots.txt anew, try what it kept out."""
    own = json.dumps(sorted(request.politeness.ignore_robots))
    if own == get_meta(context.db, OWN_HOSTS_META_KEY, "[]"):
        return
    set_meta(context.db, OWN_HOSTS_META_KEY, own)
    context.hosts.expire_robots()
    enqueue_all_pages(context, states=(), reasons=(Reason.ROBOTS, Reason.ROBOTS_UNREACHABLE))


def _is_foreign_sitemap_url(context: CrawlContext, candidate: CandidateUrl, url_id: int) -> bool:
    """Does only a sitemap or feed of another site name it?"""
    if candidate.source not in PUBLISHER_SOURCES or candidate.referrer_id == 0 or load_source_ids(context.db, url_id):
        return False
    sitemap = load_urls(context.db, [candidate.referrer_id]).get(candidate.referrer_id, "")
    return bool(sitemap) and not can_list_url(sitemap, candidate.url, context, {})


def _dequeue_rejected(context: CrawlContext) -> None:
    """Take pages out of the queue that are no longer wanted; one that was visited before stays what it was."""
    db = context.db
    rows = db.execute(
        "SELECT u.id, h.name || u.path, u.depth, p.url FROM queue AS q JOIN urls AS u ON u.id = q.url"
        " JOIN hosts AS h ON h.id = u.host LEFT JOIN pages AS p ON p.url = u.id WHERE u.role = ?",
        (UrlRole.PAGE,),
    ).fetchall()
    double = find_redundant_ids(db, context.url_filter.dust_rules, [(id_, url) for id_, url, _, _ in rows])
    gone = [
        (id_, UrlState.VISITED if held else UrlState.SKIPPED, Reason.NONE if held else why)
        for id_, url, depth, held in rows
        if (why := Reason.DUPLICATE if id_ in double else _find_rejection(context, url, depth)) is not Reason.NONE
    ]
    dequeue_urls(db, gone)


def requeue_evicted(context: CrawlContext, now: float) -> None:
    """Pages that left a full collection, and what had no room in it, may be better than others by now."""
    if context.collection_limit is None:
        return
    evict_worst(context, context.collection_limit, now)
    better = dict(context.collection_limit.find_readmittable(context.ordering))
    for id_, url in load_urls(context.db, list(better)).items():
        (via,) = context.db.execute("SELECT via FROM urls WHERE id = ?", (id_,)).fetchone()
        place = context.ordering.rank_for_retention(id_, better[id_], 0.0)
        context.url_store.requeue_skipped(id_, CandidateUrl(Url(url), depth=better[id_], referrer_id=via, rank=place))


def load_parked_pages(db: Connection) -> list[int]:
    """Pages that specialised migrants keep."""
    return [id_ for (id_,) in db.execute("SELECT id FROM urls WHERE reason = ?", (Reason.NOT_SIMILAR,))]


def requeue_parked_pages(context: CrawlContext, page_ids: Collection[int]) -> int:
    """Ask for pages that migrants keep: they come with the next errands, and the web is not asked again."""
    for id_ in page_ids:
        url, depth, wire, via = context.db.execute(
            "SELECT h.name || u.path, u.depth, u.wire, u.via FROM urls AS u JOIN hosts AS h ON h.id = u.host"
            " WHERE u.id = ?",
            (id_,),
        ).fetchone()
        context.url_store.requeue_skipped(
            id_, CandidateUrl(Url(url), wire, depth, referrer_id=via, rank=context.ordering.rank_known(id_, depth))
        )
    return len(page_ids)


def enqueue_all_pages(
    context: CrawlContext,
    states: Sequence[UrlState] = (UrlState.VISITED, UrlState.GONE, UrlState.FAILED),
    reasons: Sequence[Reason] = (),
) -> int:
    """Queue every page we hold, what was missing or failed, and what was skipped for these reasons; say how many."""
    db = context.db
    rows = db.execute(
        "SELECT u.id, u.host, u.depth, h.name || u.path FROM urls AS u JOIN hosts AS h ON h.id = u.host"
        f" WHERE u.state IN ({_build_placeholders(states)}) OR (u.state = ? AND u.reason IN ({_build_placeholders(reasons)}))",
        (*states, UrlState.SKIPPED, *reasons),
    ).fetchall()
    double = find_redundant_ids(db, context.url_filter.dust_rules, [(id_, url) for id_, _, _, url in rows])
    wanted = [
        (id_, host, depth) for id_, host, depth, url in rows if id_ not in double and _is_admitted(context, url, depth)
    ]
    places = context.ordering.rank_all(
        [(id_, depth) for id_, _, depth in wanted], lambda id_: load_outgoing_links(db, id_).target_ids
    )
    requeue_urls(db, [(id_, host, place) for (id_, host, _), place in zip(wanted, places, strict=True)])
    return len(wanted)


def _build_placeholders(values: Sequence[object]) -> str:
    return ",".join("?" * len(values)) or "NULL"


def _is_admitted(context: CrawlContext, url: str, depth: int) -> bool:
    return _find_rejection(context, url, depth) is Reason.NONE


def _find_rejection(context: CrawlContext, url: str, depth: int) -> Reason:
    """What the rules say against a URL now."""
    why = check_scope(context.url_filter.scope_rule, url)
    return Reason.DEPTH if why is Reason.NONE and context.url_filter.is_too_deep(depth) else why
