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
from sanderling.frontier.url_store import Book, id_of
from sanderling.models import Outcome, Reason, Role, State, Url, Visit
from sanderling.storage.catalog import Latest
from sanderling.urls.normalize import normalise

WITH_COOKIES = 3  # times a page is asked for again in one run: a site may want more than one cookie
STORED = "SELECT u.id, p.location, p.last_visit, u.state FROM pages AS p JOIN urls AS u ON u.id = p.url WHERE u.id = ?"


class Hop(Struct, frozen=True):
    """A page that redirects, as it is stored or as it just came home."""

    id: int
    location: str
    at: float
    state: str


class Rounds(Struct):
    """Follows the redirects of one run, which began at a time."""

    db: Connection
    book: Book
    order: Ordering
    began: float
    cookies: bool = False
    asked: Counter[int] = field(default_factory=Counter)  # pages that were asked for again, and how often

    def follow(self, visits: Sequence[Visit], latest: Mapping[int, Latest]) -> tuple[list[Visit], list[int]]:
        """The visits, as they count if redirects lead back; and the pages to ask for again because of them."""
        led: list[Visit] = []
        again: list[int] = []
        came: dict[Url, Hop] = {}
        for visit in visits:
            target = self._back(visit, came) if visit.outcome is Outcome.REDIRECT and visit.role is Role.PAGE else None
            if target is None:
                led.append(visit)
            elif self._holds(visit, latest):
                led.append(replace(visit, outcome=Outcome.RETURNED))
            elif target.state == State.QUEUED:
                led.append(visit)  # it will be asked for anyway
            elif self._may_ask(target):
                led.append(visit)
                again.append(target.id)
            else:
                note = visit.location[:200]
                led.append(replace(visit, outcome=Outcome.FAILED, reason=Reason.TOO_MANY_REDIRECTS, note=note))
            if led[-1].outcome is Outcome.REDIRECT:
                came[visit.url] = Hop(visit.id, visit.location, visit.at, State.VISITED)
        return led, again

    def ask(self, pages: Sequence[int]) -> None:
        """Queue these pages once more."""
        for id_ in dict.fromkeys(pages):
            self.book.visit_again(id_, partial(self.order.again, id_))

    def _back(self, visit: Visit, came: Mapping[Url, Hop]) -> Hop | None:
        """Where a redirect leads, if the way from there is known to lead back; None: it is not, or there is no way."""
        first: Hop | None = None
        target = normalise(visit.location)
        for _ in range(MAX_HOPS):
            if target is None or target.url == visit.url:
                break
            hop = self._hop(target.url, came)
            first = first or hop
            target = normalise(hop.location) if hop else None
        return first if target is not None and target.url == visit.url else None

    def _hop(self, url: Url, came: Mapping[Url, Hop]) -> Hop | None:
        if url in came:
            return came[url]
        answer = self.book.look_up([url]).get(url)
        row = self.db.execute(STORED, (id_of(answer),)).fetchone() if answer is not None else None
        return Hop(*row) if row else None

    def _holds(self, visit: Visit, latest: Mapping[int, Latest]) -> bool:
        """Is a page sent round that showed itself before? Then the round is no news of it."""
        held = latest.get(visit.id)
        return self.cookies and held is not None and held.is_there and self._count(visit.id, WITH_COOKIES)

    def _may_ask(self, target: Hop) -> bool:
        return self._count(target.id, WITH_COOKIES if self.cookies else int(target.at < self.began))

    def _count(self, page: int, most: int) -> bool:
        self.asked[page] += 1
        return self.asked[page] <= most
