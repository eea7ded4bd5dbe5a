"""Errands: which URLs of which open host go to which migrant, as long as somebody has room."""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import msgspec

from sanderling.clock import Clock
from sanderling.crawl.context import House
from sanderling.db.connection import transaction
from sanderling.fingerprint.fast.stable_hash import left_of
from sanderling.fingerprint.model import is_current
from sanderling.frontier.ready_hosts import Door
from sanderling.models import Brief, Host, Itinerary, Kept, Outcome, Parcel, Role
from sanderling.storage.catalog import Latest
from sanderling.storage.signal_log import Signal
from sanderling.workers.assignment.roster import Roster

LEAST_IN_HAND = 16  # stops a migrant holds at the start of a crawl: what is in hand cannot be put in a better order
EAGER_IN_HAND = 4  # the same, where every page teaches what to ask for next
HAND_SHARE = 8  # later it holds an eighth of what is done, up to its usual load
PATIENT_HANDS = 4  # times what it usually holds, where hosts want pauses: then most of it waits and makes no work
SOON_SECONDS = 2.0  # of a host no more is handed out than it can answer in this time, while others wait
LEAST_SHARE = 4  # URLs of a shared host given to one migrant, so that the others get theirs
UNBOUNDED = 2**31
UNTROUBLED = (Outcome.FETCHED, Outcome.NOT_MODIFIED, Outcome.REDIRECT, Outcome.GONE)  # what hosts do not rest after


class Post(Protocol):
    """Who brings an errand to its migrant."""

    def send(self, migrant: str, itinerary: Itinerary) -> None: ...


