"""The coordinator: keeps migrants busy and the house in order until the crawl is done, cut short or told to stop.

It owns the global picture, so no URL is asked for twice because several migrants are at work. Each turn: take in what
came home, commit it, resolve new hosts, hand out new errands, look at the limits.
"""

import shutil
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from enum import StrEnum
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec import Struct

from sanderling.clock import Clock, real
from sanderling.crew import Crew
from sanderling.database import transaction
from sanderling.desk import Desk
from sanderling.engines.control import Control
from sanderling.engines.processes import Lost
from sanderling.errors import DiskFull
from sanderling.frontier.hosts import Unresolved
from sanderling.frontier.queue import Door
from sanderling.home.house import House
from sanderling.migrants.guard import only_global
from sanderling.migrants.resolve import Answer, Resolver
from sanderling.organise.normalise import hostname
from sanderling.pipeline import bring_home
from sanderling.records import Brief, Host, Itinerary, Outcome, Parcel, Reason, Role, State, Vitals
from sanderling.schedule.explain import Report, report
from sanderling.schedule.roster import Roster
from sanderling.schedule.verdict import Ahp

BATCH_SECONDS = 0.08  # parcels that come within this time are one transaction
BATCH_VISITS = 256
LEAST_IN_HAND = 16  # stops a migrant holds at the start of a crawl: what is in hand cannot be put in a better order
EAGER_IN_HAND = 4  # the same, where every page teaches what to ask for next
HAND_SHARE = 8  # later it holds an eighth of what is done, up to its usual load
IDLE_SECONDS = 0.25
STOP_SECONDS = 20.0  # patience with what is in flight when stopping
TICK_SECONDS = 0.5
DNS_WAIT_SECONDS = 2.0
LEAST_DISK = 50_000_000  # bytes that must stay free
LONGEST_WAIT = 600.0  # seconds; a host that wants longer is left to the next run
SOON_SECONDS = 2.0  # of a host no more is handed out than it can answer in this time, while others wait
LEAST_SHARE = 4  # URLs of a shared host given to one migrant, so that the others get theirs
LOOK_SECONDS = 0.1  # between two looks at questions to the crawl
UNBOUNDED = 2**31
LOST_LIMIT = 50  # migrants that die one after the other: something is wrong with us


class Finish(StrEnum):
    """Why a crawl ended."""

    DONE = "done"
    LIMIT = "limit"
    TIME = "time_limit"
    SIZE = "size_limit"
    INTERRUPTED = "interrupted"
    FORCED = "forced"
    DISK = "disk_full"
    HELD = "held"


class Engine(Protocol):
    """Where migrants live, as the coordinator sees it."""

    def create(self, name: str = "", place: str = "") -> str: ...
    def dispose(self, migrant: str) -> None: ...
    def places(self) -> list[str]: ...
    def where(self, migrant: str) -> str: ...
    def migrants(self) -> list[str]: ...
    def send(self, migrant: str, itinerary: Itinerary) -> None: ...
    def abandon(self, migrant: str) -> None: ...
    def receive(self, timeout: float) -> Sequence[Parcel | Lost]: ...
    def vitals(self, migrant: str) -> Vitals | None: ...
    def close(self) -> None: ...


class Bounds(Struct, frozen=True):
    """When to stop; 0 means no limit."""

    limit: int = 0
    time_limit: float = 0.0
    size_limit: int = 0


class Progress(Struct, frozen=True):
    """How far a crawl is."""

    pages: int
    fetched: int
    waiting: int
    in_flight: int
    failed: int
    skipped: int
    bytes: int
    seconds: float
    pages_per_second: float
    migrants: int


