"""Redirects that lead back to where they began: a page on the way is asked for again, or the round is a failure.

What is stored of a redirect may be old, and a site that wants its cookie back shows a page to those who come round. So
the page a round leads to is asked for again: once, if this run did not ask for it yet, and a few times where cookies
are kept. Who closes the round after that has one redirect too many.
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

MAX_RETRIES_WITH_COOKIES = 3  # times a page is asked for again in one run: a site may want more than one cookie
REDIRECT_SQL = (
    "SELECT u.id, p.location, p.last_visit, u.state FROM pages AS p JOIN urls AS u ON u.id = p.url WHERE u.id = ?"
)


class RedirectHop(Struct, frozen=True):
    """A page that redirects, as it is stored or as it just came home."""

    id: int
    location: str
    fetched_at: float
    state: str


class RedirectLoops(Struct):
    """Follows the redirects of one run, which began at a time."""

    db: Connection
    url_store: UrlStore
    ordering: Ordering
    run_started_at: float
    keeps_cookies: bool = False
    retry_counts: Counter[int] = field(default_factory=Counter)  # pages that were asked for again, and how often

    def resolve_loops(self, visits: Sequence[Visit], latest: Mapping[int, PageState]) -> tuple[list[Visit], list[int]]:
        """The visits, as they count if redirects lead back; and the pages to ask for again because of them."""
        led: list[Visit] = []
        again: list[int] = []
        came: dict[Url, RedirectHop] = {}
        for visit in visits:
            target = (
                self._find_loop_target(visit, came)
                if visit.outcome is Outcome.REDIRECT and visit.role is UrlRole.PAGE
                else None
            )
            if target is None:
                led.append(visit)
            elif self._is_known_page(visit, latest):
                led.append(replace(visit, outcome=Outcome.RETURNED))
            elif target.state == UrlState.QUEUED:
                led.append(visit)  # it will be asked for anyway
            elif self._can_retry(target):
                led.append(visit)
                again.append(target.id)
            else:
                note = visit.location[:200]
                led.append(replace(visit, outcome=Outcome.FAILED, reason=Reason.TOO_MANY_REDIRECTS, detail=note))
            if led[-1].outcome is Outcome.REDIRECT:
                came[visit.url] = RedirectHop(visit.id, visit.location, visit.visited_at, UrlState.VISITED)
        return led, again

    def requeue_pages(self, page_ids: Sequence[int]) -> None:
        """Queue these pages once more."""
        for id_ in dict.fromkeys(page_ids):
            self.url_store.requeue_visited(id_, partial(self.ordering.rank_known, id_))

    def _find_loop_target(self, visit: Visit, recent_hops: Mapping[Url, RedirectHop]) -> RedirectHop | None:
        """Where a redirect leads, if the way from there is known to lead back; None: it is not, or there is no way."""
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
        answer = self.url_store.get_packed([url]).get(url)
        row = self.db.execute(REDIRECT_SQL, (unpack_url_id(answer),)).fetchone() if answer is not None else None
        return RedirectHop(*row) if row else None

    def _is_known_page(self, visit: Visit, latest: Mapping[int, PageState]) -> bool:
        """Is a page sent round that showed itself before? Then the round is no news of it."""
        held = latest.get(visit.id)
        return (
            self.keeps_cookies
            and held is not None
            and held.is_present
            and self._count_retry(visit.id, MAX_RETRIES_WITH_COOKIES)
        )

    def _can_retry(self, target: RedirectHop) -> bool:
        return self._count_retry(
            target.id, MAX_RETRIES_WITH_COOKIES if self.keeps_cookies else int(target.fetched_at < self.run_started_at)
        )

    def _count_retry(self, page_id: int, limit: int) -> bool:
        self.retry_counts[page_id] += 1
        return self.retry_counts[page_id] <= limit
