"""Validate redirects, and detect redirect loops.

A stored redirect may be outdated, and some sites show a page only to clients that return with a cookie. So the page
that a loop leads to is fetched again: once per run, or a few times with cookies. After that the redirect fails.
"""

from collections.abc import Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from sanderling.crawl.context import RunState
from sanderling.crawl.stages.stage_services import RedirectServices
from sanderling.frontier.frontier import Frontier
from sanderling.frontier.known_url import unpack_url_id
from sanderling.frontier.lease_outcome import MAX_HOPS
from sanderling.frontier.ordering.protocol import Ordering
from sanderling.frontier.url_rows import UrlRow
from sanderling.models import Outcome, Reason, Url, UrlRole, UrlState, Visit
from sanderling.storage.catalog import PageState
from sanderling.storage.queries import RedirectHop, load_redirect_hop
from sanderling.urls.normalize import normalize_url, resolve_url

MAX_RETRIES_WITH_COOKIES = 3  # per page and run: a site may set several cookies in turn


def validate_redirect(visit: Visit, row: UrlRow) -> Visit:
    """Fail a redirect without a valid target, or with too many hops."""
    if visit.outcome is not Outcome.REDIRECT:
        return visit
    request_url = row.request_url or visit.url
    target = resolve_url(request_url, visit.location)
    if target is not None and row.hops < MAX_HOPS and target.request_url != request_url:
        return visit
    reason = Reason.REDIRECT_WITHOUT_TARGET if target is None else Reason.TOO_MANY_REDIRECTS
    return replace(visit, outcome=Outcome.FAILED, reason=reason, detail=visit.location[:200])


def get_self_redirect_target(visit: Visit, row: UrlRow) -> str | None:
    """Return the request URL that a server prefers for the same URL key.

    None: the visit is not a redirect to itself.
    """
    if visit.outcome is not Outcome.REDIRECT:
        return None
    target = resolve_url(row.request_url or visit.url, visit.location)
    return target.distinct_request_url if target is not None and target.url == visit.url else None


def resolve_loops(
    visits: Sequence[Visit], latest: Mapping[int, PageState], context: RedirectServices
) -> tuple[list[Visit], list[int]]:
    """Return the resolved visits, and the ids of pages to fetch again."""
    resolved: list[Visit] = []
    retry_ids: list[int] = []
    recent_hops: dict[Url, RedirectHop] = {}
    run, keeps_cookies = context.run, context.options.keeps_cookies
    for visit in visits:
        is_page_redirect = visit.outcome is Outcome.REDIRECT and visit.role is UrlRole.PAGE
        target = _find_loop_target(visit, recent_hops, context.frontier) if is_page_redirect else None
        if target is None:
            resolved.append(visit)
        elif keeps_cookies and _asks_for_cookie_again(latest.get(visit.id), run):
            resolved.append(replace(visit, outcome=Outcome.RETURNED))
        elif target.state == UrlState.QUEUED:
            resolved.append(visit)  # the target is fetched anyway
        elif _can_retry(target, run, keeps_cookies):
            resolved.append(visit)
            retry_ids.append(target.id)
        else:
            detail = visit.location[:200]
            resolved.append(replace(visit, outcome=Outcome.FAILED, reason=Reason.TOO_MANY_REDIRECTS, detail=detail))
        if resolved[-1].outcome is Outcome.REDIRECT:
            recent_hops[visit.url] = RedirectHop(visit.id, visit.location, visit.visited_at, UrlState.VISITED)
    return resolved, retry_ids


def requeue_loop_pages(page_ids: Sequence[int], frontier: Frontier, ordering: Ordering) -> None:
    for id_ in dict.fromkeys(page_ids):
        frontier.url_store.requeue_visited(id_, partial(ordering.rank_known, id_))


def _find_loop_target(visit: Visit, recent_hops: Mapping[Url, RedirectHop], frontier: Frontier) -> RedirectHop | None:
    """Return the first page of a redirect loop through this URL.

    None: the chain does not loop.
    """
    first: RedirectHop | None = None
    target = normalize_url(visit.location)
    for _ in range(MAX_HOPS):
        if target is None or target.url == visit.url:
            break
        hop = recent_hops.get(target.url) or _load_hop(target.url, frontier)
        first = first or hop
        target = normalize_url(hop.location) if hop else None
    return first if target is not None and target.url == visit.url else None


def _load_hop(url: Url, frontier: Frontier) -> RedirectHop | None:
    packed = frontier.url_store.get_packed([url]).get(url)
    return load_redirect_hop(frontier.db, unpack_url_id(packed)) if packed is not None else None


def _asks_for_cookie_again(old: PageState | None, run: RunState) -> bool:
    """Whether a stored page only redirects because its site asks for a cookie again."""
    return old is not None and old.is_present and _count_fetch(old.url_id, MAX_RETRIES_WITH_COOKIES, run)


def _can_retry(target: RedirectHop, run: RunState, keeps_cookies: bool) -> bool:
    limit = MAX_RETRIES_WITH_COOKIES if keeps_cookies else int(target.fetched_at < run.started_at)
    return _count_fetch(target.id, limit, run)


def _count_fetch(page_id: int, limit: int, run: RunState) -> bool:
    run.loop_fetches[page_id] += 1
    return run.loop_fetches[page_id] <= limit