class Errands:
    """Hands out what is to be visited; `room` says how many pages may still be, `done` how many were."""

    def __init__(
        self, house: House, post: Post, roster: Roster, room: Callable[[], int], done: Callable[[], int], clock: Clock
    ) -> None:
        self.house = house
        self.post = post
        self.roster = roster
        self.room = room
        self.done = done
        self.clock = clock
        self.brief: Callable[[Itinerary], Brief | None] | None = None  # what specialised migrants are to look for
        self.near_sites: Callable[[], frozenset[Host]] = frozenset  # fetched by a worker beside their server, now

    def hand_out(self) -> None:
        """Give every open host to the migrant the schedule chooses, as long as somebody has room."""
        self._update_near_sites()
        self.roster.rests = self.house.queue.pace.delay_seconds > 0
        order = self.house.order
        choosy = order.is_eager or order.is_focused  # rather wait for the best hosts than ask them all
        patient = self.roster.rests and not choosy
        self.roster.most = PATIENT_HANDS * self.roster.in_hand if patient else self._early()
        able, trips = self.roster.able(), list[tuple[str, Itinerary]]()
        if not able or self.room() <= 0:
            return
        now = self.clock()
        with transaction(self.house.db):
            room = min(self.room(), sum(map(self.roster.room, able)))
            for door in self.house.queue.doors(able, now, room, self._soon):
                self.house.log.signal(Signal.TO_CRAWL, 1, f"{door.waiting} URLs wait at {door.host}")
                trips += self._send_to(door, now)
                if not self.roster.able() or self.room() <= 0:
                    break
        for migrant, itinerary in trips:
            self.post.send(migrant, itinerary)
            self.house.log.signal(Signal.CRAWL, 1, f"{migrant}: {len(itinerary.stops)} stops at {itinerary.host}")

    def _update_near_sites(self) -> None:
        """Fetch a site without a crawl delay of ours only while a worker runs beside its server.

        A worker may be moved home, parked or lost at any time: from then on the site is fetched over the network.
        """
        queue, near = self.house.queue, self.near_sites()
        if near != queue.pace.near:
            queue.pace = msgspec.structs.replace(queue.pace, near=near)

    def may_go_ahead(self, parcels: Iterable[Parcel]) -> bool:
        """May URLs be handed out before these are stored? Not where they may teach which, or that a host wants rest."""
        queue, order = self.house.queue, self.house.order
        if queue.pace.delay_seconds or queue.quota is not None or order.is_eager or order.is_focused:
            return False
        return all(
            not parcel.robots and all(visit.outcome in UNTROUBLED for visit in parcel.visits) for parcel in parcels
        )

    def _early(self) -> int:
        """Stops to hold at this time of a crawl: of one migrant, or of one host where hosts want pauses."""
        return EAGER_IN_HAND if self.house.order.is_eager else max(LEAST_IN_HAND, self.done() // HAND_SHARE)

    def _share(self, door: Door) -> int:
        """How many URLs of a host may be handed out now; where all want pauses, each is kept at work by a few."""
        early = self._early()
        if not self.roster.rests or door.host in self.house.queue.pace.near:
            return door.share
        return min(door.share, early - door.leased) if door.leased <= early // 2 else 0

    def _soon(self, host: Host) -> int:
        """How many URLs of a host those who reach it can work off soon."""
        return self._soon_of_one(host) * max(1, self.roster.reach(host))

    def _soon_of_one(self, host: Host) -> int:
        if host in self.house.queue.pace.near:
            return UNBOUNDED
        return self.roster.soon(host, SOON_SECONDS, self.house.queue.pace.connections)

    def _send_to(self, door: Door, now: float) -> list[tuple[str, Itinerary]]:
        """Lease URLs of one host to whom the schedule chooses; a shared host goes to several."""
        trips, share = [], self._share(door)
        least = min(LEAST_SHARE, self.house.queue.pace.connections)
        even = max(least, -(-door.waiting // max(1, self.roster.reach(door.host))))
        soon = self._soon_of_one(door.host) if door.shared else UNBOUNDED
        while (able := self.roster.able()) and (left := min(self.room(), share)) > 0:
            if door.shared and not self.roster.owned:
                able = self.roster.least_busy(door.host, able, least, soon)
            migrant = self.roster.who(door.host, able) if not door.holder else door.holder
            if migrant is None or migrant not in able:
                break
            itinerary = self.house.queue.grant(door, migrant, min(self._part(door, migrant, even, soon), left), now)
            if itinerary is None:
                break
            itinerary = self._with_validators(itinerary)
            if self.brief is not None:
                itinerary = msgspec.structs.replace(itinerary, brief=self.brief(itinerary))
            self.roster.give(migrant, itinerary)
            self.house.log.signal(Signal.SELECTED, 1, f"{migrant} for {itinerary.host}")
            self.house.log.signal(Signal.DISTRIBUTE, len(itinerary.stops), itinerary.host)
            trips.append((migrant, itinerary))
            share -= len(itinerary.stops)
            if not door.shared:
                break
        return trips

    def _part(self, door: Door, migrant: str, even: int, soon: int) -> int:
        """How much of a host one migrant is given at once: as much as it can hold, of a shared one its part."""
        room = self.roster.room(migrant)
        if not door.shared:
            return room
        return min(room, even, max(1, soon - self.roster.members[migrant].held[door.host]))

    def _with_validators(self, itinerary: Itinerary) -> Itinerary:
        """Give stops that were visited before what the last visit left: then the server may say 304."""
        latest = self.house.catalogue.latest([stop.id for stop in itinerary.stops])
        if not latest:
            return itinerary
        stops = []
        liar = self.house.hosts.etag_lies(itinerary.host)
        kept = self._kept([old for old in latest.values() if old.is_there])
        for stop in itinerary.stops:
            old = latest.get(stop.id)
            if old is not None and old.is_there and stop.role is not Role.CHANGES:  # each question is another
                etag = "" if liar and old.last_modified else old.etag
                stop = msgspec.structs.replace(
                    stop, etag=etag, last_modified=old.last_modified, digest=old.digest, last=kept.get(stop.id)
                )
            elif old is not None and old.is_away and stop.role is Role.PAGE:  # a 304 would not say that it is back
                stop = msgspec.structs.replace(stop, digest=old.digest)
            stops.append(stop)
        return msgspec.structs.replace(itinerary, stops=tuple(stops))

    def _kept(self, latest: Sequence[Latest]) -> dict[int, Kept]:
        """Say where the last versions of pages are kept, and which have a full mark."""
        catalogue = self.house.catalogue
        places = catalogue.body_places([old.visit for old in latest])
        changed = [old.url for old in latest if old.changes]
        marks, sieves = catalogue.marks(changed, "signature"), catalogue.marks(changed, "sieve")
        return {
            old.url: Kept(
                *places[old.visit], old.charset, is_current(marks.get(old.url, b"")),
                left_of(sieves.get(old.url, b""), old.digest), old.was_page,
            )
            for old in latest
            if old.visit in places
        }  # fmt: skip
