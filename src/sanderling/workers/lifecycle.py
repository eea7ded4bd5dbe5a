"""The life of a migrant: its states, the moves between them, and the register that lets only legal ones happen."""

import time
from enum import StrEnum
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from sanderling.clock import Clock, system_clock
from sanderling.errors import UsageError

LOCAL_PLACE = ""  # the place where the coordinator is


class LifecycleState(StrEnum):
    """Where a migrant stands."""

    CREATED = "created"
    RUNNING = "running"
    DISPATCHED = "dispatched"  # on its way to another place
    DEACTIVATED = "deactivated"  # parked: its state is on the disk, it uses nothing
    DISPOSED = "disposed"


class Transition(StrEnum):
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
LEGAL_TRANSITIONS: dict[tuple[LifecycleState, Transition], LifecycleState] = {
    (LifecycleState.CREATED, Transition.START): LifecycleState.RUNNING,
    (LifecycleState.RUNNING, Transition.CLONE): LifecycleState.RUNNING,
    (LifecycleState.RUNNING, Transition.DISPATCH): LifecycleState.DISPATCHED,
    (LifecycleState.RUNNING, Transition.RETRACT): LifecycleState.DISPATCHED,
    (LifecycleState.DISPATCHED, Transition.ARRIVE): LifecycleState.RUNNING,
    (LifecycleState.RUNNING, Transition.DEACTIVATE): LifecycleState.DEACTIVATED,
    (LifecycleState.DEACTIVATED, Transition.ACTIVATE): LifecycleState.RUNNING,
    (LifecycleState.RUNNING, Transition.DISPOSE): LifecycleState.DISPOSED,
    (LifecycleState.RUNNING, Transition.LOSE): LifecycleState.DISPOSED,
    (LifecycleState.DEACTIVATED, Transition.DISPOSE): LifecycleState.DISPOSED,
    (LifecycleState.DISPATCHED, Transition.LOSE): LifecycleState.DISPOSED,
}


class WorkerRecord(Struct, frozen=True):
    """What the register says of one migrant."""

    id: str
    state: LifecycleState = LifecycleState.CREATED
    place: str = LOCAL_PLACE
    created_at: float = 0.0
    parent: str = ""  # whose clone it is


def get_next_state(record: WorkerRecord, transition: Transition) -> LifecycleState:
    """Say what a migrant is after a move; a move that cannot be is refused."""
    life = LEGAL_TRANSITIONS.get((record.state, transition))
    if life is None:
        raise UsageError(f"cannot {transition} {record.id}: it is {record.state}")
    if transition is Transition.RETRACT and record.place == LOCAL_PLACE:
        raise UsageError(f"cannot retract {record.id}: it is at home")
    return life


class WorkerRegistry:
    """Every migrant there was in this crawl; each transition is a line in the log."""

    def __init__(self, log_file: Path, clock: Clock = system_clock) -> None:
        self.log_file = log_file
        self.clock = clock
        self.records: dict[str, WorkerRecord] = {}

    def add(
        self, worker: str, place: str = LOCAL_PLACE, parent: str = "", state: LifecycleState = LifecycleState.CREATED
    ) -> WorkerRecord:
        """Enter a migrant; its id is its own for ever."""
        known = self.records.get(worker)
        if known is not None and known.state is not LifecycleState.DEACTIVATED:
            raise UsageError(f"there is a migrant {worker} already")
        entry = self.records[worker] = WorkerRecord(worker, state, place, self.clock(), parent)
        self._log_transition(entry, "", "create", f"clone of {parent}" if parent else "")
        return entry

    def apply_transition(
        self, worker: str, transition: Transition, place: str | None = None, detail: str = ""
    ) -> WorkerRecord:
        """Let a migrant make a move, if it is legal."""
        old = self.get(worker)
        entry = replace(old, state=get_next_state(old, transition), place=old.place if place is None else place)
        self.records[worker] = entry
        self._log_transition(entry, old.state, transition, detail)
        return entry

    def get(self, worker: str) -> WorkerRecord:
        """Look one up."""
        entry = self.records.get(worker)
        if entry is None:
            raise UsageError(f"there is no migrant {worker!r}; sanderling workers list names them")
        return entry

    def list_alive(self) -> list[WorkerRecord]:
        """All that are not disposed of."""
        return [entry for entry in self.records.values() if entry.state is not LifecycleState.DISPOSED]

    def _log_transition(self, record: WorkerRecord, old_state: str, transition: str, detail: str) -> None:
        self.log_file.parent.mkdir(parents=True, exist_ok=True)
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.clock()))
        with self.log_file.open("a", encoding="utf-8") as file:
            file.write(
                f"{stamp} {record.id} {transition} {old_state or '-'} {record.state} {record.place or 'home'} {detail}".rstrip()
            )
            file.write("\n")
