"""A trip whose pages are looked at by a host beside the web server: same orders, same parcels, far fewer bytes.

Letters go out as itineraries come in. The host sends pages as their server gave them; they are parsed, marked and
packed here, exactly as if they had been fetched here. So a digest is always that of the body in the parcel, and a host
whose digests do not fit its pages is found out.

A host that cannot be reached, or a link that is cut, is no fault of the pages: their letters are written again, later
and later, for some minutes.
"""

import queue
import time
from collections import OrderedDict, deque
from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from sanderling.clock import Clock, real
from sanderling.engines.checks import Checks
from sanderling.engines.hosts import prose
from sanderling.engines.hosts.letter import (
    CHECK,
    CUT,
    LETTER_SECONDS,
    MOMENT,
    End,
    Letter,
    Message,
    Missed,
    Page,
    Rules,
    Unlike,
    Wanted,
    new_nonce,
)
from sanderling.engines.hosts.post import Address, Failed, Post, Sent
from sanderling.migrants.brief import told
from sanderling.migrants.briefed import open_buffer
from sanderling.migrants.line import door_of
from sanderling.migrants.observe import Marks, Observer, untried
from sanderling.migrants.settings import FetchSettings
from sanderling.migrants.transfer import Ask, Reply
from sanderling.migrants.vitals import Pulse
from sanderling.organise.normalise import host_of
from sanderling.records import Brief, Host, Itinerary, Outcome, Parcel, Reason, Robots, Stop, Url, Visit, Vitals

KEPT_BYTES = 256 * 2**20  # pages the host found before we asked for them
BATCH = 64
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


