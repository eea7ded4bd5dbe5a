"""One errand at a host: look at the pages of a letter, follow links if the whole site is wanted, keep what is new."""

import time
from collections import deque
from collections.abc import Iterator

from sanderling.fetch.template_filter import matches, told
from sanderling.models import Outcome, Reason, Stop, Url, Visit
from sanderling.urls.normalize import host_of, normalise, split
from sanderling.workers.migrant.messages import CHECK, CUT, MOMENT, End, Letter, Message, Missed, Page, Rules, Unlike
from sanderling.workers.migrant.owner_rules import Refusal
from sanderling.workers.migrant.rate_limit import Gate
from sanderling.workers.migrant.site_reader import Local, Seen

AT_ONCE = 64  # stops in the hands of the local migrant
LEAST_SECONDS = 0.1  # between two looks, however often they are asked for


class Walk:
    """Carries out one letter; its messages come as they are found."""

    def __init__(self, letter: Letter, gate: Gate, local: Local) -> None:
        self.letter = letter
        self.gate = gate
        self.site = gate.site
        self.local = local
        self.limit = min(self.site.max_pages, letter.limit or self.site.max_pages)
        self.paths: list[str] = []  # as sent, by stop id
        self.names: list[str] = []  # as normalised, by stop id
        self.known: list[bytes] = []  # cut digests, by stop id
        self.absent: dict[int, tuple[int, Reason]] = {}  # what was no page at the last look, and why, by stop id
        self.ids: dict[str, int] = {}
        self.admitted: list[int] = []  # what may be looked at, now and again
        self.waiting: deque[Stop] = deque()
        self.in_hand = 0
        self.pages = self.same = 0

    def messages(self) -> Iterator[Message]:
        """Look at everything once; then, if asked to watch, again and again until the time is over."""
        yield from self._line_up()
        yield from self._look()
        yield End(self.pages, self.same)  # and one after every further look: so the other side knows that we live
        until = min(time.time() + self.letter.watch_seconds, self.letter.expires)
        every = max(LEAST_SECONDS, self.letter.every_seconds)
        while time.time() + every < until:
            time.sleep(every)
            if self.gate.is_open():
                self.waiting.extend(self._stop(id_) for id_ in self.admitted)
                yield from self._look()
            yield End(self.pages, self.same)

    def _line_up(self) -> Iterator[Missed]:
        for place, wanted in enumerate(self.letter.stops):
            spelling = normalise(self.site.site + wanted.path)
            if spelling is None or host_of(spelling.url) != self.site.site:
                self._enter(wanted.path, wanted.path, wanted.known)
                yield Missed(place, Outcome.SKIPPED, Reason.BAD_URL)
                continue
            name = split(spelling.url)[1]
            id_ = self._enter(split(spelling.wire)[1], name, wanted.known)
            if self.site.admits(name) and len(self.admitted) < self.limit:
                self._admit(id_)
            else:
                yield Missed(place, Outcome.SKIPPED, Reason.EXCLUDED, "the owner of the host does not admit it")

    def _enter(self, path: str, name: str, known: bytes = b"") -> int:
        id_ = len(self.paths)
        self.paths.append(path)
        self.names.append(name)
        self.known.append(known)
        self.ids.setdefault(name, id_)
        return id_

    def _admit(self, id_: int) -> None:
        self.admitted.append(id_)
        self.waiting.append(self._stop(id_))

    def _stop(self, id_: int) -> Stop:
        path, name = self.paths[id_], self.names[id_]
        return Stop(id_, 0, Url(self.site.site + name), self.site.site + path if path != name else "")

    def _look(self) -> Iterator[Message]:
        while self.waiting or self.in_hand:
            if not self.gate.is_open():
                yield from self._put_off()
            count = self.gate.admit(min(len(self.waiting), AT_ONCE - self.in_hand))
            if count:
                self.in_hand += count
                self.local.accept([self.waiting.popleft() for _ in range(count)])
            elif not self.in_hand:
                self.gate.wait()
                continue
            seen, robots = self.local.work()
            self.in_hand -= len(seen)
            if self.letter.robots:
                yield from (Rules(found) for found in robots)
            for item in seen:
                yield from self._report(item)

    def _put_off(self) -> Iterator[Missed]:
        """The hours are over: what was not looked at yet has to be asked for again."""
        while self.waiting:
            id_ = self.waiting.popleft().id
            yield Missed(self._where(id_), Outcome.RETRY, Reason.HOST_REFUSED, Refusal.CLOSED)

    def _where(self, id_: int) -> int | str:
        return id_ if id_ < len(self.letter.stops) else self.names[id_]

    def _report(self, seen: Seen) -> Iterator[Message]:
        """Say what is new; what is as it was known costs nothing."""
        visit, id_ = seen.visit, seen.visit.id
        where = self._where(id_)
        self.pages += 1
        if self.letter.whole:
            self._follow(visit)
        cut = visit.digest[:CUT]
        if (visit.outcome is Outcome.FETCHED and cut and cut == self.known[id_]) or self._is_still_absent(visit):
            self.same += 1
        elif self._is_unlike(visit):
            yield Unlike(where, told(visit))
        elif seen.head:
            if visit.outcome is Outcome.FETCHED:
                self.known[id_] = cut
            at, took = int((visit.at - self.letter.issued) * MOMENT), 1 + int(visit.seconds * 1000)
            yield Page(where, at, took, seen.head, seen.body, visit.digest[:CHECK])
        elif visit.outcome in (Outcome.RETURNED, Outcome.RETRY):
            yield Missed(where, Outcome.RETRY, visit.reason, visit.note)
        else:
            yield Missed(where, visit.outcome, visit.reason, visit.note)

    def _is_still_absent(self, visit: Visit) -> bool:
        """Was it no page at the last look either, for the same reason? One that returns is news, whatever it says."""
        if visit.outcome is Outcome.FETCHED:
            self.absent.pop(visit.id, None)
            return False
        before, why = self.absent.get(visit.id), (visit.status, visit.reason)
        self.absent[visit.id], self.known[visit.id] = why, b""
        return before == why

    def _is_unlike(self, visit: Visit) -> bool:
        """Is this a new page that is not what the brief asks for?"""
        brief = self.letter.brief
        if brief is None or visit.outcome is not Outcome.FETCHED or self.known[visit.id]:
            return False
        return not matches(brief, visit.marks.get("structure", b""))

    def _follow(self, visit: Visit) -> None:
        """Line up the links of this site that are new; a redirect is followed by who asked."""
        links = () if visit.nofollow else visit.links
        for link in links:
            if link.nofollow or host_of(link.url) != self.site.site or len(self.admitted) >= self.limit:
                continue
            name = split(link.url)[1]
            if name not in self.ids and name.startswith(self.letter.prefix) and self.site.admits(name):
                path = link.wire[len(self.site.site) :] if link.wire.startswith(self.site.site + "/") else name
                self._admit(self._enter(path, name))
