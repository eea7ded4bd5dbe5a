"""Process sitemaps, feeds and change lists."""

from collections.abc import Mapping, Sequence

from sanderling.crawl.context import SITEMAP_RANK
from sanderling.crawl.stages.discovered_url import DiscoveredUrl
from sanderling.crawl.stages.discovered_urls import enqueue_discovered
from sanderling.crawl.stages.stage_services import SitemapServices
from sanderling.discovery.entry_types import MAX_INDEX_DEPTH, RESOURCESYNC_PATH, SitemapKind
from sanderling.fetch.response_processor import UNCHANGED_DETAIL
from sanderling.fetch.robots import build_robots_rules
from sanderling.frontier.frontier import Frontier
from sanderling.frontier.lease_outcome import MAX_HOPS
from sanderling.frontier.shard_links import ForeignLink
from sanderling.frontier.url_rows import count_sitemap_indexes, has_more_urls
from sanderling.frontier.url_store import FrontierEntry
from sanderling.models import (
    CandidateUrl,
    FileRef,
    Host,
    Outcome,
    Reason,
    SitemapHint,
    Url,
    UrlRole,
    UrlSource,
    UrlState,
    Visit,
)
from sanderling.revisit.announcements import Announcer, RevisitHint
from sanderling.revisit.change_lists import DEFAULT_PRIORITY, DELETED_PRIORITY, is_valid_answer
from sanderling.urls.normalize import get_host, split_url
from sanderling.urls.scope import can_sitemap_list

SITEMAP_ROLES = (UrlRole.SITEMAP, UrlRole.FEED)
# Tried one after the other, each once, if robots.txt names no sitemap.
WELL_KNOWN_PATHS = ("/sitemap.xml", "/sitemap_index.xml", "/sitemap.txt", RESOURCESYNC_PATH, "/llms.txt")
MAX_FEW_URLS = 4  # known URLs of a host with hardly a link
PAGES_PER_PATH = 50  # on average, of a host with more URLs, before each further path: it costs a crawl delay


def process_sitemaps(visits: Sequence[Visit], context: SitemapServices, now: float) -> None:
    """Process sitemaps, feeds and change lists, and queue those that visits refer to."""
    if not context.options.use_sitemaps:
        return
    for visit in visits:
        if visit.role is UrlRole.CHANGE_LIST:
            _process_change_list(visit, context, now)
            continue
        if visit.file_refs:
            _register_change_list(visit, context, now)
            same_site = [p for p in visit.file_refs if p.role in SITEMAP_ROLES and can_sitemap_list(p.url, visit.url)]
            enqueue_sitemaps(
                same_site,
                context.frontier,
                now,
                visit.id,
                0
                if visit.role is UrlRole.PAGE
                else 1 + count_sitemap_indexes(context.db, visit.id, MAX_HOPS * MAX_INDEX_DEPTH),
            )
        if visit.role in SITEMAP_ROLES:
            _process_sitemap(visit, context, now)
        if visit.outcome in (Outcome.GONE, Outcome.FAILED) and split_url(visit.url)[1] in WELL_KNOWN_PATHS:
            host_id = context.frontier.url_store.get_host_id(get_host(visit.url))
            if not has_more_urls(context.db, host_id, MAX_FEW_URLS + 1):  # with the path itself
                _try_next_path(visit, context, now)
        elif visit.role is UrlRole.PAGE and visit.id % PAGES_PER_PATH == 0:
            _try_next_path(visit, context, now)


def _try_next_path(visit: Visit, context: SitemapServices, now: float) -> None:
    """Queue the next well-known path of a host, if those before it were tried and are missing."""
    urls = [Url(get_host(visit.url) + path) for path in WELL_KNOWN_PATHS]
    known = context.frontier.url_store.get(urls)
    tried = [url for url in urls if url in known]
    if 0 < len(tried) < len(urls) and context.revisit.sitemap_schedule.is_missing(known[tried[-1]].id):
        enqueue_sitemaps([FileRef(next(url for url in urls if url not in known))], context.frontier, now)


