"""States of workers, their legal transitions, and the registry that enforces and logs them."""

import time
from enum import StrEnum
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from sanderling.clock import Clock, system_clock
from sanderling.errors import UsageError

LOCAL_PLACE = ""  # the machine of the coordinator


class LifecycleState(StrEnum):
    CREATED = "created"
    RUNNING = "running"
    DISPATCHED = "dispatched"  # moving to another place
    DEACTIVATED = "deactivated"  # paused on disk, without a process
    DISPOSED = "disposed"


class Transition(StrEnum):
    """Transition between two states."""

    START = "start"
    CLONE = "clone"
    DISPATCH = "dispatch"
    ARRIVE = "arrive"
    RETRACT = "retract"
    DEACTIVATE = "deactivate"
    ACTIVATE = "activate"
    DISPOSE = "dispose"
    LOSE = "lose"  # the process or its machine died


# The life cycle of Aglets. Additions: a paused worker can be disposed of, a moving one can be lost.
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
    """State and place of a worker."""

    id: str
    state: LifecycleState = LifecycleState.CREATED
    place: str = LOCAL_PLACE
    created_at: float = 0.0
    parent: str = ""  # worker it was cloned from


def get_next_state(record: WorkerRecord, transition: Transition) -> LifecycleState:
    """Return the state after a transition. Raises UsageError if it is not legal."""
    state = LEGAL_TRANSITIONS.get((record.state, transition))
    if state is None:
        raise UsageError(f"cannot {transition} {record.id}: it is {record.state}")
    if transition is Transition.RETRACT and record.place == LOCAL_PLACE:
        raise UsageError(f"cannot retract {record.id}: it is at home")
    return state


class WorkerRegistry:
    """All workers of a crawl, including disposed workers."""

    def __init__(self, log_file: Path, clock: Clock = system_clock) -> None:
        self.log_file = log_file
        self.clock = clock
        self.records: dict[str, WorkerRecord] = {}

    def add(
        self, worker: str, place: str = LOCAL_PLACE, parent: str = "", state: LifecycleState = LifecycleState.CREATED
    ) -> WorkerRecord:
        """Add a worker. Raises UsageError if its id was used, unless it is paused."""
        old = self.records.get(worker)
        if old is not None and old.state is not LifecycleState.DEACTIVATED:
            raise UsageError(f"worker {worker} exists already")
        record = self.records[worker] = WorkerRecord(worker, state, place, self.clock(), parent)
        self._log_transition(record, "", "create", f"clone of {parent}" if parent else "")
        return record

    def apply_transition(
        self, worker: str, transition: Transition, place: str | None = None, detail: str = ""
    ) -> WorkerRecord:
        """Log the new state. Raises UsageError if the transition is not legal."""
        old = self.get(worker)
        record = replace(old, state=get_next_state(old, transition), place=old.place if place is None else place)
        self.records[worker] = record
        self._log_transition(record, old.state, transition, detail)
        return record

    def get(self, worker: str) -> WorkerRecord:
        """Return a worker. Raises UsageError if it is unknown."""
        record = self.records.get(worker)
        if record is None:
            raise UsageError(f"there is no worker {worker!r}; sanderling workers list shows all")
        return record

    def list_alive(self) -> list[WorkerRecord]:
        return [record for record in self.records.values() if record.state is not LifecycleState.DISPOSED]

    def _log_transition(self, record: WorkerRecord, old_state: str, transition: str, detail: str) -> None:
        self.log_file.parent.mkdir(parents=True, exist_ok=True)
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.clock()))
        states = f"{old_state or '-'} {record.state}"
        line = f"{now} {record.id} {transition} {states} {record.place or 'home'} {detail}".rstrip()
        with self.log_file.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
