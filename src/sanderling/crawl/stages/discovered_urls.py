"""Filter, rank and queue URLs that visits refer to."""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from itertools import chain

from msgspec.structs import replace

from sanderling.crawl.context import REQUISITE_RANK, SITEMAP_RANK
from sanderling.crawl.stages.discovered_url import DiscoveredUrl
from sanderling.crawl.stages.stage_services import UrlServices
from sanderling.dedup import duplicate_stats
from sanderling.frontier.known_url import DEPTH_MASK, SOFT_SKIP_FLAG, KnownUrl, unpack_known_url, unpack_url_id
from sanderling.frontier.lease_outcome import MAX_HOPS
from sanderling.frontier.ordering.protocol import INFINITE_RANK
from sanderling.frontier.shard_links import ForeignLink
from sanderling.frontier.url_filter import DUPLICATE_DETAIL_PREFIX, PUBLISHER_SOURCES
from sanderling.frontier.url_rows import UrlRow, is_skipped_for
from sanderling.frontier.url_store import FrontierEntry
from sanderling.models import CandidateUrl, Outcome, Reason, Url, UrlRole, UrlSource, UrlState, Visit
from sanderling.storage.collection_meta import CollectionMeta
from sanderling.storage.link_graph import load_outgoing_links
from sanderling.storage.signal_log import Signal
from sanderling.urls.dust import rewrite_url
from sanderling.urls.normalize import NormalizedUrl, normalize_url, resolve_url
from sanderling.urls.scope import check_scope
from sanderling.urls.traps import SESSION_ID, strip_session_id

# Module-level names are looked up faster than enum attributes, once per link.
LINK, PAGE, REQUISITE, QUEUED = UrlSource.LINK, UrlRole.PAGE, UrlRole.REQUISITE, UrlState.QUEUED


def enqueue_links(
    visits: Sequence[Visit], rows: Mapping[int, UrlRow], context: UrlServices, now: float
) -> dict[Url, int]:
    """Assign ids to links, redirect targets and canonical URLs, and queue new URLs."""
    targets, canonical_urls = _find_redirect_targets(visits, rows, context), _find_canonical_urls(visits, rows)
    link_urls = dict.fromkeys([link.url for visit in visits for link in visit.links])  # page order: better locality
    known = context.frontier.url_store.get_packed(chain(link_urls, targets, canonical_urls))
    found = canonical_urls | _select_new_links(visits, rows, link_urls.keys(), known) | targets
    links = sum(len(visit.links) for visit in visits)
    context.log.record_signal(Signal.EXTRACT_URLS, links, visits[-1].url if visits else "")
    first_new_id = context.frontier.url_store.next_id
    ids = {url: unpack_url_id(packed) for url, packed in known.items()}
    ids |= _admit_discovered(found, known, context, now)
    duplicate_stats.add_counts(
        context.db,
        {
            duplicate_stats.LINK_COUNT: links,
            duplicate_stats.NEW_LINK_COUNT: context.frontier.url_store.next_id - first_new_id,
        },
    )
    return ids


def _select_new_links(
    visits: Sequence[Visit], rows: Mapping[int, UrlRow], linked_urls: Set[Url], known: Mapping[Url, int]
) -> dict[Url, DiscoveredUrl]:
    """Select links that are new, or at a lower depth or without nofollow for the first time."""
    min_depth = 1 + min((rows[visit.id].depth for visit in visits), default=0)
    settled = {url for url, packed in known.items() if packed & DEPTH_MASK <= min_depth and packed < SOFT_SKIP_FLAG}
    new_urls = linked_urls - settled
    found: dict[Url, DiscoveredUrl] = {}
    for visit in visits:
        row = rows[visit.id]
        depth, page_nofollow, seed = row.depth + 1, visit.nofollow, row.is_seed
        for link in [link for link in visit.links if link.url in new_urls]:
            nofollow = page_nofollow or link.nofollow
            existing = found.get(link.url)
            if existing is None or depth < existing.depth or (existing.nofollow and not nofollow):
                found[link.url] = DiscoveredUrl(
                    depth, nofollow, LINK, visit, link.request_url, link.topic_score, is_seed=seed
                )
    return found


def _find_canonical_urls(visits: Sequence[Visit], rows: Mapping[int, UrlRow]) -> dict[Url, DiscoveredUrl]:
    return {visit.canonical: DiscoveredUrl(rows[visit.id].depth, False, UrlSource.CANONICAL, visit)
            for visit in visits if visit.canonical and visit.canonical != visit.url}  # fmt: skip


def _find_redirect_targets(
    visits: Sequence[Visit], rows: Mapping[int, UrlRow], context: UrlServices
) -> dict[Url, DiscoveredUrl]:
    found = {}
    for visit in visits:
        row = rows[visit.id]
        if visit.outcome is not Outcome.REDIRECT or row.hops >= MAX_HOPS:
            continue
        target = resolve_url(row.request_url or visit.url, visit.location)
        if target is not None:
            if row.is_seed and visit.role is UrlRole.PAGE:
                extend_scope_to(target.url, visit.url, context)
            request_url, hops = target.distinct_request_url, row.hops + 1
            found[target.url] = DiscoveredUrl(
                row.depth,
                False,
                UrlSource.REDIRECT,
                visit,
                request_url,
                hops=hops,
                role=visit.role,
                is_seed=row.is_seed,
            )
    return found