def _process_sitemap(visit: Visit, context: SitemapServices, now: float) -> None:
    """Apply a sitemap or feed, and schedule its next visit. Clears hints of a retired sitemap."""
    announcer = Announcer.SITEMAP if visit.role is UrlRole.SITEMAP else Announcer.FEED
    if visit.outcome is Outcome.NOT_MODIFIED or visit.detail == UNCHANGED_DETAIL:
        context.revisit.sitemap_schedule.record_read(visit.id, now, has_new_entries=False)
    elif visit.outcome is Outcome.FETCHED and not visit.detail.startswith(SitemapKind.UNKNOWN):
        _apply_sitemap_hints(visit, context, now)
        context.revisit.sitemap_schedule.record_read(
            visit.id, now, has_new_entries=bool(visit.sitemap_hints or visit.file_refs)
        )
    elif visit.outcome is not Outcome.REDIRECT and context.revisit.sitemap_schedule.record_failure(
        visit.id, now, visit.outcome is Outcome.GONE, is_guess=_is_guess(visit, context)
    ):
        context.revisit.schedule.clear_sitemap_hints(
            context.storage.sitemap_hints.replace_hints(visit.id, [], now), now, announcer
        )


def _is_guess(visit: Visit, context: SitemapServices) -> bool:
    """Return whether a path was only tried because it is well known."""
    host, path = get_host(visit.url), split_url(visit.url)[1]
    return path in WELL_KNOWN_PATHS and not _is_named_by_robots(host, visit.url, context, {})


def enqueue_sitemaps(
    file_refs: Sequence[FileRef], frontier: Frontier, now: float, referrer_id: int = 0, level: int = 0
) -> None:
    """Queue unknown sitemaps and feeds ahead of pages."""
    url_filter, known = frontier.url_filter, frontier.url_store.get([ref.url for ref in file_refs])
    entries, foreign = {}, list[ForeignLink]()
    for ref in file_refs:
        if ref.url not in known and frontier.is_foreign(ref.url):
            foreign.append(ForeignLink(ref.url, ref.request_url, 0, UrlSource.SITEMAP, ref.role))
        elif ref.url not in known and level <= MAX_INDEX_DEPTH and url_filter.can_add_sitemap(get_host(ref.url)):
            candidate = CandidateUrl(
                ref.url,
                ref.request_url,
                0,
                UrlSource.SITEMAP,
                referrer_id,
                rank=SITEMAP_RANK,
                role=ref.role,
            )
            entries[ref.url] = FrontierEntry(candidate, UrlState.QUEUED)
    frontier.enqueue(list(entries.values()), now)
    frontier.send_foreign(foreign, {}, now)


def _apply_sitemap_hints(visit: Visit, context: SitemapServices, now: float) -> None:
    """Queue pages that a sitemap may list, and store its hints."""
    named_by_robots: dict[Host, bool] = {}
    source = UrlSource.SITEMAP if visit.role is UrlRole.SITEMAP else UrlSource.FEED
    discovered: dict[Url, DiscoveredUrl] = {}
    hints: dict[Url, SitemapHint] = {}
    for hint in visit.sitemap_hints:
        if can_list_url(visit.url, hint.url, context, named_by_robots):
            priority = hint.priority if hint.priority >= 0 else 0.5
            level = 1 + context.frontier.url_filter.get_sitemap_depth(get_host(hint.url))
            discovered[hint.url] = DiscoveredUrl(level, False, source, visit, hint.request_url, priority=priority)
            hints[hint.url] = hint
        elif context.frontier.url_filter.should_record(visit.url, Reason.FOREIGN_SITEMAP):
            discovered[hint.url] = DiscoveredUrl(1, True, source, visit, hint.request_url)
    first = context.frontier.url_store.next_id
    ids = enqueue_discovered(discovered, context, now)
    stored = [(ids[url], hint) for url, hint in hints.items() if url in ids]
    if context.ordering.uses_sitemap_priority:
        _rerank_known_urls(
            {ids[url]: discovered[url].priority for url in hints if ids.get(url, first) < first}, context
        )
    announcer = Announcer.SITEMAP if visit.role is UrlRole.SITEMAP else Announcer.FEED
    context.revisit.schedule.clear_sitemap_hints(
        context.storage.sitemap_hints.replace_hints(visit.id, stored, visit.visited_at), now, announcer
    )
    revisit_hints = {id_: RevisitHint(hint.lastmod, hint.is_date_only, hint.changefreq) for id_, hint in stored}
    context.revisit.schedule.set_sitemap_hints(revisit_hints, now, announcer)
    newer = context.storage.sitemap_hints.find_newer([id_ for id_, hint in stored if hint.lastmod])
    context.stats.announced += context.revisit.schedule.mark_announced(newer, now, announcer)


