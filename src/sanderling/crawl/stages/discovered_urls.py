"""What visits point at: every URL gets an id; new ones are judged, ranked, and queued or skipped."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from sanderling.crawl.context import SITEMAP_RANK, CrawlContext, UrlRow
from sanderling.dedup import duplicate_stats
from sanderling.frontier.lease_outcome import MAX_HOPS
from sanderling.frontier.ordering.protocol import INFINITE_RANK, FoundUrl
from sanderling.frontier.ordering.topic import unpack_relevance
from sanderling.frontier.url_filter import DUPLICATE_DETAIL_PREFIX, PUBLISHER_SOURCES
from sanderling.frontier.url_store import (
    DEPTH_MASK,
    SOFT_SKIP_FLAG,
    FrontierEntry,
    KnownUrl,
    unpack_known_url,
    unpack_url_id,
)
from sanderling.models import CandidateUrl, Outcome, Reason, Url, UrlRole, UrlSource, UrlState, Visit
from sanderling.storage.collection import get_meta, set_meta
from sanderling.storage.link_graph import load_outgoing_links
from sanderling.storage.signal_log import Signal
from sanderling.urls.dust import rewrite_url
from sanderling.urls.normalize import NormalizedUrl, normalize_url, resolve_url
from sanderling.urls.scope import add_seed, check_scope
from sanderling.urls.traps import SESSION_ID, strip_session_id

LINK, PAGE, QUEUED = (
    UrlSource.LINK,
    UrlRole.PAGE,
    UrlState.QUEUED,
)  # a name in a module is found faster than one in an enum
SKIPPED_FOR_REASON_SQL = "SELECT 1 FROM urls WHERE id = ? AND reason = ?"
SEED_REDIRECTS_META_KEY = "arrivals"  # where seeds redirected to


class DiscoveredUrl(Struct, frozen=True, gc=False):
    """A URL that a visit points at; it becomes a candidate only if it is new or comes by a better way."""

    depth: int
    nofollow: bool
    source: UrlSource
    page: Visit
    request_url: str = ""
    topic_score: float = 0.0  # what the words of the link say, in a focused crawl
    hops: int = 0
    priority: float = 0.5  # what a sitemap said
    role: UrlRole = UrlRole.PAGE
    is_seed: bool = False  # it was found on a seed

    def to_candidate(self, url: Url, rank: float = 0.0) -> CandidateUrl:
        return CandidateUrl(
            url, self.request_url, self.depth, self.source, self.page.id, self.hops, rank, role=self.role
        )

    def to_found_url(self, url: Url, backlink_count: int = 1) -> FoundUrl:
        page = self.page
        links = len(page.links) if self.source is LINK else 1
        relevance = get_relevance(page) if page.fingerprints else 0.0
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
        )


def get_relevance(page: Visit) -> float:
    """How much a page speaks of the topic of a focused crawl."""
    packed = page.fingerprints.get("relevance")
    return unpack_relevance(packed) if packed else 0.0


def enqueue_links(
    visits: Sequence[Visit], rows: Mapping[int, UrlRow], context: CrawlContext, now: float
) -> dict[Url, int]:
    """Every URL the visits point at gets an id; new ones are judged and queued or skipped."""
    hops, names = _find_redirect_targets(visits, rows, context), _find_canonical_urls(visits, rows)
    linked = dict.fromkeys([link.url for visit in visits for link in visit.links])  # in order: so memory is read faster
    known = context.url_store.get_packed(chain(linked, hops, names))
    offers = names | _select_new_links(visits, rows, linked.keys(), known) | hops
    links = sum(len(visit.links) for visit in visits)
    context.crawl_log.record_signal(Signal.EXTRACT_URLS, links, visits[-1].url if visits else "")
    before = context.url_store.next_id
    ids = {url: unpack_url_id(answer) for url, answer in known.items()}
    ids |= _admit_discovered(offers, known, context, now)
    duplicate_stats.add_counts(
        context.db,
        {duplicate_stats.LINK_COUNT: links, duplicate_stats.NEW_LINK_COUNT: context.url_store.next_id - before},
    )
    return ids


def _select_new_links(
    visits: Sequence[Visit], rows: Mapping[int, UrlRow], linked_urls: Set[Url], known: Mapping[Url, int]
) -> dict[Url, DiscoveredUrl]:
    """The links that are new, or come by a better way than was known; most do not, and cost nothing more."""
    least = 1 + min((rows[visit.id].depth for visit in visits), default=0)
    settled = {url for url, answer in known.items() if answer & DEPTH_MASK <= least and answer < SOFT_SKIP_FLAG}
    news = linked_urls - settled
    offers: dict[Url, DiscoveredUrl] = {}
    for visit in visits:
        row = rows[visit.id]
        depth, page_nofollow, seed = row.depth + 1, visit.nofollow, row.is_seed
        for link in [link for link in visit.links if link.url in news]:
            nofollow = page_nofollow or link.nofollow
            other = offers.get(link.url)
            if other is None or depth < other.depth or (other.nofollow and not nofollow):
                offers[link.url] = DiscoveredUrl(
                    depth, nofollow, LINK, visit, link.request_url, link.topic_score, is_seed=seed
                )
    return offers


def _find_canonical_urls(visits: Sequence[Visit], rows: Mapping[int, UrlRow]) -> dict[Url, DiscoveredUrl]:
    """What pages call themselves, where that is another URL."""
    return {visit.canonical: DiscoveredUrl(rows[visit.id].depth, False, UrlSource.CANONICAL, visit)
            for visit in visits if visit.canonical and visit.canonical != visit.url}  # fmt: skip


def _find_redirect_targets(
    visits: Sequence[Visit], rows: Mapping[int, UrlRow], context: CrawlContext
) -> dict[Url, DiscoveredUrl]:
    """Where redirects lead."""
    offers = {}
    for visit in visits:
        row = rows[visit.id]
        if visit.outcome is not Outcome.REDIRECT or row.hops >= MAX_HOPS:
            continue
        target = resolve_url(row.request_url or visit.url, visit.location)
        if target is not None:
            if row.is_seed and visit.role is UrlRole.PAGE:
                _extend_scope_to(target.url, context)
            wire, hops = target.distinct_request_url, row.hops + 1
            offers[target.url] = DiscoveredUrl(
                row.depth, False, UrlSource.REDIRECT, visit, wire, hops=hops, role=visit.role, is_seed=row.is_seed
            )
    return offers


def _extend_scope_to(url: Url, context: CrawlContext) -> None:
    """Where a seed redirects to counts as a seed, in this run and later ones."""
    rule = context.url_filter.scope_rule
    if check_scope(rule, url) is Reason.OUT_OF_SCOPE:
        context.url_filter.scope_rule = add_seed(rule, url)
        known = json.loads(get_meta(context.db, SEED_REDIRECTS_META_KEY, "[]"))
        set_meta(context.db, SEED_REDIRECTS_META_KEY, json.dumps([*known, url]))


def enqueue_discovered(discovered: Mapping[Url, DiscoveredUrl], context: CrawlContext, now: float) -> dict[Url, int]:
    """Every URL that is offered gets an id; new ones are judged and queued or skipped."""
    known = context.url_store.get_packed(discovered)
    return {url: unpack_url_id(answer) for url, answer in known.items()} | _admit_discovered(
        discovered, known, context, now
    )


def _admit_discovered(
    discovered: Mapping[Url, DiscoveredUrl], known: Mapping[Url, int], context: CrawlContext, now: float
) -> dict[Url, int]:
    """Judge those that are not known, and say which ids they got; look at the others again."""
    context.crawl_log.record_signal(Signal.TO_CLASSIFY, len(discovered), next(iter(discovered), ""))
    why_not, wanted = context.url_filter.find_rejection, list[Url]()
    skipped: list[FrontierEntry] = []
    cleaned: dict[Url, DiscoveredUrl] = {}
    for url, offer in discovered.items():
        answer = known.get(url)
        is_back = offer.source is UrlSource.REDIRECT and _is_dust_rule_reversed(url, offer, context)
        if answer is None:
            reason, note = why_not(url, offer.depth, offer.source, offer.nofollow, now, is_redirect_target=is_back)
            if not reason:
                wanted.append(url)
            elif context.url_filter.should_record(url, reason):
                skipped.append(FrontierEntry(offer.to_candidate(url), UrlState.SKIPPED, reason, note))
                if clean := _get_rewritten_url(url, note):
                    cleaned[clean.url] = replace(offer, request_url=clean.distinct_request_url)
        elif is_back:
            _unskip_url(url, offer, unpack_url_id(answer), context)
        elif answer >= SOFT_SKIP_FLAG or (offer.depth < answer & DEPTH_MASK and offer.source not in PUBLISHER_SOURCES):
            _update_known_url(url, offer, unpack_known_url(answer), context, now)
    entries = _rank_urls(wanted, discovered, context) + skipped
    ids = context.url_store.insert_and_enqueue(entries, now)
    context.stats["passed_over"] += sum(1 for entry in entries if entry.reason)
    cleaned = {url: offer for url, offer in cleaned.items() if url not in discovered}
    return ids | enqueue_discovered(cleaned, context, now) if cleaned else ids


def _is_dust_rule_reversed(url: Url, discovered: DiscoveredUrl, context: CrawlContext) -> bool:
    """Say whether a server leads from the spelling of a rule in use to this one: the rule does not hold there."""
    rules = context.url_filter.dust_rules
    return bool(rules) and rewrite_url(url, rules) == discovered.page.url


def _unskip_url(url: Url, discovered: DiscoveredUrl, url_id: int, context: CrawlContext) -> None:
    """Ask after all for a URL that a rule kept out."""
    if context.db.execute(SKIPPED_FOR_REASON_SQL, (url_id, Reason.DUPLICATE)).fetchone() is not None:
        (rank,) = context.ordering.rank([discovered.to_found_url(url)])
        if rank != INFINITE_RANK and _has_capacity(context, rank):
            context.url_store.requeue_skipped(url_id, discovered.to_candidate(url, rank))


def _update_known_url(url: Url, discovered: DiscoveredUrl, known: KnownUrl, context: CrawlContext, now: float) -> None:
    """A known URL by a shorter way, or by one that may be followed: tell its links, or lift its soft reason."""
    if known.is_soft_skip:
        if not discovered.nofollow and not context.url_filter.is_too_deep(discovered.depth):
            (rank,) = context.ordering.rank([discovered.to_found_url(url)])
            rank = (
                min(rank, context.ordering.rank_for_retention(known.id, discovered.depth, 0.0))
                if context.collection_limit is not None
                else rank
            )
            if rank != INFINITE_RANK and _has_capacity(context, rank):
                context.url_store.requeue_skipped(known.id, discovered.to_candidate(url, rank))
    elif context.url_store.lower_depth(known.id, discovered.to_candidate(url)):
        targets = load_outgoing_links(context.db, known.id).target_ids
        deeper = {
            url: replace(
                discovered, depth=discovered.depth + 1, source=UrlSource.LINK, request_url="", topic_score=0.0, hops=0
            )
            for url in context.url_store.find_deeper(discovered.depth + 1, targets)
        }
        enqueue_discovered(deeper, context, now)


def _get_rewritten_url(url: Url, note: str) -> NormalizedUrl | None:
    """The URL worth a visit instead: without its session id, or as a learned rule spells it."""
    if note.startswith(SESSION_ID):
        return normalize_url(strip_session_id(url))
    return (
        normalize_url(note.removeprefix(DUPLICATE_DETAIL_PREFIX)) if note.startswith(DUPLICATE_DETAIL_PREFIX) else None
    )


def _rank_urls(
    urls: Sequence[Url], discovered: Mapping[Url, DiscoveredUrl], context: CrawlContext
) -> list[FrontierEntry]:
    """Give the URLs that are to be visited their place; one that gets none is skipped."""
    back = _count_backlinks(urls, discovered) if context.ordering.needs_backlinks else {}
    ranks = context.ordering.rank([discovered[url].to_found_url(url, back.get(url, 1)) for url in urls])
    context.crawl_log.record_signal(Signal.RANK_URLS, len(urls), context.ordering_name)
    entries = [_build_entry(url, discovered[url], rank, context) for url, rank in zip(urls, ranks, strict=True)]
    ready = [entry.candidate.url for entry in entries if not entry.reason]
    context.crawl_log.record_signal(Signal.URLS_READY, len(ready), ready[0] if ready else "")
    return entries


def _build_entry(url: Url, discovered: DiscoveredUrl, rank: float, context: CrawlContext) -> FrontierEntry:
    """A URL that is to be visited, at this place; or not after all."""
    if rank == INFINITE_RANK:
        return FrontierEntry(discovered.to_candidate(url), UrlState.SKIPPED, Reason.IRRELEVANT)
    if discovered.role is not PAGE:
        return FrontierEntry(discovered.to_candidate(url, SITEMAP_RANK), QUEUED)
    if context.collection_limit is not None and not _has_capacity(context, rank):
        return FrontierEntry(
            discovered.to_candidate(url), UrlState.SKIPPED, Reason.LIMIT, "not better than the pages kept"
        )
    return FrontierEntry(discovered.to_candidate(url, rank), QUEUED)


def _has_capacity(context: CrawlContext, rank: float) -> bool:
    return (
        context.collection_limit is None
        or not context.ordering.has_comparable_ranks
        or context.collection_limit.can_admit(rank)
    )


def _count_backlinks(urls: Sequence[Url], discovered: Mapping[Url, DiscoveredUrl]) -> Counter[Url]:
    """How many pages of this batch link to each of these."""
    wanted = set(urls)
    pages = {offer.page.id: offer.page for offer in discovered.values() if offer.source is UrlSource.LINK}
    return Counter(link.url for page in pages.values() for link in page.links if link.url in wanted)