class Coordinator:
    """Runs one crawl over an open house."""

    def __init__(
        self, house: House, engine: Engine, resolver: Resolver, bounds: Bounds, *, migrants: int, allow_private: bool,
        folder: Path, roster: Roster | None = None, clock: Clock = real, refill: Callable[[float], int] | None = None,
        stay: bool = False,
    ) -> None:  # fmt: skip
        self.house = house
        self.engine = engine
        self.resolver = resolver
        self.bounds = bounds
        self.wanted = migrants
        self.allow_private = allow_private
        self.folder = folder
        self.clock = clock
        self.roster = roster or Roster(Ahp())
        self.roster.clock = clock
        self.crew = Crew(engine, self.roster, folder, self._release, clock=clock)
        self.control = Control(folder)
        self.desk = Desk(self.control, self.crew, self._schedule)
        self.refill = refill  # queues what has become due since; says how many
        self.stay = stay  # a service: wait for what becomes due next
        self.pending: list[Parcel] = []
        self.pending_since = 0.0
        self.resolving: dict[int, Future[Answer]] = {}
        self.stopping: Finish | None = None
        self.stop_at = 0.0
        self.forced = False
        self.trouble = ""  # the sentence for a person, when something of this machine ended the crawl
        self.started = time.monotonic()
        self.earlier = 0  # pages of this session from earlier runs
        self.losses = 0
        self.next_look = 0.0
        self.listened_at = 0.0
        self.posts: tuple[str, ...] = ()  # places that get a migrant of their own
        self.brief: Callable[[Itinerary], Brief | None] | None = None  # what specialised migrants are to look for
        self.last_schedule: Report = {}
        self.cpu_then = time.process_time()

    def run(self, on_tick: Callable[[Progress], None] | None = None) -> Finish:
        """Crawl until there is nothing left or a reason to stop."""
        pool = ThreadPoolExecutor(8, thread_name_prefix="dns")
        next_tick = 0.0
        try:
            self.control.open()
            self.crew.remember()
            for _ in range(self.wanted):
                self.crew.create()
            for place in self.posts:
                self.crew.create(place)
            while (finish := self._finish()) is None:
                self._listen()
                self._commit_if_due()
                self._look_after_crew()
                if self.stopping is None:
                    self._resolve(pool)
                    self._hand_out()
                if time.monotonic() >= next_tick:
                    next_tick = time.monotonic() + TICK_SECONDS
                    if on_tick:
                        on_tick(self.progress())
                    self._look_at_disk()
                    if self.stay and self.stopping is None:
                        self._refill()
            self._commit()
            if on_tick:
                on_tick(self.progress())
            return finish
        except DiskFull as error:
            self.trouble = str(error)
            return Finish.DISK
        finally:
            self.last_schedule = self._schedule()
            self.engine.close()
            self.crew.end()
            self.control.close()
            pool.shutdown(wait=False, cancel_futures=True)

    def stop(self, why: Finish) -> None:
        """Finish what is in flight, then end; a second call does not wait."""
        if self.stopping is not None:
            self.forced = True
            return
        self.stopping = why
        self.stop_at = time.monotonic()
        for migrant in self.engine.migrants():
            self.engine.abandon(migrant)

    # One turn

    def _patience(self) -> float:
        if self.pending:
            return max(0.0, BATCH_SECONDS - (time.monotonic() - self.pending_since))
        if self.roster.outstanding or self.resolving:
            return BATCH_SECONDS
        opening = self.house.hosts.next_opening() if self.roster.able() else None
        return IDLE_SECONDS if opening is None else min(IDLE_SECONDS, max(0.0, opening - self.clock()))

    def _listen(self) -> None:
        """Take in what came; who has spoken by now is not silent."""
        patience, self.listened_at = self._patience(), self.clock()
        self._take_in(self.engine.receive(patience))

    def _take_in(self, news: Sequence[Parcel | Lost]) -> None:
        for item in news:
            if isinstance(item, Lost):
                self._lost(item.migrant)
                continue
            if item.vitals is not None:
                self.house.queue.renew(item.migrant, self.clock())
                self.roster.hear(item.vitals)
            if item.visits or item.robots:
                if not self.pending:
                    self.pending_since = time.monotonic()
                self.pending.append(item)
                self.roster.take_back(item.migrant, item.visits)

    def _lost(self, migrant: str) -> None:
        """A migrant died: what it brought is stored, what it held goes back, another takes its place."""
        if migrant not in self.roster.members:
            return
        place = self.crew.register.find(migrant).place
        returned = 0 if self.roster.members[migrant].spoke else self._take_from(migrant)
        returned += self.crew.lose(migrant)
        self.house.log.note(f"migrant {migrant} was lost; {returned} leases returned")
        self.losses += 1
        if self.losses > LOST_LIMIT:
            self.trouble = f"{self.losses} migrants died one after the other; the last was {migrant}"
            self.house.log.note(self.trouble)
            self.stop(Finish.INTERRUPTED)
        elif self.stopping is None:
            self.crew.create(place)

    def _release(self, migrant: str) -> int:
        """Store what it brought, give back what it holds; a page that kills migrants again and again is given up."""
        self._commit()
        with transaction(self.house.db):
            return self.house.queue.release(migrant, blame=True)

    def _take_from(self, migrant: str) -> int:
        """Give back what one holds who never began: no page is to blame for that."""
        with transaction(self.house.db):
            return self.house.queue.release(migrant)

    def _look_after_crew(self) -> None:
        """Notice who is silent, complete moves, answer questions, grow or shrink."""
        for member in self.roster.miss(self.house.queue.pace.term_seconds, self.listened_at):
            returned = self._release(member.id)
            self.house.log.note(f"migrant {member.id} is silent; {returned} leases returned")
            if self.stopping is None and all(other.silent for other in self.roster.members.values()):
                self.crew.create(self.crew.register.find(member.id).place)  # somebody must go on
        self.crew.settle()
        if time.monotonic() < self.next_look:
            return
        self.next_look = time.monotonic() + LOOK_SECONDS
        self.desk.serve()
        if self.crew.most and self.stopping is None:
            self.crew.adjust(self.house.queue.waiting(), self.house.queue.pace.shared)

    def _schedule(self) -> Report:
        return report(self.roster, time.process_time() - self.cpu_then)

    def _commit_if_due(self) -> None:
        if not self.pending:
            return
        visits = sum(len(parcel.visits) for parcel in self.pending)
        full = visits >= min(BATCH_VISITS, self.roster.outstanding)  # half of what was sent is home, or all of it
        if full or time.monotonic() - self.pending_since >= BATCH_SECONDS:
            self._commit()

    def _commit(self) -> None:
        if self.pending:
            bring_home(self.pending, self.house, self.clock())
            self.pending = []
            self.losses = 0

    def _hand_out(self) -> None:
        """Give every open host to the migrant the schedule chooses, as long as somebody has room."""
        eager = self.house.order.is_eager
        self.roster.most = EAGER_IN_HAND if eager else max(LEAST_IN_HAND, self._pages_done() // HAND_SHARE)
        self.roster.rests = self.house.queue.pace.delay_seconds > 0
        able, trips = self.roster.able(), list[tuple[str, Itinerary]]()
        if not able or self._room() <= 0:
            return
        now = self.clock()
        with transaction(self.house.db):
            room = min(self._room(), sum(map(self.roster.room, able)))
            for door in self.house.queue.doors(able, now, room, self._soon):
                trips += self._send_to(door, now)
                if not self.roster.able() or self._room() <= 0:
                    break
        for migrant, itinerary in trips:
            self.engine.send(migrant, itinerary)

    def _soon(self, host: Host) -> int:
        """How many URLs of a host those who reach it can work off soon."""
        return self._soon_of_one(host) * max(1, self.roster.reach(host))

    def _soon_of_one(self, host: Host) -> int:
        if host in self.house.queue.pace.near:
            return UNBOUNDED
        return self.roster.soon(host, SOON_SECONDS, self.house.queue.pace.connections)

    def _send_to(self, door: Door, now: float) -> list[tuple[str, Itinerary]]:
        """Lease URLs of one host to whom the schedule chooses; a shared host goes to several."""
        trips, share = [], door.share
        least = min(LEAST_SHARE, self.house.queue.pace.connections)
        even = max(least, -(-door.waiting // max(1, self.roster.reach(door.host))))
        soon = self._soon_of_one(door.host) if door.shared else UNBOUNDED
        while (able := self.roster.able()) and (left := min(self._room(), share)) > 0:
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

    def _room(self) -> int:
        """Pages that may still be handed out under the limit."""
        if not self.bounds.limit:
            return UNBOUNDED
        uncounted = sum(len(parcel.visits) for parcel in self.pending)
        return self.bounds.limit - self._pages_done() - uncounted - self.roster.outstanding

    def _pages_done(self) -> int:
        counts = self.house.counts
        return self.earlier + counts[Outcome.FETCHED] + counts[Outcome.NOT_MODIFIED] + counts[Outcome.KEPT]

    def _with_validators(self, itinerary: Itinerary) -> Itinerary:
        """Give stops that were visited before what the last visit left: then the server may say 304."""
        latest = self.house.catalogue.latest([stop.id for stop in itinerary.stops])
        if not latest:
            return itinerary
        stops = []
        liar = self.house.hosts.etag_lies(itinerary.host)
        for stop in itinerary.stops:
            old = latest.get(stop.id)
            if old is not None and old.status == 200 and stop.role is not Role.CHANGES:  # each question is another
                etag = "" if liar and old.last_modified else old.etag
                stop = msgspec.structs.replace(stop, etag=etag, last_modified=old.last_modified, digest=old.digest)
            stops.append(stop)
        return msgspec.structs.replace(itinerary, stops=tuple(stops))

    # Names

    def _resolve(self, pool: ThreadPoolExecutor) -> None:
        if self.house.queue.pace.proxied:
            return
        now = self.clock()
        for host, future in list(self.resolving.items()):
            if future.done():
                del self.resolving[host]
                self._resolved(host, future.result(), now)
        if len(self.resolving) < 32:
            for new in self.house.hosts.unresolved(now, 32):
                if new.id not in self.resolving:
                    self.resolving[new.id] = pool.submit(self.resolver.lookup, hostname(new.name))
                    self._settle(new, now)

    def _settle(self, new: Unresolved, now: float) -> None:
        """An answer from the cache needs no waiting."""
        future = self.resolving[new.id]
        if future.done():
            del self.resolving[new.id]
            self._resolved(new.id, future.result(), now)

    def _resolved(self, host: int, answer: Answer, now: float) -> None:
        hosts = self.house.hosts
        addresses = answer.addresses if self.allow_private else only_global(answer.addresses)
        with transaction(self.house.db):
            if addresses:
                hosts.locate(host, addresses, answer.expires_at)
            elif answer.addresses:
                self._condemn(host, Reason.PRIVATE_ADDRESS, State.SKIPPED, " ".join(answer.addresses))
            elif hosts.not_found(host, now, DNS_WAIT_SECONDS):
                self._condemn(host, Reason.DNS, State.FAILED, answer.note)

    def _condemn(self, host: int, reason: Reason, state: State, note: str) -> None:
        count = self.house.hosts.condemn(host, reason, state, note)
        self.house.counts["lost" if state is State.FAILED else "passed_over"] += count
        (name,) = self.house.db.execute("SELECT name FROM hosts WHERE id = ?", (host,)).fetchone()
        self.house.judge.condemned[name] = reason

    # The end

    def _finish(self) -> Finish | None:
        if self.stopping is not None:
            if self.forced:
                return Finish.FORCED
            waited = time.monotonic() - self.stop_at
            return self.stopping if not self.roster.outstanding or waited > STOP_SECONDS else None
        if self.bounds.time_limit and time.monotonic() - self.started >= self.bounds.time_limit:
            self.stop(Finish.TIME)
            return None
        if self.bounds.size_limit and self.house.counts["bytes"] >= self.bounds.size_limit:
            self.stop(Finish.SIZE)
            return None
        if self.pending or self.resolving or self.roster.outstanding:
            return None
        if self.bounds.limit and self._pages_done() >= self.bounds.limit:
            return Finish.LIMIT
        opening = self.house.hosts.next_opening()
        if opening is None:
            return None if self._refill() or self.stay else Finish.DONE
        return Finish.HELD if opening - self.clock() > LONGEST_WAIT else None

    def _refill(self) -> int:
        if self.refill is None:
            return 0
        with transaction(self.house.db):
            return self.refill(self.clock())

    def _look_at_disk(self) -> None:
        if shutil.disk_usage(self.folder).free < LEAST_DISK:
            raise DiskFull(
                f"less than {LEAST_DISK // 10**6} MB left on the disk of {self.folder}; what was stored stays readable."
                " Make room, then give the same command again: it resumes."
            )

    def progress(self) -> Progress:
        """How far we are."""
        counts, seconds = self.house.counts, time.monotonic() - self.started
        visits = counts[Outcome.FETCHED] + counts[Outcome.NOT_MODIFIED]
        return Progress(
            pages=self._pages_done(),
            fetched=counts[Outcome.FETCHED],
            waiting=self.house.queue.waiting(),
            in_flight=self.roster.outstanding,
            failed=counts["lost"],
            skipped=counts["passed_over"],
            bytes=counts["bytes"],
            seconds=seconds,
            pages_per_second=visits / seconds if seconds else 0.0,
            migrants=len(self.roster.members),
        )