class RemoteTrip:
    """Has the face of a `Trip`, but its eyes are at the host."""

    def __init__(
        self, settings: FetchSettings, marks: Marks, address: Address, clock: Clock = real, name: str = ""
    ) -> None:
        self._settings, self._clock, self._address = settings, clock, address
        self._observer = Observer(settings, marks)
        self._pulse = Pulse(name, clock)
        self._name = name
        self._post = Post(address)
        self._letters: list[Sent] = []
        self._early: OrderedDict[Url, Brought] = OrderedDict()  # came before they were asked for
        self._early_bytes = 0
        self._asked: dict[Url, Stop] = {}  # stops that a letter for the whole site should bring
        self._whole: Sent | None = None
        self._sites: set[Host] = set()
        self._again: list[Again] = []
        self._failing_since = 0.0  # 0: the last letter was answered
        self._failures = 0
        self._ready: deque[tuple[Stop, Brought]] = deque()
        self._visits: list[Visit] = []
        self._robots: list[Robots] = []
        self._load = 0
        self._buffer = open_buffer(settings.keep)
        self._checks = Checks(address, settings, marks)

    @property
    def load(self) -> int:
        """Stops in hand."""
        return self._load

    def accept(self, itinerary: Itinerary) -> None:
        """Send for the stops of one site; a site we come to for the first time is asked for as a whole."""
        self._load += len(itinerary.stops)
        if self._buffer is not None:
            known, itinerary = self._buffer.carry(itinerary, self._clock())
            self._visits += known
        first = itinerary.host not in self._sites
        self._sites.add(itinerary.host)
        if itinerary.robots is not None and not itinerary.robots.reachable:
            self._turn_away(itinerary.stops, Outcome.RETURNED, Reason.ROBOTS_UNREACHABLE)
            return
        self._checks.meet(itinerary)
        if self._checks.distrusts(itinerary.host):
            self._checks.fetch(itinerary.host, itinerary.stops)
            return
        whole = first and itinerary.brief is None and all(s.depth == 0 and not s.digest for s in itinerary.stops)
        missing = [stop for stop in itinerary.stops if not self._have(stop)]
        if self._whole is not None and not whole:
            self._asked |= {stop.url: stop for stop in missing}
        elif missing:
            self._write(itinerary.host, missing, whole, itinerary.robots is None, itinerary.brief)

    def _have(self, stop: Stop) -> bool:
        early = self._early.pop(stop.url, None)
        if early is not None:
            self._early_bytes -= len(early.page.body)
            self._ready.append((stop, early))
        return early is not None

    def _write(self, host: Host, stops: list[Stop], whole: bool, robots: bool, brief: Brief | None = None) -> None:
        now = self._clock()
        wanted = tuple(
            Wanted((stop.wire or stop.url)[len(host) :], stop.digest[:CUT], stop.depth) for stop in stops
        )  # fmt: skip
        letter = Letter(
            self._post.sender, self._address.receiver, host, now, now + LETTER_SECONDS, new_nonce(), wanted, whole,
            agent=self._settings.user_agent, robots=robots, codings=(prose.NAME,) if prose.is_here() else (),
            brief=brief,
        )  # fmt: skip
        sent = Sent(letter, dict(enumerate(stops)))
        self._whole = sent if whole else self._whole
        self._letters.append(sent)
        self._post.outbox.put(sent)

    def work(self, timeout: float) -> Parcel:
        """Take what the host sent and look at it, for one batch of pages at most."""
        deadline = time.monotonic() + timeout
        self._write_again()
        self._check()
        done = 0
        while done < BATCH:
            while self._ready and done < BATCH:
                self._observe(*self._ready.popleft())
                done += 1
            try:
                left = 0.0 if done or self._visits else max(0.0, deadline - time.monotonic())
                self._take(*(self._post.inbox.get(timeout=left) if left else self._post.inbox.get_nowait()))
            except queue.Empty:
                break
        robots, self._robots = self._robots, []
        return Parcel(self._name, tuple(self._hand_over()), tuple(robots))

    def _check(self) -> None:
        visits, believed, again = self._checks.work()
        self._visits += visits if self._buffer is None else map(self._buffer.weigh, visits)
        self._confirm(believed)
        for host, stop in again:
            self._write(host, [stop], False, False)

    def _confirm(self, stops: Iterable[Stop]) -> None:
        now = self._clock()
        self._visits += [
            Visit(stop.id, stop.token, stop.url, Outcome.NOT_MODIFIED, now, status=304, etag=stop.etag,
                  last_modified=stop.last_modified, role=stop.role) for stop in stops
        ]  # fmt: skip

    def _write_again(self) -> None:
        due = [again for again in self._again if again.at <= self._clock()]
        for again in due:
            self._again.remove(again)
            letter = again.sent.letter
            self._write(letter.site, again.stops, False, letter.robots, letter.brief)

    def _take(self, sent: Sent, message: Message | Failed, size: int) -> None:
        if not isinstance(message, Failed):
            self._failing_since, self._failures = 0.0, 0
        match message:
            case Page():
                self._page(sent, message, size)
            case Missed():
                stop = self._stop_of(sent, message.where)
                if stop is not None:
                    self._turn_away([stop], message.outcome, message.reason, message.note)
            case Unlike():
                self._unlike(sent, message)
            case Rules():
                if message.robots.host == sent.letter.site:
                    self._robots.append(message.robots)
            case End():
                self._end(sent)
            case Failed():
                self._fail(sent, message)

    def _stop_of(self, sent: Sent, where: int | str) -> Stop | None:
        if isinstance(where, int):
            stop = sent.open.pop(where, None)
            if stop is not None:
                self._checks.acquit(stop.id)
            return stop
        return self._asked.pop(Url(sent.letter.site + where), None)

    def _page(self, sent: Sent, page: Page, size: int) -> None:
        stop, brought = self._stop_of(sent, page.where), Brought(page, size, sent.letter.issued + page.at / MOMENT)
        if stop is not None:
            self._ready.append((stop, brought))
        elif isinstance(page.where, str) and sent is self._whole and page.where.startswith("/"):
            self._early[Url(sent.letter.site + page.where)] = brought
            self._early_bytes += len(page.body)
            while self._early_bytes > KEPT_BYTES:
                self._early_bytes -= len(self._early.popitem(last=False)[1].page.body)

    def _unlike(self, sent: Sent, message: Unlike) -> None:
        """A page that the host does not send because it is not what our brief asks for; it has it when we want it."""
        stop = self._stop_of(sent, message.where) if sent.letter.brief is not None else None
        if stop is not None and self._buffer is not None:
            self._buffer.forget(stop.id)
            visit = told(message.visit, f"{self._address.url} has it")
            self._visits.append(replace(visit, id=stop.id, token=stop.token, url=stop.url, at=self._clock()))
        elif stop is not None:
            self._turn_away([stop], Outcome.RETRY, Reason.BROKEN_RESPONSE, "the host did not bring it")

    def _end(self, sent: Sent) -> None:
        """What was not mentioned is as we know it; what the whole site did not bring is asked for by name."""
        self._letters.remove(sent)
        host, claims = sent.letter.site, list[Stop]()
        for stop in sent.open.values():
            if not stop.digest:
                self._turn_away([stop], Outcome.RETRY, Reason.BROKEN_RESPONSE, "the host did not bring it")
            elif lied := self._checks.convict(host, stop.id):
                self._visits.append(lied)
            else:
                claims.append(stop)
        self._confirm(self._checks.doubt(host, claims))
        if sent is self._whole:
            self._whole = None
            self._ask_for_rest()

    def _ask_for_rest(self) -> None:
        asked, self._asked = list(self._asked.values()), {}
        for host in {host_of(stop.url) for stop in asked}:
            self._write(host, [stop for stop in asked if host_of(stop.url) == host], False, False)

    def _fail(self, sent: Sent, failed: Failed) -> None:
        self._letters.remove(sent)
        stops = list(sent.open.values())
        if sent is self._whole:
            self._whole = None
            stops += self._asked.values()
            self._asked = {}
        now = self._clock()
        self._failing_since = self._failing_since or now
        if failed.final or now - self._failing_since >= PATIENCE_SECONDS:
            self._turn_away(stops, Outcome.FAILED if failed.final else Outcome.RETRY, failed.reason, failed.note)
        elif stops:
            self._again.append(Again(now + min(2.0**self._failures, LONGEST_WAIT), sent, stops))
            self._failures += 1

    def _observe(self, stop: Stop, brought: Brought) -> None:
        """Look at a page as if we had fetched it; a digest that does not fit its body is a failure of the host."""
        page, url = brought.page, stop.wire or stop.url
        ask = Ask(url, door_of(host_of(stop.url)), None)
        lines = page.head.splitlines(keepends=True)
        reply = Reply(ask, lines, page.body, page.took / 1000, wire_bytes=brought.size)
        visit = self._observer.observe(stop, reply, min(brought.at, self._clock()))
        if visit.outcome is Outcome.FETCHED and visit.digest[:CHECK] != page.digest:
            self._turn_away([stop], Outcome.FAILED, Reason.DIGEST_MISMATCH, f"{self._address.url} sent another page")
            return
        self._pulse.count(visit)
        self._visits.append(visit if self._buffer is None else self._buffer.weigh(visit))

    def abandon(self, drop_in_flight: bool = True) -> list[Visit]:  # noqa: ARG002 - the host finishes by itself
        """Give back what has not come; what the host still sends is dropped."""
        for stop, brought in self._ready:
            self._observe(stop, brought)
        self._ready.clear()
        for sent in self._letters:
            self._turn_away(sent.open.values(), Outcome.RETURNED)
            sent.open.clear()
        self._turn_away(self._asked.values(), Outcome.RETURNED)
        self._asked.clear()
        for again in self._again:
            self._turn_away(again.stops, Outcome.RETURNED)
        self._again.clear()
        self._turn_away(self._checks.abandon(), Outcome.RETURNED)
        return self._hand_over()

    def vitals(self) -> Vitals:
        """Say how this migrant is."""
        return self._pulse.take(self._load)

    def close(self) -> None:
        """Leave the host."""
        self._checks.close()
        self._post.close()

    def _turn_away(self, stops: Iterable[Stop], outcome: Outcome, reason: Reason = Reason.NONE, note: str = "") -> None:
        now = self._clock()
        self._visits += [untried(stop, outcome, reason, now, note[:200]) for stop in stops]

    def _hand_over(self) -> list[Visit]:
        visits, self._visits = self._visits, []
        self._load -= len(visits)
        return visits
