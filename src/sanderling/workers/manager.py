"""The crew of one crawl: create, clone, dispatch, retract, deactivate, activate and dispose, while the crawl goes on.

A migrant that is to leave first finishes what is on its way and hands back the rest; so a move costs no second fetch.
The crew grows when everybody is busy and the queue grows or will last for long, and shrinks when somebody has been
idle for long (`auto`).
"""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec import Struct

from sanderling.clock import Clock, real
from sanderling.errors import UsageError
from sanderling.workers.assignment.roster import Roster
from sanderling.workers.assignment.worker_stats import Known
from sanderling.workers.lifecycle import HOME, Entry, Life, Move, Register, after

PATIENCE = 20.0  # seconds a leaving migrant may need for what is in flight
AUTO_SECONDS = 1.0  # between two looks at the size of the crew
IDLE_SECONDS = 10.0  # idle for so long: not needed
LASTS_SECONDS = 10.0  # a queue that lasts longer than this at its present pace is worth one more migrant
FULL_CPU = 0.9  # share of all cores; beyond it more migrants only wait for each other
NAME = re.compile(r"[\w.-]{1,64}")


class Housing(Protocol):
    """What the crew needs of an engine."""

    def create(self, name: str = "", place: str = "") -> str: ...
    def dispose(self, migrant: str) -> None: ...
    def abandon(self, migrant: str) -> None: ...
    def places(self) -> list[str]: ...
    def where(self, migrant: str) -> str: ...


class Leaving(Struct, frozen=True):
    """A migrant that hands back what it holds, and what comes after."""

    move: Move
    since: float
    place: str = HOME


class Parked(Struct, frozen=True):
    """A migrant at rest on the disk."""

    id: str
    place: str
    born: float
    known: Known


