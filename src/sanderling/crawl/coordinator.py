"""The coordinator: keeps migrants busy and the house in order until the crawl is done, cut short or told to stop.

It owns the global picture, so no URL is asked for twice because several migrants are at work. Each turn: take in what
came home, commit it, resolve new hosts, hand out new errands, look at the limits.
"""

import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from sanderling.clock import Clock, Steady, real
from sanderling.crawl.context import House
from sanderling.crawl.dispatch import UNBOUNDED, Errands
from sanderling.crawl.host_dns import Naming
from sanderling.crawl.result_batch import BATCH_SECONDS, Intake
from sanderling.crawl.stop import Bounds, Finish, Progress
from sanderling.db.connection import transaction, undo
from sanderling.errors import DiskFull
from sanderling.fetch.dns import Resolver
from sanderling.fetch.fetch_settings import MAX_LATENCY_DELAY
from sanderling.models import Host, Itinerary, Outcome, Parcel, State, Vitals
from sanderling.storage.signal_log import Signal
from sanderling.workers.admin import Desk
from sanderling.workers.assignment.ahp_strategy import Ahp
from sanderling.workers.assignment.report import Report, report
from sanderling.workers.assignment.roster import Roster
from sanderling.workers.control import Control
from sanderling.workers.local import Lost
from sanderling.workers.manager import Crew

IDLE_SECONDS = 0.25
STOP_SECONDS = 20.0  # patience with what is in flight when stopping
TICK_SECONDS = 0.5
LEAST_DISK = 50_000_000  # bytes that must stay free
LONGEST_WAIT = 600.0  # seconds; a host that wants longer is left to the next run
LOOK_SECONDS = 0.1  # between two looks at questions to the crawl
LOST_LIMIT = 50  # migrants that die one after the other: something is wrong with us


class Engine(Protocol):
    """Where migrants live, as the coordinator sees it."""

    def create(self, name: str = "", place: str = "") -> str: ...
    def dispose(self, migrant: str) -> None: ...
    def places(self) -> list[str]: ...
    def where(self, migrant: str) -> str: ...
    def migrants(self) -> list[str]: ...
    def send(self, migrant: str, itinerary: Itinerary) -> None: ...
    def abandon(self, migrant: str, host: Host | None = None) -> None: ...
    def receive(self, timeout: float) -> Sequence[Parcel | Lost]: ...
    def vitals(self, migrant: str) -> Vitals | None: ...
    def close(self) -> None: ...