def extend_scope_to(url: Url, redirecting_url: Url, context: UrlServices, *, is_own_seed: bool = True) -> None:
    """Treat the redirect target of a seed as a seed, also in later runs; that of a watched page as such a page.

    `is_own_seed`: the other shards of a set do not know yet.
    """
    url_filter, meta = context.frontier.url_filter, CollectionMeta(context.db)
    if check_scope(url_filter.scope_rule, url) is not Reason.OUT_OF_SCOPE:
        return
    if context.frontier.shard_links is not None and is_own_seed:
        link = ForeignLink(url, referrer=redirecting_url, widens_scope=True)
        context.frontier.shard_links.send([link], context.run.started_at)
    if redirecting_url in url_filter.scope_rule.pages:
        url_filter.extend_scope(pages=[url])
        meta.watched_pages = [*meta.watched_pages, url]
    else:
        url_filter.extend_scope(seeds=[url])
        meta.seed_redirects = [*meta.seed_redirects, url]


def enqueue_discovered(discovered: Mapping[Url, DiscoveredUrl], context: UrlServices, now: float) -> dict[Url, int]:
    """Assign ids to discovered URLs, and queue new URLs."""
    known = context.frontier.url_store.get_packed(discovered)
    return {url: unpack_url_id(packed) for url, packed in known.items()} | _admit_discovered(
        discovered, known, context, now
    )


def _admit_discovered(
    discovered: Mapping[Url, DiscoveredUrl], known: Mapping[Url, int], context: UrlServices, now: float
) -> dict[Url, int]:
    """Filter and insert new URLs; reconsider known URLs found on a better path."""
    context.log.record_signal(Signal.TO_CLASSIFY, len(discovered), next(iter(discovered), ""))
    find_rejection, admitted = context.frontier.url_filter.find_rejection, list[Url]()
    skipped: list[FrontierEntry] = []
    rewritten: dict[Url, DiscoveredUrl] = {}
    promoted: dict[int, CandidateUrl] = {}
    foreign: list[ForeignLink] = []
    for url, item in discovered.items():
        packed = known.get(url)
        if context.frontier.is_foreign(url) and _is_within_scope(url, item, context):
            link = item.to_foreign_link(url)
            if packed is None or link.known_depth < packed & DEPTH_MASK:
                foreign.append(_add_mass(link, item, context) if packed is None else link)
            continue
        is_reversed = item.source is UrlSource.REDIRECT and _is_dust_rule_reversed(url, item, context)
        if packed is None:
            if item.role is REQUISITE:
                reason, note = context.frontier.url_filter.find_requisite_rejection(url, now)
            else:
                reason, note = find_rejection(
                    url, item.depth, item.source, item.nofollow, now, is_redirect_target=is_reversed
                )
            if not reason:
                admitted.append(url)
            elif context.frontier.url_filter.should_record(url, reason):
                skipped.append(FrontierEntry(item.to_candidate(url), UrlState.SKIPPED, reason, note))
                if rewritten_url := _get_rewritten_url(url, note):
                    rewritten[rewritten_url.url] = replace(item, request_url=rewritten_url.distinct_request_url)
        elif item.role is REQUISITE:
            promoted[unpack_url_id(packed)] = item.to_candidate(url, REQUISITE_RANK)
        elif is_reversed:
            _unskip_url(url, item, unpack_url_id(packed), context)
        elif packed >= SOFT_SKIP_FLAG or (item.depth < packed & DEPTH_MASK and item.source not in PUBLISHER_SOURCES):
            _update_known_url(url, item, unpack_known_url(packed), context, now)
    context.frontier.promote_requisites(promoted)
    entries = _rank_urls(admitted, discovered, context) + skipped
    ids = context.frontier.enqueue(entries, now)
    sent = {link.url: unpack_url_id(known[link.url]) for link in foreign if link.url in known}
    ids |= context.frontier.send_foreign(foreign, sent, now)
    context.stats.skipped += sum(1 for entry in entries if entry.reason)
    rewritten = {url: item for url, item in rewritten.items() if url not in discovered}
    return ids | enqueue_discovered(rewritten, context, now) if rewritten else ids


def _add_mass(link: ForeignLink, discovered: DiscoveredUrl, context: UrlServices) -> ForeignLink:
    """Add the rank mass of a link, so that it ranks as in a crawl without shards."""
    if not context.ordering.has_mass or discovered.source is not LINK:
        return link
    (rank,) = context.ordering.rank([discovered.to_found_url(link.url)])
    return replace(link, mass=context.ordering.get_link_mass(rank, link.depth))


