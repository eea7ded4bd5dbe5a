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

from sanderling.clock import Clock, system_clock
from sanderling.errors import UsageError
from sanderling.workers.assignment.worker_assignment import WorkerAssignment
from sanderling.workers.assignment.worker_stats import WorkerHistory
from sanderling.workers.lifecycle import (
    LOCAL_PLACE,
    LifecycleState,
    Transition,
    WorkerRecord,
    WorkerRegistry,
    get_next_state,
)

DRAIN_TIMEOUT_SECONDS = 20.0  # seconds a leaving migrant may need for what is in flight
RESIZE_SECONDS = 1.0  # between two looks at the size of the crew
IDLE_SECONDS = 10.0  # idle for so long: not needed
MIN_BACKLOG_SECONDS = 10.0  # a queue that lasts longer than this at its present pace is worth one more migrant
MAX_CPU_SHARE = 0.9  # share of all cores; beyond it more migrants only wait for each other
WORKER_ID = re.compile(r"[\w.-]{1,64}")


class WorkerLauncher(Protocol):
    """What the crew needs of an engine."""

    def create_worker(self, name: str = "", place: str = "") -> str: ...
    def dispose_worker(self, worker: str) -> None: ...
    def cancel_tasks(self, worker: str) -> None: ...
    def list_places(self) -> list[str]: ...
    def get_location(self, worker: str) -> str: ...


class PendingTransition(Struct, frozen=True):
    """A migrant that hands back what it holds, and what comes after."""

    transition: Transition
    started_at: float
    place: str = LOCAL_PLACE


class ParkedWorker(Struct, frozen=True):
    """A migrant at rest on the disk."""

    id: str
    place: str
    created_at: float
    history: WorkerHistory