def _rerank_known_urls(priorities: Mapping[int, float], context: SitemapServices) -> None:
    """Apply sitemap priorities to URLs that are queued already."""
    stored = context.storage.sitemap_hints.load_hints(list(priorities))
    old_priorities = {
        id_: stored[id_].priority if id_ in stored and stored[id_].priority >= 0 else DEFAULT_PRIORITY
        for id_ in priorities
    }
    context.frontier.raise_ranks(
        context.ordering.compute_sitemap_gains(
            {id_: priority - old_priorities[id_] for id_, priority in priorities.items()}
        )
    )


def can_list_url(sitemap: str, url: Url, context: SitemapServices, named_by_robots: dict[Host, bool]) -> bool:
    """Whether a sitemap may list a URL: same site, or named by its robots.txt."""
    return can_sitemap_list(url, sitemap) or _is_named_by_robots(get_host(url), sitemap, context, named_by_robots)


def _is_named_by_robots(host: Host, sitemap: str, context: SitemapServices, named_by_robots: dict[Host, bool]) -> bool:
    if host not in named_by_robots:
        robots = context.frontier.hosts.get_robots(host)
        named_by_robots[host] = (
            robots is not None and sitemap in build_robots_rules(robots, context.options.agent_token).sitemaps
        )
    return named_by_robots[host]


def _register_change_list(visit: Visit, context: SitemapServices, now: float) -> None:
    """Register the change list that a page names for its host."""
    for ref in visit.file_refs:
        if ref.role is not UrlRole.CHANGE_LIST or get_host(ref.url) != get_host(visit.url):
            continue
        known = context.frontier.url_store.get([ref.url]).get(ref.url)
        if known is None or context.revisit.change_lists.is_abandoned(known.id):
            request_url = context.revisit.change_lists.build_first_request(
                ref.url, context.frontier.url_store.get_host_id(get_host(visit.url)), visit
            )
            if known is None:
                new = CandidateUrl(ref.url, request_url, 0, UrlSource.SITEMAP, visit.id, role=UrlRole.CHANGE_LIST)
                context.revisit.change_lists.register_list(
                    context.frontier.enqueue([FrontierEntry(new, UrlState.VISITED)], now)[ref.url]
                )
            else:
                context.revisit.change_lists.reactivate_list(known.id, request_url)


def _process_change_list(visit: Visit, context: SitemapServices, now: float) -> None:
    """Mark announced pages as due, and queue new pages above the threshold."""
    if not context.revisit.change_lists.is_registered(visit.id):
        return None
    if visit.outcome is Outcome.RETRY:
        return context.revisit.change_lists.record_retry(visit.id, now)
    if visit.outcome is not Outcome.FETCHED or not is_valid_answer(visit):
        context.log.write_message(
            f"{visit.url} returned no change list (status {visit.status}); its pages are scheduled without it"
        )
        return context.revisit.change_lists.record_failure(visit, now)
    hints = {hint.url: hint for hint in visit.sitemap_hints if get_host(hint.url) == get_host(visit.url)}
    known = context.frontier.url_store.get(hints)
    priorities = {
        url: DELETED_PRIORITY if hint.is_deleted else hint.priority if hint.priority >= 0 else DEFAULT_PRIORITY
        for url, hint in hints.items()
    }
    new = {
        url: DiscoveredUrl(1, False, UrlSource.SITEMAP, visit, hint.request_url, priority=priorities[url])
        for url, hint in hints.items()
        if url not in known and not hint.is_deleted and context.revisit.change_lists.is_above_threshold(priorities[url])
    }
    enqueue_discovered(new, context, now)
    context.revisit.schedule.mark_announced({found.id: now for found in known.values()}, now, Announcer.PUBLISHER)
    context.revisit.change_lists.record_part(
        visit, [(known[url].id, priorities[url]) for url in known], visit.change_list_next, now
    )
    context.storage.catalog.record_missing([known[url].id for url in known if hints[url].is_deleted])
    context.stats.announced += len(known)
    return None
