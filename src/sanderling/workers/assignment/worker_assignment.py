"""Tracks the tasks and measurements of all workers, and assigns hosts to workers.

Measurements are used from the next heartbeat on, so that most AHP weights can be cached.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence

from sanderling.clock import Clock, system_clock
from sanderling.models import FetchBatch, Heartbeat, Host, Visit
from sanderling.workers.assignment.change_rate_sets import ChangeRateSets
from sanderling.workers.assignment.criteria import WorkerState
from sanderling.workers.assignment.strategies import AssignmentStrategy
from sanderling.workers.assignment.worker_stats import MAX_TASKS, HostStats, WorkerHistory, WorkerStats

MIN_HOST_SAMPLES = 3  # visits before the latency of a host is used; a first page is often fast
DEFAULT_PAGE_SECONDS = 0.5  # of a new host
MIN_TASKS = 24  # capacity of the slowest worker
STALL_SECONDS = 2.0  # tasks of a host without progress for this time do not count against capacity
MAX_STALLED_TASKS = 96  # limit of these, so that a worker never gets more than it can have in flight


class WorkerAssignment:
    def __init__(
        self,
        strategy: AssignmentStrategy,
        *,
        is_host_bound: bool = False,
        is_speed_limited: bool = False,
        max_tasks: int = MAX_TASKS,
        clock: Clock = system_clock,
        can_engine_reach: Callable[[str, Host], bool] | None = None,
        change_rate_sets: ChangeRateSets | None = None,
    ) -> None:
        self.strategy = strategy
        self.is_host_bound = is_host_bound  # a host waits for its worker
        self.is_speed_limited = is_speed_limited  # capacity by speed (URL Capacity of AHP)
        self.max_tasks = max_tasks
        self.current_max_tasks = max_tasks  # smaller early in a crawl: assigned tasks cannot be reordered
        self.clock = clock
        self.can_engine_reach = can_engine_reach or _can_reach_any
        self.change_rate_sets = change_rate_sets or ChangeRateSets()
        self.workers: dict[str, WorkerStats] = {}
        self.has_crawl_delay = False  # then hosts limit the speed, not workers
        self.fastest_page_seconds = 0.0  # mean of the fastest worker
        self.cpu_seconds = 0.0  # of all choices
        self.choice_count = 0

    def set_load_limit(self, max_tasks: int, *, has_crawl_delay: bool) -> None:
        """Limit the tasks of each worker from now on."""
        self.current_max_tasks = max_tasks
        self.has_crawl_delay = has_crawl_delay

    # Workers

    def add_worker(self, worker: str, history: WorkerHistory | None = None, capacity: int = 0) -> None:
        """Add a worker, with the history of a cloned, parked or moved worker."""
        now = self.clock()
        member = WorkerStats(worker, Heartbeat(worker, now), now, now, capacity or self.max_tasks, idle_since=now)
        if history is not None:
            member.host_stats = OrderedDict(
                (Host(host), HostStats(*values, reported_values=values)) for host, values in history.host_stats.items()
            )
            member.recent_seconds.extend(history.recent_seconds)
        self.workers[worker] = member
        self.change_rate_sets.add_worker(worker)

    def drain_worker(self, worker: str) -> None:
        """Assign no more tasks to a worker."""
        self.workers[worker].is_draining = True

    def remove_worker(self, worker: str) -> None:
        self.workers.pop(worker, None)
        self.change_rate_sets.remove_worker(worker)

    def record_heartbeat(self, heartbeat: Heartbeat) -> None:
        """Store a heartbeat, and use the measurements of its worker from now on."""
        member = self.workers.get(heartbeat.worker)
        if member is None:
            return
        member.heartbeat, member.last_contact_at = heartbeat, self.clock()
        member.has_reported, member.is_silent = True, False
        for stats in member.host_stats.values():
            stats.reported_values = (stats.latency_seconds, stats.bytes_per_second, stats.visit_count)

    def mark_silent_workers(self, timeout_seconds: float, listened_at: float) -> list[WorkerStats]:
        """Mark and return workers without a message for the timeout; they get no tasks until their next message.

        Messages that arrived while the coordinator was busy do not make a worker silent.
        """
        silent = [
            m for m in self.workers.values() if not m.is_silent and listened_at - m.last_contact_at > timeout_seconds
        ]
        for member in silent:
            member.is_silent = True
            member.host_by_token.clear()
            member.task_count_by_host.clear()
            member.progress_at_by_host.clear()
        return silent

    # Tasks

    def record_batch(self, worker: str, batch: FetchBatch) -> None:
        member = self.workers[worker]
        member.get_host_stats(batch.host)
        member.progress_at_by_host.setdefault(batch.host, self.clock())
        member.assigned_count += len(batch.tasks)
        for task in batch.tasks:
            member.host_by_token[task.token] = batch.host
        member.task_count_by_host[batch.host] += len(batch.tasks)

    def record_visits(self, worker: str, visits: Iterable[Visit]) -> None:
        """Record received visits: complete their tasks and measure their durations."""
        member = self.workers.get(worker)
        if member is None:
            return
        member.last_contact_at, member.has_reported, member.is_silent = self.clock(), True, False
        for visit in visits:
            host = member.host_by_token.pop(visit.token, None)
            if host is None:
                continue
            member.task_count_by_host[host] -= 1
            member.progress_at_by_host[host] = member.last_contact_at
            if not member.task_count_by_host[host]:
                del member.task_count_by_host[host], member.progress_at_by_host[host]
            if visit.duration_seconds > 0:
                member.record_visit(host, visit)
        # Not only with heartbeats: the first pages of a crawl are fast, and all workers would look slow later.
        self.fastest_page_seconds = min(
            (m.mean_page_seconds for m in self.workers.values() if m.mean_page_seconds), default=0.0
        )
        if not member.host_by_token:
            member.idle_since = self.clock()

    def count_tasks(self, worker: str) -> int:
        return len(self.workers[worker].host_by_token)

    def list_holders(self, host: Host) -> list[str]:
        """Return the workers with tasks of a host."""
        return [member.id for member in self.workers.values() if member.task_count_by_host[host] > 0]

    @property
    def outstanding_tasks(self) -> int:
        return sum(len(member.host_by_token) for member in self.workers.values())

    def list_available(self) -> list[str]:
        """Return the workers that may get more tasks."""
        members = self.workers.values()
        return [
            m.id
            for m in members
            if len(m.host_by_token) <= self._compute_capacity(m) // 2 and not (m.is_silent or m.is_draining)
        ]

    def count_free_slots(self, worker: str) -> int:
        """Return the number of tasks a worker may still get."""
        member = self.workers[worker]
        return self._compute_capacity(member) - len(member.host_by_token)

    def _compute_capacity(self, worker: WorkerStats) -> int:
        """Return a lower capacity for a slow worker, so that no host waits for it at the end."""
        if worker.capacity > self.max_tasks:
            return worker.capacity
        max_tasks = self.current_max_tasks if self.has_crawl_delay else min(worker.capacity, self.current_max_tasks)
        max_tasks += self._count_stalled(worker)
        if self.has_crawl_delay or not self.is_speed_limited or not worker.mean_page_seconds:
            return max_tasks
        return max(
            min(max_tasks, MIN_TASKS),
            int(max_tasks * self.fastest_page_seconds / max(worker.mean_page_seconds, self.fastest_page_seconds)),
        )

    def _count_stalled(self, worker: WorkerStats) -> int:
        """Count tasks of hosts that do not respond: they cause no work."""
        stalled_before = worker.last_contact_at - STALL_SECONDS
        return min(
            MAX_STALLED_TASKS,
            sum(
                worker.task_count_by_host[host]
                for host, at in worker.progress_at_by_host.items()
                if at < stalled_before
            ),
        )

    # Choice

    def can_reach(self, worker: str, host: Host) -> bool:
        """Check whether a worker may fetch a host at all."""
        return self.can_engine_reach(worker, host) and self.change_rate_sets.can_serve(worker, host)

    def find_least_busy(self, host: Host, available: Sequence[str], slack: int, max_tasks: int) -> list[str]:
        """Return reachable workers with the fewest tasks of a host, plus at most `slack`."""
        started = time.thread_time()
        reachable = [
            m for m in available if self.can_reach(m, host) and self.workers[m].task_count_by_host[host] < max_tasks
        ]
        fewest = min((self.workers[m].task_count_by_host[host] for m in reachable), default=0)
        least_busy = [m for m in reachable if self.workers[m].task_count_by_host[host] <= fewest + slack]
        self.cpu_seconds += time.thread_time() - started
        return least_busy

    def estimate_capacity(self, host: Host, seconds: float, connections: int) -> int:
        started = time.thread_time()
        measured = [
            m.host_stats[host] for m in self.workers.values() if host in m.host_stats and m.host_stats[host].visit_count
        ]
        has_samples = sum(stats.visit_count for stats in measured) >= MIN_HOST_SAMPLES
        latency = (
            sum(stats.latency_seconds for stats in measured) / len(measured) if has_samples else DEFAULT_PAGE_SECONDS
        )
        self.cpu_seconds += time.thread_time() - started
        return max(2 * connections, int(connections * seconds / max(latency, 1e-3)))

    def count_reachable(self, host: Host) -> int:
        """Return the number of workers that may fetch a host."""
        return sum(self.can_reach(m, host) for m in self.workers)

    def choose_worker(self, host: Host, available: Sequence[str]) -> str | None:
        """Return None if no worker is available or the host waits for its own worker."""
        started = time.thread_time()
        candidates = [m for m in (self.workers if self.is_host_bound else available) if self.can_reach(m, host)]
        winner = None
        if len(candidates) == 1:
            winner = candidates[0]
        elif candidates:
            winner = self.strategy([self.build_state(m, host) for m in candidates], host)
        self.cpu_seconds += time.thread_time() - started
        self.choice_count += 1
        return winner if winner in available else None

    def build_state(self, worker: str, host: Host) -> WorkerState:
        member = self.workers[worker]
        stats, heartbeat, load = member.host_stats.get(host), member.heartbeat, len(member.host_by_token)
        latency, speed, visits = stats.reported_values if stats is not None else (0.0, 0.0, 0)
        measured = Heartbeat(
            worker,
            heartbeat.sent_at,
            load,
            heartbeat.cpu_share,
            heartbeat.memory_bytes,
            heartbeat.free_memory_bytes,
            heartbeat.free_disk_bytes,
            speed or heartbeat.bytes_per_second,
            latency or heartbeat.latency_seconds,
            heartbeat.page_count,
        )
        return WorkerState(
            measured,
            max(0, self._compute_capacity(member) - load),
            1.0 if visits else 0.0,
            tuple(member.recent_seconds),
        )


def _can_reach_any(_worker: str, _host: Host) -> bool:
    return True