class Crew:
    """Lets migrants live, on top of an engine, a roster and a register."""

    def __init__(
        self, engine: Housing, roster: Roster, folder: Path, release: Callable[[str], int], *, clock: Clock = real,
    ) -> None:  # fmt: skip
        self.engine = engine
        self.roster = roster
        self.release = release  # leases of a migrant go back into the queue
        self.parking = folder / "migrants"
        self.register = Register(folder / "logs" / "migrants.log", clock)
        self.leaving: dict[str, Leaving] = {}
        self.hands: dict[str, int] = {}  # how much one can hold who lives there, where it is not the usual
        self.most = 0  # 0: the crew does not change by itself
        self.looked_at = 0.0
        self.waiting_then = 0

    # Moves

    def remember(self) -> None:
        """Find who was parked by earlier crawls."""
        for file in sorted(self.parking.glob("*.json")) if self.parking.is_dir() else ():
            parked = self._unpark(file.stem)
            self.register.entries[parked.id] = Entry(parked.id, Life.DEACTIVATED, parked.place, parked.born)

    def create(self, place: str = HOME, known: Known | None = None, parent: str = "") -> str:
        """Start a migrant."""
        self._check(place)
        migrant = self.engine.create(place=place)
        self.register.create(migrant, place, parent)
        self.register.move(migrant, Move.START)
        self.roster.join(migrant, known, self.hands.get(place, 0))
        return migrant

    def clone(self, migrant: str) -> str:
        """Start another that knows what this one knows."""
        entry = self.register.move(migrant, Move.CLONE)
        return self.create(entry.place, self.roster.members[migrant].known(), migrant)

    def dispatch(self, migrant: str, place: str) -> None:
        """Send a migrant to another place: it leaves here, and goes on there under the same id."""
        self._check(place)
        after(self.register.find(migrant), Move.DISPATCH)
        self._leave(migrant, Move.DISPATCH, place)

    def retract(self, migrant: str) -> None:
        """Call a migrant home."""
        after(self.register.find(migrant), Move.RETRACT)
        self._leave(migrant, Move.RETRACT)

    def deactivate(self, migrant: str) -> None:
        """Park a migrant: its state goes to the disk, its process ends."""
        entry = self.register.find(migrant)
        after(entry, Move.DEACTIVATE)
        self._leave(migrant, Move.DEACTIVATE, entry.place)

    def make_way(self, urgent: str) -> list[str]:
        """Park everyone else, for one whose errand is urgent."""
        others = [m for m in self.roster.members if m != urgent and m not in self.leaving]
        for migrant in others:
            self.deactivate(migrant)
        return others

    def activate(self, migrant: str) -> None:
        """Wake a parked migrant: same id, same state."""
        after(self.register.find(migrant), Move.ACTIVATE)
        parked = self._unpark(migrant)
        self._check(parked.place)
        self.engine.create(name=migrant, place=parked.place)
        self.register.move(migrant, Move.ACTIVATE)
        self.roster.join(migrant, parked.known, self.hands.get(parked.place, 0))
        (self.parking / f"{migrant}.json").unlink(missing_ok=True)

    def dispose(self, migrant: str) -> None:
        """End a migrant for good."""
        entry = self.register.find(migrant)
        after(entry, Move.DISPOSE)
        if entry.life is Life.DEACTIVATED:
            (self.parking / f"{migrant}.json").unlink(missing_ok=True)
            self.register.move(migrant, Move.DISPOSE)
        else:
            self._leave(migrant, Move.DISPOSE, entry.place)

    def lose(self, migrant: str) -> int:
        """A migrant died: what it held goes back."""
        self.roster.leave(migrant)
        self.leaving.pop(migrant, None)
        if migrant in self.register.entries and self.register.entries[migrant].life is not Life.DISPOSED:
            self.register.move(migrant, Move.LOSE)
        return self.release(migrant)

    def end(self) -> None:
        """The crawl is over: write down that all who ran are gone."""
        for entry in self.register.alive():
            if entry.life in (Life.RUNNING, Life.DISPATCHED):
                self.register.move(entry.id, Move.LOSE if entry.life is Life.DISPATCHED else Move.DISPOSE, note="end")

    def _check(self, place: str) -> None:
        if place not in self.engine.places():
            known = ", ".join(name or "home" for name in self.engine.places())
            raise UsageError(f"there is no place {place!r}; there are: {known}")

    def _leave(self, migrant: str, move: Move, place: str = HOME) -> None:
        if migrant in self.leaving:
            raise UsageError(f"{migrant} is already on its way: {self.leaving[migrant].move}")
        self.leaving[migrant] = Leaving(move, self.roster.clock(), place)
        self.roster.rest(migrant)
        self.engine.abandon(migrant)

    # Each turn

    def settle(self) -> list[str]:
        """Complete the moves of those who have handed everything back, or would not for too long."""
        now = self.roster.clock()
        ready = [m for m, leaving in self.leaving.items()
                 if not self.roster.load(m) or now - leaving.since > PATIENCE]  # fmt: skip
        for migrant in ready:
            self._complete(migrant, self.leaving.pop(migrant))
        return ready

    def _complete(self, migrant: str, leaving: Leaving) -> None:
        known = self.roster.members[migrant].known()
        entry = self.register.find(migrant)
        self.roster.leave(migrant)
        self.engine.dispose(migrant)
        self.release(migrant)
        if leaving.move is Move.DEACTIVATE:
            self._park(Parked(migrant, entry.place, entry.born, known))
        self.register.move(migrant, leaving.move)
        if leaving.move in (Move.DISPATCH, Move.RETRACT):
            self.engine.create(name=migrant, place=leaving.place)
            self.register.move(migrant, Move.ARRIVE, leaving.place)
            self.roster.join(migrant, known, self.hands.get(leaving.place, 0))

    def adjust(self, waiting: int, shared: bool) -> None:
        """Create a migrant when all are busy and there is work for one more; let one go that nobody needs.

        Where hosts are `shared`, all are busy when nobody is idle; else more hands help only if those there are full.
        """
        now = self.roster.clock()
        if not self.most or now - self.looked_at < AUTO_SECONDS:
            return
        drained = (self.waiting_then - waiting) / max(now - self.looked_at, AUTO_SECONDS)
        self.looked_at, self.waiting_then = now, waiting
        members = [m for m in self.roster.members.values() if m.id not in self.leaving]
        if self._is_short(len(members), waiting, drained, shared):
            self.create()
        idle = [m for m in members if not m.stops and now - m.idle_since > IDLE_SECONDS and not m.silent]
        if idle and len(members) > 1:
            self.dispose(max(idle, key=lambda m: m.joined_at).id)

    def _is_short(self, count: int, waiting: int, drained: float, shared: bool) -> bool:
        """Is everybody busy, will the queue grow or last for long, and is there a core for one more?"""
        cpu = sum(m.vitals.cpu_share for m in self.roster.members.values())
        full = all(m.stops for m in self.roster.members.values()) if shared else not self.roster.able()
        busy = full and waiting > self.roster.in_hand
        lasts = waiting > drained * LASTS_SECONDS
        return busy and lasts and count < self.most and cpu < FULL_CPU * (os.cpu_count() or 1)

    # The disk

    def _park(self, parked: Parked) -> None:
        self.parking.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = self.parking / f"{parked.id}.new"
        fresh.write_bytes(msgspec.json.encode(parked))
        fresh.chmod(0o600)
        fresh.rename(self.parking / f"{parked.id}.json")

    def _unpark(self, migrant: str) -> Parked:
        if not NAME.fullmatch(migrant):
            raise UsageError(f"{migrant!r} is no name of a migrant")
        file = self.parking / f"{migrant}.json"
        try:
            return msgspec.json.decode(file.read_bytes(), type=Parked)
        except (OSError, msgspec.DecodeError) as error:
            raise UsageError(f"cannot read the parked state {file}: {error}") from None
