"""Letters between a migrant and its host: what each asks for, what came early, what is to be asked for again.

A site that is met for the first time is asked for as a whole. Its pages come before anybody asks for them and are kept
until then; what such a letter did not bring is asked for by name.

A host that cannot be reached, or a link that is cut, is no fault of the pages: their letters are written again, later
and later, for some minutes.
"""

from collections import OrderedDict, defaultdict

from msgspec import Struct

from sanderling.clock import Clock
from sanderling.models import Brief, Host, Itinerary, Stop, Url
from sanderling.urls.normalize import host_of
from sanderling.workers.migrant import prose
from sanderling.workers.migrant.client import Address, Failed, News, Post, Sent
from sanderling.workers.migrant.messages import CUT, LETTER_SECONDS, MOMENT, Letter, Page, Wanted, new_nonce

OVERHEAD = 1000  # bytes a page costs beside its words
KEPT_BYTES = 256 * 2**20  # pages the host found before we asked for them
PATIENCE_SECONDS = 300.0  # a host that goes away may come back within this time
LONGEST_WAIT = 15.0  # seconds between two letters to a host that does not answer


class Again(Struct, frozen=True):
    """Stops that are to be asked for once more."""

    at: float
    sent: Sent
    stops: list[Stop]


class Brought(Struct, frozen=True):
    """A page that came, what it cost on the way, and when it was seen."""

    page: Page
    size: int
    at: float


class Correspondence:
    """Everything that was written to one host and is not answered yet."""

    def __init__(self, address: Address, agent: str, clock: Clock) -> None:
        self._address, self._agent, self._clock = address, agent, clock
        self._post = Post(address, clock)
        self._sites: set[Host] = set()
        self._letters: dict[bytes, Sent] = {}  # not answered to the end yet, by nonce
        self._whole: Sent | None = None  # the letter for a whole site
        self._asked: dict[Url, Stop] = {}  # stops that it should bring
        self._early: OrderedDict[Url, Brought] = OrderedDict()  # came before they were asked for
        self._early_bytes = 0
        self._again: list[Again] = []
        self._failing_since = 0.0  # 0: the last letter was answered
        self._failures = 0

    def meet(self, host: Host) -> bool:
        """Is this a site we come to for the first time?"""
        is_new = host not in self._sites
        self._sites.add(host)
        return is_new

    def ask(self, itinerary: Itinerary, whole: bool) -> list[tuple[Stop, Brought]]:
        """Send for the stops of one site; those that are here already come back at once."""
        here, missing = list[tuple[Stop, Brought]](), list[Stop]()
        for stop in itinerary.stops:
            early = self._take_early(stop.url)
            if early is not None:
                here.append((stop, early))
            else:
                missing.append(stop)
        if self._whole is not None and not whole:
            self._asked |= {stop.url: stop for stop in missing}
        elif missing:
            self.write(itinerary.host, missing, whole, itinerary.robots is None, itinerary.brief)
        return here

    def write(
        self, host: Host, stops: list[Stop], whole: bool = False, robots: bool = False, brief: Brief | None = None
    ) -> None:
        """Write one letter."""
        now = self._clock()
        wanted = tuple(
            Wanted((stop.wire or stop.url)[len(host) :], stop.digest[:CUT], stop.depth) for stop in stops
        )  # fmt: skip
        letter = Letter(
            self._post.sender, self._address.receiver, host, now, now + LETTER_SECONDS, new_nonce(), wanted, whole,
            agent=self._agent, robots=robots, codings=(prose.NAME,) if prose.is_here() else (), brief=brief,
        )  # fmt: skip
        sent = Sent(letter, dict(enumerate(stops)))
        self._whole = sent if whole else self._whole
        self._letters[letter.nonce] = sent
        self._post.outbox.put(sent)

    def write_again(self) -> None:
        """Write the letters that failed and have waited long enough."""
        due = [again for again in self._again if again.at <= self._clock()]
        for again in due:
            self._again.remove(again)
            letter = again.sent.letter
            for host, stops in _by_host(again.stops).items():
                self.write(host, stops, False, letter.robots, letter.brief)

    def read(self, timeout: float) -> News | None:
        """The next message, if one comes within this time; what follows the end of an answer is not heard."""
        try:
            news = self._post.inbox.get(timeout=timeout) if timeout else self._post.inbox.get_nowait()
            while news[0].letter.nonce not in self._letters:
                news = self._post.inbox.get_nowait()
        except Post.EMPTY:
            return None
        if not isinstance(news[1], Failed):
            self._failing_since, self._failures = 0.0, 0
        return news

    def stop_of(self, sent: Sent, where: int | str) -> Stop | None:
        """Whom a message is for: it is not waited for any more. None if nobody asked, or not yet."""
        if isinstance(where, int):
            return sent.open.pop(where, None)
        return self._asked.pop(Url(sent.letter.site + where), None)

    def keep(self, sent: Sent, brought: Brought) -> None:
        """Keep a page of a whole site until somebody asks for it; the oldest go when there are too many."""
        where = brought.page.where
        if not isinstance(where, str) or sent is not self._whole or not where.startswith("/"):
            return
        self._take_early(Url(sent.letter.site + where))  # one that is sent twice is kept once
        self._early[Url(sent.letter.site + where)] = brought
        self._early_bytes += _weight(brought.page)
        while self._early_bytes > KEPT_BYTES:
            self._early_bytes -= _weight(self._early.popitem(last=False)[1].page)

    def _take_early(self, url: Url) -> Brought | None:
        early = self._early.pop(url, None)
        self._early_bytes -= _weight(early.page) if early is not None else 0
        return early

    def end(self, sent: Sent) -> None:
        """A letter was answered; what the whole site did not bring is asked for by name."""
        del self._letters[sent.letter.nonce]
        if sent is self._whole:
            self._whole = None
            asked, self._asked = list(self._asked.values()), {}
            for host, stops in _by_host(asked).items():
                self.write(host, stops)

    def fail(self, sent: Sent, failed: Failed) -> list[Stop]:
        """A letter was not answered: it is written again later, or its stops are given up and come back."""
        del self._letters[sent.letter.nonce]
        stops = list(sent.open.values())
        if sent is self._whole:
            self._whole = None
            stops += self._asked.values()
            self._asked = {}
        now = self._clock()
        self._failing_since = self._failing_since or now
        if failed.final or now - self._failing_since >= PATIENCE_SECONDS:
            return stops
        if stops:
            self._again.append(Again(now + min(2.0**self._failures, LONGEST_WAIT), sent, stops))
            self._failures += 1
        return []

    def abandon(self) -> list[Stop]:
        """Wait for nothing any more: everything that was asked for comes back."""
        stops = [stop for sent in self._letters.values() for stop in sent.open.values()]
        for sent in self._letters.values():
            sent.open.clear()
        stops += [*self._asked.values(), *(stop for again in self._again for stop in again.stops)]
        self._asked.clear()
        self._again.clear()
        return stops

    def close(self) -> None:
        """Leave the host."""
        self._post.close()


def brought_by(sent: Sent, page: Page, size: int) -> Brought:
    """A page with its time by our clock; it was not looked at before we asked."""
    return Brought(page, size, sent.letter.issued + max(0.0, page.at / MOMENT))


def _by_host(stops: list[Stop]) -> dict[Host, list[Stop]]:
    """While a whole site is on its way, stops of other sites are asked for too."""
    found = defaultdict[Host, list[Stop]](list)
    for stop in stops:
        found[host_of(stop.url)].append(stop)
    return found


def _weight(page: Page) -> int:
    return len(page.body) + len(page.head) + len(str(page.where)) + OVERHEAD