def _is_within_scope(url: Url, discovered: DiscoveredUrl, context: UrlServices) -> bool:
    """Whether the scope, which is the same in all shards, admits a URL. Its owner decides the rest."""
    rule = context.frontier.url_filter.scope_rule
    return discovered.role is REQUISITE or check_scope(rule, url) is not Reason.OUT_OF_SCOPE


def _is_dust_rule_reversed(url: Url, discovered: DiscoveredUrl, context: UrlServices) -> bool:
    """Whether a server redirects against a DUST rule, so that the rule is wrong."""
    rules = context.frontier.url_filter.dust_rules
    return bool(rules) and rewrite_url(url, rules) == discovered.page.url


def _unskip_url(url: Url, discovered: DiscoveredUrl, url_id: int, context: UrlServices) -> None:
    """Queue a URL that a DUST rule had skipped."""
    if is_skipped_for(context.db, url_id, Reason.DUPLICATE):
        (rank,) = context.ordering.rank([discovered.to_found_url(url)])
        if rank != INFINITE_RANK and _has_capacity(context, rank):
            context.frontier.url_store.requeue_skipped(url_id, discovered.to_candidate(url, rank))


def _update_known_url(url: Url, discovered: DiscoveredUrl, known: KnownUrl, context: UrlServices, now: float) -> None:
    """Requeue a skipped URL, or lower the depth of a URL and its links."""
    if known.is_soft_skip:
        if not discovered.nofollow and not context.frontier.url_filter.is_too_deep(discovered.depth):
            (rank,) = context.ordering.rank([discovered.to_found_url(url)])
            if context.frontier.collection_limit is not None:
                rank = min(rank, context.ordering.rank_for_retention(known.id, discovered.depth, 0.0))
            if rank != INFINITE_RANK and _has_capacity(context, rank):
                context.frontier.url_store.requeue_skipped(known.id, discovered.to_candidate(url, rank))
    elif context.frontier.url_store.lower_depth(known.id, discovered.to_candidate(url)):
        targets = load_outgoing_links(context.db, known.id).target_ids
        deeper = {
            url: replace(
                discovered, depth=discovered.depth + 1, source=UrlSource.LINK, request_url="", topic_score=0.0, hops=0
            )
            for url in context.frontier.url_store.find_deeper(discovered.depth + 1, targets)
        }
        enqueue_discovered(deeper, context, now)


def _get_rewritten_url(url: Url, note: str) -> NormalizedUrl | None:
    """Return the URL without session id, or as a DUST rule rewrites it.

    None: the URL was skipped for another reason.
    """
    if note.startswith(SESSION_ID):
        return normalize_url(strip_session_id(url))
    if note.startswith(DUPLICATE_DETAIL_PREFIX):
        return normalize_url(note.removeprefix(DUPLICATE_DETAIL_PREFIX))
    return None


def _rank_urls(
    urls: Sequence[Url], discovered: Mapping[Url, DiscoveredUrl], context: UrlServices
) -> list[FrontierEntry]:
    """Rank admitted URLs. Those with infinite rank are skipped."""
    backlinks = _count_backlinks(urls, discovered) if context.ordering.needs_backlinks else {}
    ranks = context.ordering.rank([discovered[url].to_found_url(url, backlinks.get(url, 1)) for url in urls])
    context.log.record_signal(Signal.RANK_URLS, len(urls), context.options.ordering_name)
    entries = [_build_entry(url, discovered[url], rank, context) for url, rank in zip(urls, ranks, strict=True)]
    queued = [entry.candidate.url for entry in entries if not entry.reason]
    context.log.record_signal(Signal.URLS_READY, len(queued), queued[0] if queued else "")
    return entries


def _build_entry(url: Url, discovered: DiscoveredUrl, rank: float, context: UrlServices) -> FrontierEntry:
    if rank == INFINITE_RANK:
        return FrontierEntry(discovered.to_candidate(url), UrlState.SKIPPED, Reason.IRRELEVANT)
    if discovered.role is not PAGE:
        special_rank = REQUISITE_RANK if discovered.role is REQUISITE else SITEMAP_RANK
        return FrontierEntry(discovered.to_candidate(url, special_rank), QUEUED)
    if context.frontier.collection_limit is not None and not _has_capacity(context, rank):
        return FrontierEntry(
            discovered.to_candidate(url), UrlState.SKIPPED, Reason.LIMIT, "not better than the pages kept"
        )
    return FrontierEntry(discovered.to_candidate(url, rank), QUEUED)


def _has_capacity(context: UrlServices, rank: float) -> bool:
    return (
        context.frontier.collection_limit is None
        or not context.ordering.has_comparable_ranks
        or context.frontier.collection_limit.can_admit(rank)
    )


def _count_backlinks(urls: Sequence[Url], discovered: Mapping[Url, DiscoveredUrl]) -> Counter[Url]:
    admitted = set(urls)
    pages = {item.page.id: item.page for item in discovered.values() if item.source is UrlSource.LINK}
    return Counter(link.url for page in pages.values() for link in page.links if link.url in admitted)