class WorkerPool:
    """Lets migrants live, on top of an engine, a roster and a register."""

    def __init__(
        self,
        engine: WorkerLauncher,
        assignment: WorkerAssignment,
        folder: Path,
        release_leases: Callable[[str], int],
        *,
        clock: Clock = system_clock,
    ) -> None:
        self.engine = engine
        self.assignment = assignment
        self.release_leases = release_leases  # leases of a migrant go back into the queue
        self.parked_folder = folder / "migrants"
        self.registry = WorkerRegistry(folder / "logs" / "migrants.log", clock)
        self.pending_transitions: dict[str, PendingTransition] = {}
        self.capacity_by_place: dict[str, int] = {}  # how much one can hold who lives there, where it is not the usual
        self.max_workers = 0  # 0: the crew does not change by itself
        self.resized_at = 0.0
        self.last_queue_size = 0

    # Moves

    def load_parked(self) -> None:
        """Find who was parked by earlier crawls."""
        for file in sorted(self.parked_folder.glob("*.json")) if self.parked_folder.is_dir() else ():
            parked = self._read_parked(file.stem)
            self.registry.records[parked.id] = WorkerRecord(
                parked.id, LifecycleState.DEACTIVATED, parked.place, parked.created_at
            )

    def create(self, place: str = LOCAL_PLACE, history: WorkerHistory | None = None, parent: str = "") -> str:
        """Start a migrant."""
        self._check_place(place)
        migrant = self.engine.create_worker(place=place)
        self.registry.add(migrant, place, parent)
        self.registry.apply_transition(migrant, Transition.START)
        self.assignment.add_worker(migrant, history, self.capacity_by_place.get(place, 0))
        return migrant

    def clone(self, worker: str) -> str:
        """Start another that knows what this one knows."""
        entry = self.registry.apply_transition(worker, Transition.CLONE)
        return self.create(entry.place, self.assignment.workers[worker].export_history(), worker)

    def dispatch(self, worker: str, place: str) -> None:
        """Send a migrant to another place: it leaves here, and goes on there under the same id."""
        self._check_place(place)
        get_next_state(self.registry.get(worker), Transition.DISPATCH)
        self._start_transition(worker, Transition.DISPATCH, place)

    def retract(self, worker: str) -> None:
        """Call a migrant home."""
        get_next_state(self.registry.get(worker), Transition.RETRACT)
        self._start_transition(worker, Transition.RETRACT)

    def deactivate(self, worker: str) -> None:
        """Park a migrant: its state goes to the disk, its process ends."""
        entry = self.registry.get(worker)
        get_next_state(entry, Transition.DEACTIVATE)
        self._start_transition(worker, Transition.DEACTIVATE, entry.place)

    def deactivate_others(self, worker: str) -> list[str]:
        """Park everyone else, for one whose errand is urgent."""
        others = [m for m in self.assignment.workers if m != worker and m not in self.pending_transitions]
        for migrant in others:
            self.deactivate(migrant)
        return others

    def activate(self, worker: str) -> None:
        """Wake a parked migrant: same id, same state."""
        get_next_state(self.registry.get(worker), Transition.ACTIVATE)
        parked = self._read_parked(worker)
        self._check_place(parked.place)
        self.engine.create_worker(name=worker, place=parked.place)
        self.registry.apply_transition(worker, Transition.ACTIVATE)
        self.assignment.add_worker(worker, parked.history, self.capacity_by_place.get(parked.place, 0))
        (self.parked_folder / f"{worker}.json").unlink(missing_ok=True)

    def dispose(self, worker: str) -> None:
        """End a migrant for good."""
        entry = self.registry.get(worker)
        get_next_state(entry, Transition.DISPOSE)
        if entry.state is LifecycleState.DEACTIVATED:
            (self.parked_folder / f"{worker}.json").unlink(missing_ok=True)
            self.registry.apply_transition(worker, Transition.DISPOSE)
        else:
            self._start_transition(worker, Transition.DISPOSE, entry.place)

    def remove_lost(self, worker: str) -> int:
        """A migrant died: what it held goes back."""
        self.assignment.remove_worker(worker)
        self.pending_transitions.pop(worker, None)
        if worker in self.registry.records and self.registry.records[worker].state is not LifecycleState.DISPOSED:
            self.registry.apply_transition(worker, Transition.LOSE)
        return self.release_leases(worker)

    def close(self) -> None:
        """The crawl is over: write down that all who ran are gone."""
        for entry in self.registry.list_alive():
            if entry.state in (LifecycleState.RUNNING, LifecycleState.DISPATCHED):
                self.registry.apply_transition(
                    entry.id,
                    Transition.LOSE if entry.state is LifecycleState.DISPATCHED else Transition.DISPOSE,
                    detail="end",
                )

    def _check_place(self, place: str) -> None:
        if place not in self.engine.list_places():
            known = ", ".join(name or "home" for name in self.engine.list_places())
            raise UsageError(f"there is no place {place!r}; there are: {known}")

    def _start_transition(self, worker: str, transition: Transition, place: str = LOCAL_PLACE) -> None:
        if worker in self.pending_transitions:
            raise UsageError(f"{worker} is already on its way: {self.pending_transitions[worker].transition}")
        self.pending_transitions[worker] = PendingTransition(transition, self.assignment.clock(), place)
        self.assignment.drain_worker(worker)
        self.engine.cancel_tasks(worker)

    # Each turn

    def complete_transitions(self) -> list[str]:
        """Complete the moves of those who have handed everything back, or would not for too long."""
        now = self.assignment.clock()
        ready = [m for m, leaving in self.pending_transitions.items()
                 if not self.assignment.count_tasks(m) or now - leaving.started_at > DRAIN_TIMEOUT_SECONDS]  # fmt: skip
        for migrant in ready:
            self._complete_transition(migrant, self.pending_transitions.pop(migrant))
        return ready

    def _complete_transition(self, worker: str, pending: PendingTransition) -> None:
        known = self.assignment.workers[worker].export_history()
        entry = self.registry.get(worker)
        self.assignment.remove_worker(worker)
        self.engine.dispose_worker(worker)
        self.release_leases(worker)
        if pending.transition is Transition.DEACTIVATE:
            self._write_parked(ParkedWorker(worker, entry.place, entry.created_at, known))
        self.registry.apply_transition(worker, pending.transition)
        if pending.transition in (Transition.DISPATCH, Transition.RETRACT):
            self.engine.create_worker(name=worker, place=pending.place)
            self.registry.apply_transition(worker, Transition.ARRIVE, pending.place)
            self.assignment.add_worker(worker, known, self.capacity_by_place.get(pending.place, 0))

    def resize(self, queue_size: int, shares_hosts: bool) -> None:
        """Create a migrant when all are busy and there is work for one more; let one go that nobody needs.

        Where hosts are `shared`, all are busy when nobody is idle; else more hands help only if those there are full.
        """
        now = self.assignment.clock()
        if not self.max_workers or now - self.resized_at < RESIZE_SECONDS:
            return
        drained = (self.last_queue_size - queue_size) / max(now - self.resized_at, RESIZE_SECONDS)
        self.resized_at, self.last_queue_size = now, queue_size
        members = [m for m in self.assignment.workers.values() if m.id not in self.pending_transitions]
        if self._should_grow(len(members), queue_size, drained, shares_hosts):
            self.create()
        idle = [m for m in members if not m.host_by_token and now - m.idle_since > IDLE_SECONDS and not m.is_silent]
        if idle and len(members) > 1:
            self.dispose(max(idle, key=lambda m: m.joined_at).id)

    def _should_grow(self, worker_count: int, queue_size: int, drain_rate: float, shares_hosts: bool) -> bool:
        """Is everybody busy, will the queue grow or last for long, and is there a core for one more?"""
        cpu = sum(m.heartbeat.cpu_share for m in self.assignment.workers.values())
        full = (
            all(m.host_by_token for m in self.assignment.workers.values())
            if shares_hosts
            else not self.assignment.list_available()
        )
        busy = full and queue_size > self.assignment.max_tasks
        lasts = queue_size > drain_rate * MIN_BACKLOG_SECONDS
        return busy and lasts and worker_count < self.max_workers and cpu < MAX_CPU_SHARE * (os.cpu_count() or 1)

    # The disk

    def _write_parked(self, parked_worker: ParkedWorker) -> None:
        self.parked_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = self.parked_folder / f"{parked_worker.id}.new"
        fresh.write_bytes(msgspec.json.encode(parked_worker))
        fresh.chmod(0o600)
        fresh.rename(self.parked_folder / f"{parked_worker.id}.json")

    def _read_parked(self, worker: str) -> ParkedWorker:
        if not WORKER_ID.fullmatch(worker):
            raise UsageError(f"{worker!r} is no name of a migrant")
        file = self.parked_folder / f"{worker}.json"
        try:
            return msgspec.json.decode(file.read_bytes(), type=ParkedWorker)
        except (OSError, msgspec.DecodeError) as error:
            raise UsageError(f"cannot read the parked state {file}: {error}") from None
