"""Worker pool of a running crawl: creates, clones, moves, pauses, resumes, disposes of, and resizes workers.

A worker that is moved or stopped finishes its requests in flight and returns its other tasks.
"""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec import Struct

from sanderling.clock import Clock, system_clock
from sanderling.db.stored_keys import rename_keys
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

DRAIN_TIMEOUT_SECONDS = 20.0  # for the requests in flight of a worker that is stopped
RESIZE_SECONDS = 1.0  # interval of resizing
IDLE_SECONDS = 10.0  # in auto mode an idle worker is disposed of
MIN_BACKLOG_SECONDS = 10.0  # in auto mode a queue that lasts longer gets another worker
MAX_CPU_SHARE = 0.9  # of all cores; beyond it more workers do not help
WORKER_FOLDER = "workers"  # in a collection: state of paused workers, and pages that do not match a template filter
RENAMED_KEYS = {  # in files of earlier versions
    "born": "created_at", "known": "history", "ways": "host_stats", "recent": "recent_seconds",
    "given": "assigned_count",
}  # fmt: skip
WORKER_ID = re.compile(r"[\w.-]{1,64}")


class WorkerLauncher(Protocol):
    """The part of an engine that the pool uses."""

    def create_worker(self, name: str = "", place: str = "") -> str: ...
    def dispose_worker(self, worker: str) -> None: ...
    def cancel_tasks(self, worker: str) -> None: ...
    def list_places(self) -> list[str]: ...
    def get_location(self, worker: str) -> str: ...


class PendingTransition(Struct, frozen=True):
    """The transition of a worker that is returning its tasks."""

    transition: Transition
    started_at: float
    place: str = LOCAL_PLACE


class PausedWorker(Struct, frozen=True):
    """State of a paused worker, stored in COLLECTION/workers/ID.json."""

    id: str
    place: str
    created_at: float
    history: WorkerHistory


