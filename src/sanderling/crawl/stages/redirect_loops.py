"""Detect redirect loops.

A stored redirect may be outdated, and some sites show a page only to clients that return with a cookie. So the page
that a loop leads to is fetched again: once per run, or a few times with cookies. After that the redirect fails.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

from msgspec import Struct, field
from msgspec.structs import replace

from sanderling.db.connection import Connection
from sanderling.frontier.lease_outcome import MAX_HOPS
from sanderling.frontier.ordering.protocol import Ordering
from sanderling.frontier.url_store import UrlStore, unpack_url_id
from sanderling.models import Outcome, Reason, Url, UrlRole, UrlState, Visit
from sanderling.storage.catalog import PageState
from sanderling.urls.normalize import normalize_url

MAX_RETRIES_WITH_COOKIES = 3  # per page and run: a site may set several cookies in turn
REDIRECT_SQL = (
    "SELECT u.id, p.location, p.last_visit, u.state FROM pages AS p JOIN urls AS u ON u.id = p.url WHERE u.id = ?"
)


class RedirectHop(Struct, frozen=True):
    """A redirecting page, stored or from this batch."""

    id: int
    location: str
    fetched_at: float
    state: str


class RedirectLoops(Struct):
    """Redirect loops of a run."""

    db: Connection
    url_store: UrlStore
    ordering: Ordering
    run_started_at: float
    keeps_cookies: bool = False
    retry_counts: Counter[int] = field(default_factory=Counter)  # page id: fetches because of a loop

    def resolve_loops(self, visits: Sequence[Visit], latest: Mapping[int, PageState]) -> tuple[list[Visit], list[int]]:
        """Return the resolved visits, and the ids of pages to fetch again."""
        resolved: list[Visit] = []
        retry_ids: list[int] = []
        recent_hops: dict[Url, RedirectHop] = {}
        for visit in visits:
            is_page_redirect = visit.outcome is Outcome.REDIRECT and visit.role is UrlRole.PAGE
            target = self._find_loop_target(visit, recent_hops) if is_page_redirect else None
            if target is None:
                resolved.append(visit)
            elif self._is_known_page(visit, latest):
                resolved.append(replace(visit, outcome=Outcome.RETURNED))
            elif target.state == UrlState.QUEUED:
                resolved.append(visit)  # the target is fetched anyway
            elif self._can_retry(target):
                resolved.append(visit)
                retry_ids.append(target.id)
            else:
                detail = visit.location[:200]
                resolved.append(replace(visit, outcome=Outcome.FAILED, reason=Reason.TOO_MANY_REDIRECTS, detail=detail))
            if resolved[-1].outcome is Outcome.REDIRECT:
                recent_hops[visit.url] = RedirectHop(visit.id, visit.location, visit.visited_at, UrlState.VISITED)
        return resolved, retry_ids

    def requeue_pages(self, page_ids: Sequence[int]) -> None:
        for id_ in dict.fromkeys(page_ids):
            self.url_store.requeue_visited(id_, partial(self.ordering.rank_known, id_))

    def _find_loop_target(self, visit: Visit, recent_hops: Mapping[Url, RedirectHop]) -> RedirectHop | None:
        """Return the first page of a redirect loop through this URL.

        None: the chain does not loop.
        """
        first: RedirectHop | None = None
        target = normalize_url(visit.location)
        for _ in range(MAX_HOPS):
            if target is None or target.url == visit.url:
                break
            hop = self._find_hop(target.url, recent_hops)
            first = first or hop
            target = normalize_url(hop.location) if hop else None
        return first if target is not None and target.url == visit.url else None

    def _find_hop(self, url: Url, recent_hops: Mapping[Url, RedirectHop]) -> RedirectHop | None:
        if url in recent_hops:
            return recent_hops[url]
        packed = self.url_store.get_packed([url]).get(url)
        row = self.db.execute(REDIRECT_SQL, (unpack_url_id(packed),)).fetchone() if packed is not None else None
        return RedirectHop(*row) if row else None

    def _is_known_page(self, visit: Visit, latest: Mapping[int, PageState]) -> bool:
        """Whether a stored page only redirects because its site asks for a cookie again."""
        old = latest.get(visit.id)
        return (
            self.keeps_cookies
            and old is not None
            and old.is_present
            and self._count_retry(visit.id, MAX_RETRIES_WITH_COOKIES)
        )

    def _can_retry(self, target: RedirectHop) -> bool:
        return self._count_retry(
            target.id, MAX_RETRIES_WITH_COOKIES if self.keeps_cookies else int(target.fetched_at < self.run_started_at)
        )

    def _count_retry(self, page_id: int, limit: int) -> bool:
        self.retry_counts[page_id] += 1
        return self.retry_counts[page_id] <= limit
