"""One migrant's trip: itineraries of many hosts come in, parcels go out; one plain loop, no waiting for a slow host."""

import os
import socket
import time
from collections import deque
from collections.abc import Iterable
from heapq import heappop, heappush

from msgspec import Struct, structs

from sanderling.clock import Clock, Steady, real
from sanderling.fetch.address_guard import is_global, literal, may_name, only_global
from sanderling.fetch.curl_client import Fetcher
from sanderling.fetch.curl_transfer import Ask, Reply
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.fetch.heartbeat import Pulse
from sanderling.fetch.host_queue import Line, door_of
from sanderling.fetch.process import Marks, Observer, untried
from sanderling.fetch.response import conditions, wants_cookie, wants_no_conditions
from sanderling.fetch.robots import BODY_LIMIT, Rules, pause_asked_for, read_robots, unreachable, waived
from sanderling.fetch.template_filter import open_buffer
from sanderling.models import Host, Itinerary, Outcome, Parcel, Reason, Robots, Stop, Visit, Vitals
from sanderling.urls.normalize import host_of

BATCH = 64  # replies looked at before the parcel goes home
SMALL = 8  # a parcel of fewer waits for all that is in hand
FEW = 4  # replies looked at before the next requests start: while we look, the server is not to wait for us
SOON = 0.02  # seconds a parcel waits for more, while more is in hand: sending one costs both sides half a page
LINES_KEPT = 4096  # idle hosts remembered for their pace and rules
FOREVER = 3600.0
PATIENCE = 3  # failures in a row before the rest of a host's stops go home untried
HOST_FAULTS = frozenset({Reason.DNS, Reason.CONNECT, Reason.TLS, Reason.TIMEOUT})


class Errand(Struct, frozen=True):
    """Why a request is on its way."""

    line: Line
    started: float
    stop: Stop | None = None  # None: for robots.txt