class WorkerPool:
    def __init__(
        self,
        engine: WorkerLauncher,
        assignment: WorkerAssignment,
        folder: Path,
        release_leases: Callable[[str], int],
        *,
        max_workers: int = 0,
        capacity_by_place: Mapping[str, int] | None = None,
        clock: Clock = system_clock,
    ) -> None:
        self.engine = engine
        self.assignment = assignment
        self.release_leases = release_leases  # requeues the leased URLs of a worker
        self.paused_folder = folder / WORKER_FOLDER
        self.registry = WorkerRegistry(folder / "logs" / "workers.log", clock)
        self.pending_transitions: dict[str, PendingTransition] = {}
        self.capacity_by_place = capacity_by_place or {}  # tasks per worker, if not the default
        self.max_workers = max_workers  # 0: no resizing
        self.resized_at = 0.0
        self.last_queue_size = 0

    # Transitions

    def load_paused(self) -> None:
        """Register the workers paused by earlier crawls."""
        for file in sorted(self.paused_folder.glob("*.json")) if self.paused_folder.is_dir() else ():
            paused = self._read_paused(file.stem)
            self.registry.records[paused.id] = WorkerRecord(
                paused.id, LifecycleState.DEACTIVATED, paused.place, paused.created_at
            )

    def create(self, place: str = LOCAL_PLACE, history: WorkerHistory | None = None, parent: str = "") -> str:
        """Start a worker and return its id."""
        self._check_place(place)
        worker = self.engine.create_worker(place=place)
        self.registry.add(worker, place, parent)
        self.registry.apply_transition(worker, Transition.START)
        self.assignment.add_worker(worker, history, self.capacity_by_place.get(place, 0))
        return worker

    def clone(self, worker: str) -> str:
        """Start a worker with the history of another. Returns its id."""
        record = self.registry.apply_transition(worker, Transition.CLONE)
        return self.create(record.place, self.assignment.workers[worker].export_history(), worker)

    def dispatch(self, worker: str, place: str) -> None:
        """Move a worker to another place, under the same id."""
        self._check_place(place)
        get_next_state(self.registry.get(worker), Transition.DISPATCH)
        self._start_transition(worker, Transition.DISPATCH, place)

    def retract(self, worker: str) -> None:
        """Move a worker back to this machine."""
        get_next_state(self.registry.get(worker), Transition.RETRACT)
        self._start_transition(worker, Transition.RETRACT)

    def deactivate(self, worker: str) -> None:
        """Pause a worker: store its state and stop its process."""
        record = self.registry.get(worker)
        get_next_state(record, Transition.DEACTIVATE)
        self._start_transition(worker, Transition.DEACTIVATE, record.place)

    def deactivate_others(self, worker: str) -> list[str]:
        """Pause all other workers. Returns their ids."""
        others = [m for m in self.assignment.workers if m != worker and m not in self.pending_transitions]
        for other in others:
            self.deactivate(other)
        return others

    def activate(self, worker: str) -> None:
        """Resume a paused worker with its id and history."""
        get_next_state(self.registry.get(worker), Transition.ACTIVATE)
        paused = self._read_paused(worker)
        self._check_place(paused.place)
        self.engine.create_worker(name=worker, place=paused.place)
        self.registry.apply_transition(worker, Transition.ACTIVATE)
        self.assignment.add_worker(worker, paused.history, self.capacity_by_place.get(paused.place, 0))
        (self.paused_folder / f"{worker}.json").unlink(missing_ok=True)

    def dispose(self, worker: str) -> None:
        """Stop a worker and delete its paused state."""
        record = self.registry.get(worker)
        get_next_state(record, Transition.DISPOSE)
        if record.state is LifecycleState.DEACTIVATED:
            (self.paused_folder / f"{worker}.json").unlink(missing_ok=True)
            self.registry.apply_transition(worker, Transition.DISPOSE)
        else:
            self._start_transition(worker, Transition.DISPOSE, record.place)

    def remove_lost(self, worker: str) -> int:
        """Remove a worker that died. Returns the number of requeued URLs."""
        self.assignment.remove_worker(worker)
        self.pending_transitions.pop(worker, None)
        if worker in self.registry.records and self.registry.records[worker].state is not LifecycleState.DISPOSED:
            self.registry.apply_transition(worker, Transition.LOSE)
        return self.release_leases(worker)

    def close(self) -> None:
        """Log the end of all running workers."""
        for record in self.registry.list_alive():
            if record.state in (LifecycleState.RUNNING, LifecycleState.DISPATCHED):
                self.registry.apply_transition(
                    record.id,
                    Transition.LOSE if record.state is LifecycleState.DISPATCHED else Transition.DISPOSE,
                    detail="end",
                )

    def _check_place(self, place: str) -> None:
        if place not in self.engine.list_places():
            places = ", ".join(name or "home" for name in self.engine.list_places())
            raise UsageError(f"there is no place {place!r}; choose one of: {places}")

    def _start_transition(self, worker: str, transition: Transition, place: str = LOCAL_PLACE) -> None:
        if worker in self.pending_transitions:
            raise UsageError(f"{worker} is busy with another command: {self.pending_transitions[worker].transition}")
        self.pending_transitions[worker] = PendingTransition(transition, self.assignment.clock(), place)
        self.assignment.drain_worker(worker)
        self.engine.cancel_tasks(worker)

    # Periodic work

    def complete_transitions(self) -> list[str]:
        """Return the ids of workers that returned their tasks or timed out."""
        now = self.assignment.clock()
        ready = [m for m, pending in self.pending_transitions.items()
                 if not self.assignment.count_tasks(m) or now - pending.started_at > DRAIN_TIMEOUT_SECONDS]  # fmt: skip
        for worker in ready:
            self._complete_transition(worker, self.pending_transitions.pop(worker))
        return ready

    def _complete_transition(self, worker: str, pending: PendingTransition) -> None:
        history = self.assignment.workers[worker].export_history()
        record = self.registry.get(worker)
        self.assignment.remove_worker(worker)
        self.engine.dispose_worker(worker)
        self.release_leases(worker)
        if pending.transition is Transition.DEACTIVATE:
            self._write_paused(PausedWorker(worker, record.place, record.created_at, history))
        self.registry.apply_transition(worker, pending.transition)
        if pending.transition in (Transition.DISPATCH, Transition.RETRACT):
            self.engine.create_worker(name=worker, place=pending.place)
            self.registry.apply_transition(worker, Transition.ARRIVE, pending.place)
            self.assignment.add_worker(worker, history, self.capacity_by_place.get(pending.place, 0))

    def resize(self, queue_size: int, shares_hosts: bool) -> None:
        """In auto mode create a worker if all are busy, or dispose of an idle worker.

        If workers share hosts, a worker with any task is busy.
        """
        now = self.assignment.clock()
        if not self.max_workers or now - self.resized_at < RESIZE_SECONDS:
            return
        drain_rate = (self.last_queue_size - queue_size) / max(now - self.resized_at, RESIZE_SECONDS)
        self.resized_at, self.last_queue_size = now, queue_size
        members = [m for m in self.assignment.workers.values() if m.id not in self.pending_transitions]
        if self._should_grow(len(members), queue_size, drain_rate, shares_hosts):
            self.create()
        idle = [m for m in members if not m.host_by_token and now - m.idle_since > IDLE_SECONDS and not m.is_silent]
        if idle and len(members) > 1:
            self.dispose(max(idle, key=lambda m: m.joined_at).id)

    def _should_grow(self, worker_count: int, queue_size: int, drain_rate: float, shares_hosts: bool) -> bool:
        cpu = sum(m.heartbeat.cpu_share for m in self.assignment.workers.values())
        is_full = (
            all(m.host_by_token for m in self.assignment.workers.values())
            if shares_hosts
            else not self.assignment.list_available()
        )
        is_busy = is_full and queue_size > self.assignment.max_tasks
        has_backlog = queue_size > drain_rate * MIN_BACKLOG_SECONDS
        return (
            is_busy and has_backlog and worker_count < self.max_workers and cpu < MAX_CPU_SHARE * (os.cpu_count() or 1)
        )

    # Storage

    def _write_paused(self, paused_worker: PausedWorker) -> None:
        self.paused_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = self.paused_folder / f"{paused_worker.id}.new"
        temporary.write_bytes(msgspec.json.encode(paused_worker))
        temporary.chmod(0o600)
        temporary.rename(self.paused_folder / f"{paused_worker.id}.json")

    def _read_paused(self, worker: str) -> PausedWorker:
        if not WORKER_ID.fullmatch(worker):
            raise UsageError(f"{worker!r} is not a worker id")
        file = self.paused_folder / f"{worker}.json"
        try:
            return msgspec.convert(rename_keys(msgspec.json.decode(file.read_bytes()), RENAMED_KEYS), PausedWorker)
        except (OSError, msgspec.DecodeError) as error:
            raise UsageError(
                f"cannot read the paused worker {file}: {error}; delete the file to start without it"
            ) from None
