"""Who is there and how each one stands; every open host goes to the migrant the schedule chooses.

What migrants measured is taken over with their heartbeats, not in between: so the weights of a choice are the cached
ones of the last, but for what the choice itself moved.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence

from sanderling.clock import Clock, real
from sanderling.models import Host, Itinerary, Visit, Vitals
from sanderling.workers.assignment.change_rate_sets import Sets
from sanderling.workers.assignment.criteria import Standing
from sanderling.workers.assignment.strategies import Choose
from sanderling.workers.assignment.worker_stats import IN_HAND, Known, Member, Way

LOOKS = 3  # pages of a host after which its time is believed
UNKNOWN_SECONDS = 0.5  # what a page of a new host is expected to take
LEAST_HAND = 24  # stops that even the slowest may hold
STALL_SECONDS = 2.0  # a host that says nothing for so long keeps no hand from other hosts
MOST_STALLED = 96  # stops at such hosts that do not count; with IN_HAND no more than a migrant can have on their way


class Roster:
    """Keeps the books of who holds what, and asks the schedule who goes."""

    def __init__(
        self, choose: Choose, *, owned: bool = False, weighs: bool = False, in_hand: int = IN_HAND, clock: Clock = real,
        reaches: Callable[[str, Host], bool] | None = None, sets: Sets | None = None,
    ) -> None:  # fmt: skip
        self.choose = choose
        self.owned = owned  # hosts belong to migrants: the owner goes or nobody does
        self.weighs = weighs  # what a migrant may hold is measured on it, as AHP wants (URL Capacity)
        self.in_hand = in_hand
        self.most = in_hand  # for now: early in a crawl what is in hand cannot be put in a better order
        self.clock = clock
        self.near = reaches or _everywhere
        self.sets = sets or Sets()
        self.members: dict[str, Member] = {}
        self.rests = False  # hosts want pauses: then they are the limit, not the migrants
        self.quickest = 0.0  # seconds a page takes the quickest migrant
        self.seconds = 0.0  # processor time spent on choosing
        self.choices = 0

    # Who is there

    def join(self, migrant: str, known: Known | None = None, hands: int = 0) -> None:
        """A migrant is there; a clone or one that was parked begins with what it knows."""
        now = self.clock()
        member = Member(migrant, Vitals(migrant, now), now, now, hands or self.in_hand, idle_since=now)
        if known is not None:
            member.ways = OrderedDict((Host(host), Way(*way, shown=way)) for host, way in known.ways.items())
            member.recent.extend(known.recent)
        self.members[migrant] = member
        self.sets.join(migrant)

    def rest(self, migrant: str) -> None:
        """Give this one nothing more."""
        self.members[migrant].resting = True

    def leave(self, migrant: str) -> None:
        """A migrant is gone."""
        self.members.pop(migrant, None)
        self.sets.leave(migrant)

    def hear(self, vitals: Vitals) -> None:
        """A heartbeat came: what the migrant measured counts from now on."""
        member = self.members.get(vitals.migrant)
        if member is None:
            return
        member.vitals, member.heard_at, member.spoke, member.silent = vitals, self.clock(), True, False
        for way in member.ways.values():
            way.shown = (way.latency, way.speed, way.visits)

    def miss(self, patience: float, listened_at: float) -> list[Member]:
        """Those who became silent: for that long they said nothing, up to when we last listened.

        They get nothing until they speak again. What they say while we do not listen (a long commit, a machine that
        slept) waits for us and is no silence of theirs.
        """
        late = [m for m in self.members.values() if not m.silent and listened_at - m.heard_at > patience]
        for member in late:
            member.silent = True
            member.stops.clear()
            member.held.clear()
            member.news.clear()
        return late

    # Who holds what

    def give(self, migrant: str, itinerary: Itinerary) -> None:
        """An itinerary is in this migrant's hands."""
        member = self.members[migrant]
        member.way(itinerary.host)
        member.news.setdefault(itinerary.host, self.clock())
        member.given += len(itinerary.stops)
        for stop in itinerary.stops:
            member.stops[stop.token] = itinerary.host
        member.held[itinerary.host] += len(itinerary.stops)

    def take_back(self, migrant: str, visits: Iterable[Visit]) -> None:
        """Visits came home: they are in nobody's hands, and tell how long the way was."""
        member = self.members.get(migrant)
        if member is None:
            return
        member.heard_at, member.spoke, member.silent = self.clock(), True, False
        for visit in visits:
            host = member.stops.pop(visit.token, None)
            if host is None:
                continue
            member.held[host] -= 1
            member.news[host] = member.heard_at
            if not member.held[host]:
                del member.held[host], member.news[host]
            if visit.seconds > 0:
                member.measure(host, visit)
        # Not only with heartbeats: the first pages of a crawl are quick, and later all would look slow beside them.
        self.quickest = min((m.page_seconds for m in self.members.values() if m.page_seconds), default=0.0)
        if not member.stops:
            member.idle_since = self.clock()

    def load(self, migrant: str) -> int:
        """Stops in one migrant's hands."""
        return len(self.members[migrant].stops)

    def holders(self, host: Host) -> list[str]:
        """Those who hold stops of a host."""
        return [member.id for member in self.members.values() if member.held[host] > 0]

    @property
    def outstanding(self) -> int:
        """Stops in anybody's hands."""
        return sum(len(member.stops) for member in self.members.values())

    def able(self) -> list[str]:
        """Those who may be given more."""
        members = self.members.values()
        return [m.id for m in members if len(m.stops) <= self._hands(m) // 2 and not (m.silent or m.resting)]

    def room(self, migrant: str) -> int:
        """How many stops a migrant may still be given."""
        member = self.members[migrant]
        return self._hands(member) - len(member.stops)

    def _hands(self, member: Member) -> int:
        """Stops it may hold: the slower, the fewer, so that no host waits in slow hands while others are idle."""
        if member.hands > self.in_hand:
            return member.hands
        most = self.most if self.rests else min(member.hands, self.most)
        most += self._stalled(member)
        if self.rests or not self.weighs or not member.page_seconds:
            return most
        return max(min(most, LEAST_HAND), int(most * self.quickest / max(member.page_seconds, self.quickest)))

    def _stalled(self, member: Member) -> int:
        """Stops at hosts that do not answer while the migrant speaks: they make no work, others may be held beside."""
        late = member.heard_at - STALL_SECONDS
        return min(MOST_STALLED, sum(member.held[host] for host, at in member.news.items() if at < late))

    # Who goes

    def reaches(self, migrant: str, host: Host) -> bool:
        """May this migrant be sent there at all?"""
        return self.near(migrant, host) and self.sets.serves(migrant, host)

    def least_busy(self, host: Host, able: Sequence[str], slack: int, most: int) -> list[str]:
        """Those who reach this host and hold the fewest of its stops, or few more, but less than `most`."""
        began = time.thread_time()
        near = [m for m in able if self.reaches(m, host) and self.members[m].held[host] < most]
        fewest = min((self.members[m].held[host] for m in near), default=0)
        found = [m for m in near if self.members[m].held[host] <= fewest + slack]
        self.seconds += time.thread_time() - began
        return found

    def soon(self, host: Host, seconds: float, connections: int) -> int:
        """How many stops of a host one migrant can work off in so many seconds, as its pages took so far."""
        began = time.thread_time()
        known = [m.ways[host] for m in self.members.values() if host in m.ways and m.ways[host].visits]
        sure = sum(way.visits for way in known) >= LOOKS  # a first page is often an easy one
        latency = sum(way.latency for way in known) / len(known) if sure else UNKNOWN_SECONDS
        self.seconds += time.thread_time() - began
        return max(2 * connections, int(connections * seconds / max(latency, 1e-3)))

    def reach(self, host: Host) -> int:
        """How many could be sent to this host."""
        return sum(self.reaches(m, host) for m in self.members)

    def who(self, host: Host, able: Sequence[str]) -> str | None:
        """Choose the migrant for this host; None if nobody can go now."""
        began = time.thread_time()
        rivals = [m for m in (self.members if self.owned else able) if self.reaches(m, host)]
        winner = None
        if len(rivals) == 1:
            winner = rivals[0]
        elif rivals:
            winner = self.choose([self.standing(m, host) for m in rivals], host)
        self.seconds += time.thread_time() - began
        self.choices += 1
        return winner if winner in able else None

    def standing(self, migrant: str, host: Host) -> Standing:
        """How one migrant stands towards one host."""
        member = self.members[migrant]
        way, vitals, load = member.ways.get(host), member.vitals, len(member.stops)
        latency, speed, visits = way.shown if way is not None else (0.0, 0.0, 0)
        measured = Vitals(
            migrant, vitals.at, load, vitals.cpu_share, vitals.memory_bytes, vitals.memory_left, vitals.disk_left,
            speed or vitals.bytes_per_second, latency or vitals.latency_seconds, vitals.pages,
        )  # fmt: skip
        return Standing(measured, max(0, self._hands(member) - load), 1.0 if visits else 0.0, tuple(member.recent))


def _everywhere(_migrant: str, _host: Host) -> bool:
    return True