class Trip:
    """Fetches politely from many hosts at once and looks at what comes."""

    def __init__(
        self, settings: FetchSettings, marks: Marks, clock: Clock = real, name: str = "", packs: bool = False
    ) -> None:
        self._settings, self._clock, self._steady = settings, clock, Steady(clock)
        self._name = name or f"{socket.gethostname()}-{os.getpid()}"
        self._agent = settings.agent_token
        self._fetcher = Fetcher(settings)
        self._observer = Observer(settings, marks, packs)
        self._pulse = Pulse(self._name, clock)
        self._lines: dict[Host, Line] = {}
        self._queue: list[tuple[float, int, Line]] = []  # lines that could knock, by when they may
        self._turn = 0  # breaks ties in the queue: first come, first served
        self._came: deque[Reply] = deque()  # replies not looked at yet
        self._visits: list[Visit] = []
        self._robots: list[Robots] = []
        self._load = 0
        self._welcomed: set[int] = set()  # stops that were given a cookie and sent round once
        self._buffer = open_buffer(settings.keep)
        self._announced = 0  # token of the suspect that was told to begin
        self._begins = 0  # the same, until the parcel that tells it goes home
        self._is_alone = False  # a suspect is on its way: nothing else is

    @property
    def load(self) -> int:
        """Stops in hand: waiting, on their way, or looked at and not yet handed over."""
        return self._load

    def accept(self, itinerary: Itinerary) -> None:
        """Queue the stops of one host; what may not be connected to comes back with the next parcel."""
        now = self._clock()
        self._load += len(itinerary.stops)
        if self._buffer is not None:
            known, itinerary = self._buffer.carry(itinerary, now)
            self._visits += known
        addresses = self._admitted(itinerary)
        if addresses is None:
            self._turn_away(itinerary.stops, Outcome.SKIPPED, Reason.PRIVATE_ADDRESS, f"{itinerary.host} is not public")
            return
        if itinerary.robots is not None and not itinerary.robots.reachable:
            self._turn_away(itinerary.stops, Outcome.RETURNED, Reason.ROBOTS_UNREACHABLE)
            return
        self._forget_idle(self._steady())
        line = self._lines.get(itinerary.host) or self._lines.setdefault(itinerary.host, Line(itinerary.host))
        line.join(itinerary, addresses, self._agent, now)
        self._line_up(line)

    def work(self, timeout: float) -> Parcel:
        """Fetch and look until something is done, for `timeout` seconds at most; what is done soon comes along."""
        deadline, done = time.monotonic() + timeout, False
        while True:
            next_start = self._start_due()
            if self._begins:
                return self._parcel()
            turned_away = not done and bool(self._visits or self._robots)  # by us: nobody has to be waited for
            left = 0.0 if self._came or turned_away else max(0.0, deadline - time.monotonic())
            self._came.extend(self._fetcher.wait(min(left, next_start)))
            was_alone = self._is_alone
            for _ in range(min(len(self._came), BATCH - len(self._visits), FEW)):
                self._finish(self._came.popleft())
            if was_alone and not self._is_alone:
                return self._parcel()  # before anything else begins: it is not to be blamed for that
            if not done and (self._visits or self._robots):
                deadline, done = min(deadline, time.monotonic() + SOON), True
            if time.monotonic() >= deadline or (done and self._is_full):
                return self._parcel()

    def abandon(self, drop_in_flight: bool = True, host: Host | None = None) -> list[Visit]:
        """Give back every stop that waits, and those in flight too unless they are to be finished by `work`.

        Where a host is named, those that wait are its own.
        """
        while self._came:
            self._finish(self._came.popleft())  # it may let a stop wait for another try
        if drop_in_flight:
            for ask in self._fetcher.cancel():
                self._drop(ask.errand)
        for line in [line for line in self._lines.values() if host in (None, line.host)]:
            self._turn_away(line.send_home(), Outcome.RETURNED)
        return self._hand_over()

    def vitals(self) -> Vitals:
        """Say how this migrant is."""
        return self._pulse.take(self._load)

    def close(self) -> None:
        """Close every connection."""
        self._fetcher.close()

    @property
    def _is_full(self) -> bool:
        """Say whether the parcel need not wait: it holds a batch, or half of what is in hand, so that none runs out."""
        return len(self._visits) >= min(BATCH, self._load, max(SMALL, self._load // 2))

    def _admitted(self, itinerary: Itinerary) -> tuple[str, ...] | None:
        """Choose the addresses a host may be reached at, none if its name says it; None if there is no way in."""
        name = door_of(itinerary.host).name
        address = literal(name)
        if self._settings.allow_private:
            return itinerary.addresses if address is None else ()
        if self._settings.proxy:
            return () if may_name(name) else None
        if address is not None:
            return () if is_global(address) else None
        return only_global(itinerary.addresses) or (None if itinerary.addresses else ())

    def _forget_idle(self, now: float) -> None:
        """Let go of hosts that have nothing to do and may be knocked at again, when there are too many."""
        if len(self._lines) <= LINES_KEPT:
            return
        for line in [line for line in self._lines.values() if line.is_idle and line.open_at <= now]:
            self._fetcher.forget(self._lines.pop(line.host).door)

    def _line_up(self, line: Line) -> None:
        """Give a line its place in the queue, if it has something to ask for."""
        if line.is_ready and not line.waiting:
            line.waiting = True
            self._turn += 1
            heappush(self._queue, (line.open_at, self._turn, line))

    def _start_due(self) -> float:
        """Start what may start now; say how many seconds later the next one may."""
        queue, now = self._queue, self._steady()
        while queue and self._fetcher.has_room(len(self._came)):
            due, _, line = queue[0]
            if due > now:
                return due - now
            if line.open_at <= now and line.is_ready and self._has_to_wait(line):
                return FOREVER
            heappop(queue)
            line.waiting = False
            if line.open_at <= now and line.is_ready:
                self._knock(line, now)
            self._line_up(line)
        return FOREVER

    def _has_to_wait(self, line: Line) -> bool:
        """Let a suspect go alone, and have it told at home before it begins: who is lost then is lost over it."""
        stop = line.stops[0]
        if self._is_alone or line.rules is None or not stop.is_suspect:
            return self._is_alone
        if self._fetcher.is_busy or self._came:
            return True
        if self._announced != stop.token:
            self._announced = self._begins = stop.token
        return bool(self._begins)

    def _knock(self, line: Line, now: float) -> None:
        """Start one request: for robots.txt if its rules are not known, else for the next stop they allow."""
        if line.rules is None:
            self._ask_for_robots(line, now)
            return
        while line.stops:
            stop = line.stops.popleft()
            url = stop.wire or stop.url
            if not url.startswith(line.prefix) or not url.isascii():
                self._turn_away([stop], Outcome.SKIPPED, Reason.BAD_URL, f"no URL of {line.host}")
            elif not self._is_allowed(line.rules, url):
                self._turn_away([stop], Outcome.SKIPPED, Reason.ROBOTS)
            else:
                line.knock(now)
                self._is_alone = stop.is_suspect
                errand = Errand(line, now, stop)
                limits = self._settings.max_body_of(stop.role), self._settings.timeout
                known = conditions(stop.etag, stop.last_modified)
                self._fetcher.start(Ask(url, line.door, errand, known, *limits, alone=line.alone(stop)))
                return

    def _is_allowed(self, rules: Rules, url: str) -> bool:
        """Check a URL against robots.txt; a worker beside a web server checks more than its spelling."""
        return rules.allowed(url)

    def _ask_for_robots(self, line: Line, now: float) -> None:
        url = line.robots_url
        door = line.door if host_of(url) == line.host else door_of(host_of(url))
        line.asking = True
        line.knock(now)
        self._fetcher.start(Ask(url, door, Errand(line, now), (), BODY_LIMIT, self._settings.robots_timeout, cut=True))

    def _finish(self, reply: Reply) -> None:
        """Take one reply to where it belongs."""
        errand: Errand = reply.ask.errand
        errand.line.in_flight -= 1
        self._is_alone = False
        settings = self._settings
        errand.line.rest(errand.started, reply.seconds, settings.latency_factor, settings.max_latency_delay)
        if errand.stop is None:
            self._finish_robots(errand.line, reply, errand.started)
        elif settings.cookies and errand.stop.id not in self._welcomed and wants_cookie(reply):
            self._welcomed.add(errand.stop.id)
            self._once_more(errand.line, errand.stop)  # with the cookie, as a browser would
        elif wants_no_conditions(reply):
            self._once_more(errand.line, structs.replace(errand.stop, etag="", last_modified=""))
        else:
            self._welcomed.discard(errand.stop.id)
            self._finish_stop(errand.line, errand.stop, reply)
        self._line_up(errand.line)

    def _once_more(self, line: Line, stop: Stop) -> None:
        """Ask for a stop again, unless the others were sent home meanwhile: then this one goes after them."""
        if line.is_closed:
            self._turn_away([stop], Outcome.RETURNED)
        else:
            line.stops.appendleft(stop)

    def _finish_stop(self, line: Line, stop: Stop, reply: Reply) -> None:
        visit = self._observer.observe(stop, reply, self._clock())
        self._pulse.count(visit)
        self._visits.append(visit if self._buffer is None else self._buffer.weigh(visit))
        line.failures = line.failures + 1 if visit.reason in HOST_FAULTS else 0
        if visit.reason is Reason.RATE_LIMITED or line.failures >= PATIENCE:
            self._turn_away(line.send_home(), Outcome.RETURNED, visit.reason, visit.note, visit.retry_after)

    def _finish_robots(self, line: Line, reply: Reply, started: float) -> None:
        now = self._clock()
        line.asking = False
        found = read_robots(line.host, reply, line.robots_hops, now)
        if isinstance(found, str) and self._may_follow(found):
            line.robots_url, line.robots_hops = found, line.robots_hops + 1
            return
        robots = unreachable(line.host, now) if isinstance(found, str) else found
        if not line.door.names.isdisjoint(self._settings.own_hosts):
            robots = waived(robots, self._agent)
        self._robots.append(robots)
        if robots.reachable:
            line.obey(robots, self._agent)
            line.open_at = max(line.open_at, started + line.pause)  # the pause it asks for begins with this answer
        else:
            line.forget_robots()
            note, pause = reply.note or f"robots.txt: status {robots.status}", pause_asked_for(reply, now)
            self._turn_away(line.send_home(), Outcome.RETURNED, Reason.ROBOTS_UNREACHABLE, note, pause)

    def _may_follow(self, url: str) -> bool:
        """Say whether a moved robots.txt may be asked for through our proxy; without one the guard sees the address."""
        return not self._settings.proxy or self._settings.allow_private or may_name(door_of(host_of(url)).name)

    def _turn_away(
        self, stops: Iterable[Stop], outcome: Outcome, reason: Reason = Reason.NONE, note: str = "", pause: float = 0.0
    ) -> None:
        """Let stops go home untried."""
        now = self._clock()
        self._visits += [untried(stop, outcome, reason, now, note, pause) for stop in stops]

    def _drop(self, errand: Errand) -> None:
        """Give up a request on its way."""
        errand.line.in_flight -= 1
        self._is_alone = False
        errand.line.asking = False
        if errand.stop is not None:
            self._turn_away([errand.stop], Outcome.RETURNED)

    def _hand_over(self) -> list[Visit]:
        """Give away the finished visits: they are no longer in our hands."""
        visits, self._visits = self._visits, []
        self._load -= len(visits)
        return visits

    def _parcel(self) -> Parcel:
        robots, self._robots = self._robots, []
        begins, self._begins = self._begins, 0
        return Parcel(self._name, tuple(self._hand_over()), tuple(robots), begins=begins)