class Coordinator:
    """Runs one crawl over an open house."""

    def __init__(
        self, house: House, engine: Engine, resolver: Resolver, bounds: Bounds, *, migrants: int, allow_private: bool,
        folder: Path, roster: Roster | None = None, clock: Clock = real,
    ) -> None:  # fmt: skip
        self.house = house
        self.engine = engine
        self.bounds = bounds
        self.wanted = migrants
        self.folder = folder
        self.clock = clock
        self.roster = roster or Roster(Ahp())
        self.roster.clock = Steady(clock)  # or who speaks after it was set back would seem silent
        self.naming = Naming(house, resolver, allow_private=allow_private, clock=clock)
        self.errands = Errands(house, engine, self.roster, self._room, self._pages_done, clock)
        self.intake = Intake(house, clock)
        self.crew = Crew(engine, self.roster, folder, self._release, clock=clock)
        self.control = Control(folder)
        self.desk = Desk(self.control, self.crew, self._schedule)
        self.refill: Callable[[float], int] | None = None  # queues what has become due since; says how many
        self.stay = False  # a service: wait for what becomes due next
        self.stopping: Finish | None = None
        self.stop_at = 0.0
        self.forced = False
        self.called_back = False  # all know that we are stopping
        self.trouble = ""  # the sentence for a person, when something of this machine ended the crawl
        self.started = time.monotonic()
        self.earlier = 0  # pages of this session from earlier runs
        self.losses = 0
        self.next_look = 0.0
        self.listened_at = 0.0
        self.shown = 0.0  # by the clock, the last time we looked
        self.posts: tuple[str, ...] = ()  # places that get a migrant of their own
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
                    self.naming.look_up(pool)
                    if not self._must_hear_first():
                        self.errands.hand_out()
                if time.monotonic() >= next_tick:
                    next_tick = time.monotonic() + TICK_SECONDS
                    if on_tick:
                        on_tick(self.progress())
                    if self._is_disk_low():
                        return Finish.DISK
                    if self.stay and self.stopping is None:
                        self._refill()
            self._commit()
            if on_tick:
                on_tick(self.progress())
            return finish
        except DiskFull as error:
            undo(self.house.db)
            self.house.is_ahead = True
            self.house.archive.take_back(self.house.catalogue.committed())
            self.trouble = str(error)
            return Finish.DISK
        finally:
            self.last_schedule = self._schedule()
            self.engine.close()
            self.crew.end()
            self.control.close()
            pool.shutdown(wait=False, cancel_futures=True)

    def stop(self, why: Finish) -> None:
        """Finish what is in flight, then end; a second call does not wait.

        A signal may say so amid anything, also amid a word to a migrant: so this only takes note, and the turn obeys.
        """
        if self.stopping is not None:
            self.forced = True
            return
        self.stop_at = time.monotonic()
        self.stopping = why

    # One turn

    def _patience(self) -> float:
        if (patience := self.intake.patience()) is not None:
            return patience
        if self.roster.outstanding or self.naming.resolving:
            return BATCH_SECONDS
        opening = self.house.hosts.next_opening() if self.roster.able() else None
        return IDLE_SECONDS if opening is None else min(IDLE_SECONDS, max(0.0, opening - self.clock()))

    def _listen(self) -> None:
        """Take in what came; who has spoken by now is not silent."""
        patience, self.listened_at = self._patience(), self.roster.clock()
        self._take_in(self.engine.receive(patience))

    def _heed_clock(self) -> None:
        """Where the clock was set back, let nobody wait for what it showed before."""
        now, before = self.clock(), self.shown
        self.shown = now
        if now < before:
            with transaction(self.house.db):
                rest = max(MAX_LATENCY_DELAY, self.house.queue.pace.delay_seconds)
                self.house.hosts.set_back(now, before - now, rest)

    def _take_in(self, news: Sequence[Parcel | Lost]) -> None:
        for item in news:
            if isinstance(item, Lost):
                self._lost(item.migrant)
                continue
            if item.vitals is not None:
                self.house.queue.renew(item.migrant, self.clock())
                self.roster.hear(item.vitals)
            if item.begins:
                self.house.queue.alone[item.migrant] = item.begins
            self.house.log.signal(Signal.DONE, len(item.visits), item.migrant)
            if item.visits or item.robots:
                self._call_back(self.intake.add(item))
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
            returned, given_up = self.house.queue.lose(migrant)
            self._drop_given_up()
        self.house.counts["lost"] += given_up
        return returned

    def _take_from(self, migrant: str) -> int:
        """Give back what one holds who never began: no page is to blame for that."""
        with transaction(self.house.db):
            returned = self.house.queue.release(migrant)
            self._drop_given_up()
        return returned

    def _drop_given_up(self) -> bool:
        """End queued URLs of hosts that were given up meanwhile, and count them; False: there were none."""
        dropped = self.house.hosts.drop_given_up()
        self.house.counts["lost"] += dropped.get(State.FAILED, 0)
        self.house.counts["passed_over"] += dropped.get(State.SKIPPED, 0)
        return bool(dropped)

    def _look_after_crew(self) -> None:
        """Notice who is silent, complete moves, answer questions, grow or shrink."""
        for member in self.roster.miss(self.house.queue.pace.term_seconds, self.listened_at):
            returned = self._release(member.id)
            self.engine.abandon(member.id)  # what it was sent and has not read yet must not be fetched by two
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
        if self.intake.is_due(self.roster.outstanding):
            if self.stopping is None and self.errands.may_go_ahead(self.intake.parcels):
                self.errands.hand_out()  # who has little left is at work while we store
            self._store()

    def _must_hear_first(self) -> bool:
        """Does what waits to be stored say what may be asked for next, or what is best asked for?"""
        return bool(self.intake.complaints or (self.intake.parcels and self.house.order.is_eager))

    def _store(self) -> None:
        if self.intake.store():
            self.losses = 0

    def _commit(self) -> None:
        """Store what came, and wait until it lasts."""
        self._store()
        self.intake.seal()

    def _call_back(self, complaining: Iterable[Host]) -> None:
        """A host that complained to one rests from all: what anybody still holds of it comes back."""
        for host in complaining:
            for migrant in self.roster.holders(host):
                self.engine.abandon(migrant, host)

    def _call_all_back(self) -> None:
        """Let everybody finish what is in flight and hand back the rest: once, for nothing is handed out any more."""
        if not self.called_back:
            self.called_back = True
            for migrant in self.engine.migrants():
                self.engine.abandon(migrant)

    def _room(self) -> int:
        """Pages that may still be handed out under the limit."""
        if not self.bounds.limit:
            return UNBOUNDED
        return self.bounds.limit - self._pages_done() - self.intake.visits - self.roster.outstanding

    def _pages_done(self) -> int:
        counts = self.house.counts
        return self.earlier + counts[Outcome.FETCHED] + counts[Outcome.NOT_MODIFIED] + counts[Outcome.KEPT]

    # The end

    def _finish(self) -> Finish | None:
        self._heed_clock()
        if self.stopping is not None:
            if self.forced:
                return Finish.FORCED
            self._call_all_back()
            waited = time.monotonic() - self.stop_at
            return self.stopping if not self.roster.outstanding or waited > STOP_SECONDS else None
        if self.bounds.time_limit and time.monotonic() - self.started >= self.bounds.time_limit:
            self.stop(Finish.TIME)
            return None
        if self.bounds.size_limit and self.house.counts["bytes"] >= self.bounds.size_limit:
            self.stop(Finish.SIZE)
            return None
        if self.intake.parcels or self.naming.resolving or self.roster.outstanding:
            return None
        if self.bounds.limit and self._pages_done() >= self.bounds.limit:
            return Finish.LIMIT
        opening = self.house.hosts.next_opening()
        if opening is None:
            with transaction(self.house.db):
                self._drop_given_up()
            return None if self._refill() or self.stay else Finish.DONE
        return Finish.HELD if opening - self.clock() > LONGEST_WAIT else None

    def _refill(self) -> int:
        if self.refill is None:
            return 0
        with transaction(self.house.db):
            return self.refill(self.clock())

    def _is_disk_low(self) -> bool:
        """Is it time to end, as long as there is room for what the disk was handed?"""
        if shutil.disk_usage(self.folder).free >= LEAST_DISK:
            return False
        self.intake.seal()
        self.trouble = (
            f"less than {LEAST_DISK // 10**6} MB left on the disk of {self.folder}; what was stored stays readable."
            " Make room, then give the same command again: it resumes."
        )
        return True

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
