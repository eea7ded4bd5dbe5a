"""A trip whose pages are looked at by a host beside the web server: same orders, same parcels, far fewer bytes.

Letters go out as itineraries come in (correspondence.py). The host sends pages as their server gave them; they are
parsed, marked and packed here, exactly as if they had been fetched here. So a digest is always that of the body in the
parcel, and a host whose digests do not fit its pages is found out.
"""

import time
from collections import deque
from collections.abc import Iterable

from sanderling.clock import Clock, real
from sanderling.fetch.curl_transfer import Ask, Reply
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.heartbeat import Pulse
from sanderling.fetch.host_queue import door_of
from sanderling.fetch.process import Marks, Observer, untried
from sanderling.fetch.template_filter import open_buffer
from sanderling.models import Host, Itinerary, Outcome, Parcel, Reason, Robots, Stop, Visit, Vitals
from sanderling.urls.normalize import host_of
from sanderling.workers.migrant.client import Address, Failed, Sent
from sanderling.workers.migrant.messages import CHECK, End, Message, Missed, Page, Rules, Unlike
from sanderling.workers.migrant.requests import Brought, Correspondence, brought_by
from sanderling.workers.migrant.spot_checks import Checks
from sanderling.workers.migrant.validation import missed_said, rules_said, told_said

BATCH = 64


class RemoteTrip:
    """Has the face of a `Trip`, but its eyes are at the host."""

    def __init__(
        self, settings: FetchSettings, marks: Marks, address: Address, clock: Clock = real, name: str = ""
    ) -> None:
        self._clock, self._address = clock, address
        self._observer = Observer(settings, marks)
        self._pulse = Pulse(name, clock)
        self._name = name
        self._letters = Correspondence(address, settings.user_agent, clock)
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
        first = self._letters.meet(itinerary.host)
        if itinerary.robots is not None and not itinerary.robots.reachable:
            self._turn_away(itinerary.stops, Outcome.RETURNED, Reason.ROBOTS_UNREACHABLE)
            return
        self._checks.meet(itinerary)
        if self._checks.distrusts(itinerary.host):
            self._checks.fetch(itinerary.host, itinerary.stops)
            return
        whole = first and itinerary.brief is None and all(s.depth == 0 and not s.digest for s in itinerary.stops)
        self._ready += self._letters.ask(itinerary, whole)

    def work(self, timeout: float) -> Parcel:
        """Take what the host sent and look at it, for one batch of pages at most."""
        deadline = time.monotonic() + timeout
        self._letters.write_again()
        self._check()
        done = 0
        while done < BATCH:
            while self._ready and done < BATCH:
                self._observe(*self._ready.popleft())
                done += 1
            news = self._letters.read(0.0 if done or self._visits else max(0.0, deadline - time.monotonic()))
            if news is None:
                break
            self._take(*news)
        robots, self._robots = self._robots, []
        return Parcel(self._name, tuple(self._hand_over()), tuple(robots))

    def _check(self) -> None:
        visits, believed, again = self._checks.work()
        self._visits += visits if self._buffer is None else map(self._buffer.weigh, visits)
        self._confirm(believed)
        for host, stop in again:
            self._letters.write(host, [stop])

    def _confirm(self, stops: Iterable[Stop]) -> None:
        now = self._clock()
        self._visits += [
            Visit(stop.id, stop.token, stop.url, Outcome.NOT_MODIFIED, now, status=304, etag=stop.etag,
                  last_modified=stop.last_modified, role=stop.role) for stop in stops
        ]  # fmt: skip

    def _take(self, sent: Sent, message: Message | Failed, size: int) -> None:
        match message:
            case Page():
                self._page(sent, message, size)
            case Missed():
                stop = self._stop_of(sent, message.where)
                if stop is not None:
                    self._turn_away([stop], *missed_said(message))
            case Unlike():
                self._unlike(sent, message)
            case Rules():
                if message.robots.host == sent.letter.site:
                    self._robots.append(rules_said(message, self._clock()))
            case End():
                self._end(sent)
            case Failed():
                outcome = Outcome.FAILED if message.final else Outcome.RETRY
                self._give_up(self._letters.fail(sent, message), outcome, message)

    def _give_up(self, stops: Iterable[Stop], outcome: Outcome, failed: Failed) -> None:
        """The host does not answer: nothing is believed of these, and nobody waits for its word on them."""
        for stop in stops:
            self._checks.acquit(stop.id)
            self._turn_away([stop], outcome, failed.reason, failed.note)

    def _stop_of(self, sent: Sent, where: int | str) -> Stop | None:
        stop = self._letters.stop_of(sent, where)
        if stop is not None and isinstance(where, int):
            self._checks.acquit(stop.id)
        return stop

    def _page(self, sent: Sent, page: Page, size: int) -> None:
        stop, brought = self._stop_of(sent, page.where), brought_by(sent, page, size)
        if stop is not None:
            self._ready.append((stop, brought))
        else:
            self._letters.keep(sent, brought)

    def _unlike(self, sent: Sent, message: Unlike) -> None:
        """A page that the host does not send because it is not what our brief asks for; it has it when we want it."""
        stop = self._stop_of(sent, message.where) if sent.letter.brief is not None else None
        if stop is not None and self._buffer is not None:
            self._buffer.forget(stop.id)
            self._visits.append(told_said(message, stop, self._clock(), f"{self._address.url} has it"))
        elif stop is not None:
            self._turn_away([stop], Outcome.RETRY, Reason.BROKEN_RESPONSE, "the host did not bring it")

    def _end(self, sent: Sent) -> None:
        """What was not mentioned is as we know it."""
        host, claims = sent.letter.site, list[Stop]()
        for stop in sent.open.values():
            if not stop.digest:
                self._turn_away([stop], Outcome.RETRY, Reason.BROKEN_RESPONSE, "the host did not bring it")
            elif lied := self._checks.convict(host, stop.id):
                self._visits.append(lied)
            else:
                claims.append(stop)
        self._confirm(self._checks.doubt(host, claims))
        self._letters.end(sent)

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

    def abandon(self, drop_in_flight: bool = True, host: Host | None = None) -> list[Visit]:  # noqa: ARG002 - the host ends by itself
        """Give back what has not come; what it still sends is dropped. One site alone goes at its owner's pace."""
        if host is not None:
            return []
        for stop, brought in self._ready:
            self._observe(stop, brought)
        self._ready.clear()
        visits, stops = self._checks.abandon()
        self._visits += visits if self._buffer is None else map(self._buffer.weigh, visits)
        self._turn_away([*self._letters.abandon(), *stops], Outcome.RETURNED)
        return self._hand_over()

    def vitals(self) -> Vitals:
        """Say how this migrant is."""
        return self._pulse.take(self._load)

    def close(self) -> None:
        """Leave the host."""
        self._checks.close()
        self._letters.close()

    def _turn_away(self, stops: Iterable[Stop], outcome: Outcome, reason: Reason = Reason.NONE, note: str = "") -> None:
        now = self._clock()
        self._visits += [untried(stop, outcome, reason, now, note[:200]) for stop in stops]

    def _hand_over(self) -> list[Visit]:
        visits, self._visits = self._visits, []
        self._load -= len(visits)
        return visits
