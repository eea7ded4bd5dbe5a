"""The life of a migrant: its states, the moves between them, and the register that lets only legal ones happen."""

import time
from enum import StrEnum
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from sanderling.clock import Clock, real
from sanderling.errors import UsageError

HOME = ""  # the place where the coordinator is


class Life(StrEnum):
    """Where a migrant stands."""

    CREATED = "created"
    RUNNING = "running"
    DISPATCHED = "dispatched"  # on its way to another place
    DEACTIVATED = "deactivated"  # parked: its state is on the disk, it uses nothing
    DISPOSED = "disposed"


class Move(StrEnum):
    """What can be done with a migrant."""

    START = "start"
    CLONE = "clone"
    DISPATCH = "dispatch"
    ARRIVE = "arrive"
    RETRACT = "retract"
    DEACTIVATE = "deactivate"
    ACTIVATE = "activate"
    DISPOSE = "dispose"
    LOSE = "lose"  # it died or its machine did; nobody asked for it


# SPEC of the Aglets' life cycle. Ours besides: one that is parked or on its way can be disposed of or be lost too.
LEGAL: dict[tuple[Life, Move], Life] = {
    (Life.CREATED, Move.START): Life.RUNNING,
    (Life.RUNNING, Move.CLONE): Life.RUNNING,
    (Life.RUNNING, Move.DISPATCH): Life.DISPATCHED,
    (Life.RUNNING, Move.RETRACT): Life.DISPATCHED,
    (Life.DISPATCHED, Move.ARRIVE): Life.RUNNING,
    (Life.RUNNING, Move.DEACTIVATE): Life.DEACTIVATED,
    (Life.DEACTIVATED, Move.ACTIVATE): Life.RUNNING,
    (Life.RUNNING, Move.DISPOSE): Life.DISPOSED,
    (Life.RUNNING, Move.LOSE): Life.DISPOSED,
    (Life.DEACTIVATED, Move.DISPOSE): Life.DISPOSED,
    (Life.DISPATCHED, Move.LOSE): Life.DISPOSED,
}


class Entry(Struct, frozen=True):
    """What the register says of one migrant."""

    id: str
    life: Life = Life.CREATED
    place: str = HOME
    born: float = 0.0
    parent: str = ""  # whose clone it is


def after(entry: Entry, move: Move) -> Life:
    """Say what a migrant is after a move; a move that cannot be is refused."""
    life = LEGAL.get((entry.life, move))
    if life is None:
        raise UsageError(f"cannot {move} {entry.id}: it is {entry.life}")
    if move is Move.RETRACT and entry.place == HOME:
        raise UsageError(f"cannot retract {entry.id}: it is at home")
    return life


class Register:
    """Every migrant there was in this crawl; each transition is a line in the log."""

    def __init__(self, log: Path, clock: Clock = real) -> None:
        self.log = log
        self.clock = clock
        self.entries: dict[str, Entry] = {}

    def create(self, migrant: str, place: str = HOME, parent: str = "", life: Life = Life.CREATED) -> Entry:
        """Enter a migrant; its id is its own for ever."""
        known = self.entries.get(migrant)
        if known is not None and known.life is not Life.DEACTIVATED:
            raise UsageError(f"there is a migrant {migrant} already")
        entry = self.entries[migrant] = Entry(migrant, life, place, self.clock(), parent)
        self._note(entry, "", "create", f"clone of {parent}" if parent else "")
        return entry

    def move(self, migrant: str, move: Move, place: str | None = None, note: str = "") -> Entry:
        """Let a migrant make a move, if it is legal."""
        old = self.find(migrant)
        entry = replace(old, life=after(old, move), place=old.place if place is None else place)
        self.entries[migrant] = entry
        self._note(entry, old.life, move, note)
        return entry

    def find(self, migrant: str) -> Entry:
        """Look one up."""
        entry = self.entries.get(migrant)
        if entry is None:
            raise UsageError(f"there is no migrant {migrant!r}; sanderling migrants list names them")
        return entry

    def alive(self) -> list[Entry]:
        """All that are not disposed of."""
        return [entry for entry in self.entries.values() if entry.life is not Life.DISPOSED]

    def _note(self, entry: Entry, before: str, move: str, note: str) -> None:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.clock()))
        with self.log.open("a", encoding="utf-8") as file:
            file.write(
                f"{stamp} {entry.id} {move} {before or '-'} {entry.life} {entry.place or 'home'} {note}".rstrip()
            )
            file.write("\n")
