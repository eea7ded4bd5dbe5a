"""Who is there and how each one stands; every open host goes to the migrant the schedule chooses.

What migrants measured is taken over with their heartbeats, not in between: so the weights of a choice are the cached
ones of the last, but for what the choice itself moved.
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

MIN_HOST_SAMPLES = 3  # pages of a host after which its time is believed
DEFAULT_PAGE_SECONDS = 0.5  # what a page of a new host is expected to take
MIN_TASKS = 24  # stops that even the slowest may hold
STALL_SECONDS = 2.0  # a host that says nothing for so long keeps no hand from other hosts
MAX_STALLED_TASKS = (
    96  # stops at such hosts that do not count; with IN_HAND no more than a migrant can have on their way
)


class WorkerAssignment:
    """Keeps the books of who holds what, and asks the schedule who goes."""

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
        self.is_host_bound = is_host_bound  # hosts belong to migrants: the owner goes or nobody does
        self.is_speed_limited = (
            is_speed_limited  # what a migrant may hold is measured on it, as AHP wants (URL Capacity)
        )
        self.max_tasks = max_tasks
        self.current_max_tasks = max_tasks  # for now: early in a crawl what is in hand cannot be put in a better order
        self.clock = clock
        self.can_engine_reach = can_engine_reach or _can_reach_any
        self.change_rate_sets = change_rate_sets or ChangeRateSets()
        self.workers: dict[str, WorkerStats] = {}
        self.has_crawl_delay = False  # hosts want pauses: then they are the limit, not the migrants
        self.fastest_page_seconds = 0.0  # seconds a page takes the quickest migrant
        self.cpu_seconds = 0.0  # processor time spent on choosing
        self.choice_count = 0

    # Who is there

    def add_worker(self, worker: str, history: WorkerHistory | None = None, capacity: int = 0) -> None:
        """A migrant is there; a clone or one that was parked begins with what it knows."""
        now = self.clock()
        member = WorkerStats(worker, Heartbeat(worker, now), now, now, capacity or self.max_tasks, idle_since=now)
        if history is not None:
            member.host_stats = OrderedDict(
                (Host(host), HostStats(*way, reported_values=way)) for host, way in history.host_stats.items()
            )
            member.recent_seconds.extend(history.recent_seconds)
        self.workers[worker] = member
        self.change_rate_sets.add_worker(worker)

    def drain_worker(self, worker: str) -> None:
        """Give this one nothing more."""
        self.workers[worker].is_draining = True

    def remove_worker(self, worker: str) -> None:
        """A migrant is gone."""
        self.workers.pop(worker, None)
        self.change_rate_sets.remove_worker(worker)

    def record_heartbeat(self, heartbeat: Heartbeat) -> None:
        """A heartbeat came: what the migrant measured counts from now on."""
        member = self.workers.get(heartbeat.worker)
        if member is None:
            return
        member.heartbeat, member.last_contact_at, member.has_reported, member.is_silent = (
            heartbeat,
            self.clock(),
            True,
            False,
        )
        for way in member.host_stats.values():
            way.reported_values = (way.latency_seconds, way.bytes_per_second, way.visit_count)

    def mark_silent_workers(self, timeout_seconds: float, listened_at: float) -> list[WorkerStats]:
        """Those who became silent: for that long they said nothing, up to when we last listened.

        They get nothing until they speak again. What they say while we do not listen (a long commit, a machine that
        slept) waits for us and is no silence of theirs.
        """
        late = [
            m for m in self.workers.values() if not m.is_silent and listened_at - m.last_contact_at > timeout_seconds
        ]
        for member in late:
            member.is_silent = True
            member.host_by_token.clear()
            member.task_count_by_host.clear()
            member.progress_at_by_host.clear()
        return late

    # Who holds what

    def record_batch(self, worker: str, batch: FetchBatch) -> None:
        """An itinerary is in this migrant's hands."""
        member = self.workers[worker]
        member.get_host_stats(batch.host)
        member.progress_at_by_host.setdefault(batch.host, self.clock())
        member.assigned_count += len(batch.tasks)
        for stop in batch.tasks:
            member.host_by_token[stop.token] = batch.host
        member.task_count_by_host[batch.host] += len(batch.tasks)

    def record_visits(self, worker: str, visits: Iterable[Visit]) -> None:
        """Visits came home: they are in nobody's hands, and tell how long the way was."""
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
        # Not only with heartbeats: the first pages of a crawl are quick, and later all would look slow beside them.
        self.fastest_page_seconds = min(
            (m.mean_page_seconds for m in self.workers.values() if m.mean_page_seconds), default=0.0
        )
        if not member.host_by_token:
            member.idle_since = self.clock()

    def count_tasks(self, worker: str) -> int:
        """Stops in one migrant's hands."""
        return len(self.workers[worker].host_by_token)

    def list_holders(self, host: Host) -> list[str]:
        """Those who hold stops of a host."""
        return [member.id for member in self.workers.values() if member.task_count_by_host[host] > 0]

    @property
    def outstanding_tasks(self) -> int:
        """Stops in anybody's hands."""
        return sum(len(member.host_by_token) for member in self.workers.values())

    def list_available(self) -> list[str]:
        """Those who may be given more."""
        members = self.workers.values()
        return [
            m.id
            for m in members
            if len(m.host_by_token) <= self._compute_capacity(m) // 2 and not (m.is_silent or m.is_draining)
        ]

    def count_free_slots(self, worker: str) -> int:
        """How many stops a migrant may still be given."""
        member = self.workers[worker]
        return self._compute_capacity(member) - len(member.host_by_token)

    def _compute_capacity(self, worker: WorkerStats) -> int:
        """Stops it may hold: the slower, the fewer, so that no host waits in slow hands while others are idle."""
        if worker.capacity > self.max_tasks:
            return worker.capacity
        most = self.current_max_tasks if self.has_crawl_delay else min(worker.capacity, self.current_max_tasks)
        most += self._count_stalled(worker)
        if self.has_crawl_delay or not self.is_speed_limited or not worker.mean_page_seconds:
            return most
        return max(
            min(most, MIN_TASKS),
            int(most * self.fastest_page_seconds / max(worker.mean_page_seconds, self.fastest_page_seconds)),
        )

    def _count_stalled(self, worker: WorkerStats) -> int:
        """Stops at hosts that do not answer while the migrant speaks: they make no work, others may be held beside."""
        late = worker.last_contact_at - STALL_SECONDS
        return min(
            MAX_STALLED_TASKS,
            sum(worker.task_count_by_host[host] for host, at in worker.progress_at_by_host.items() if at < late),
        )

    # Who goes

    def can_reach(self, worker: str, host: Host) -> bool:
        """May this migrant be sent there at all?"""
        return self.can_engine_reach(worker, host) and self.change_rate_sets.can_serve(worker, host)

    def find_least_busy(self, host: Host, available: Sequence[str], slack: int, max_tasks: int) -> list[str]:
        """Those who reach this host and hold the fewest of its stops, or few more, but less than `most`."""
        began = time.thread_time()
        near = [
            m for m in available if self.can_reach(m, host) and self.workers[m].task_count_by_host[host] < max_tasks
        ]
        fewest = min((self.workers[m].task_count_by_host[host] for m in near), default=0)
        found = [m for m in near if self.workers[m].task_count_by_host[host] <= fewest + slack]
        self.cpu_seconds += time.thread_time() - began
        return found

    def estimate_capacity(self, host: Host, seconds: float, connections: int) -> int:
        """How many stops of a host one migrant can work off in so many seconds, as its pages took so far."""
        began = time.thread_time()
        known = [
            m.host_stats[host] for m in self.workers.values() if host in m.host_stats and m.host_stats[host].visit_count
        ]
        sure = sum(way.visit_count for way in known) >= MIN_HOST_SAMPLES  # a first page is often an easy one
        latency = sum(way.latency_seconds for way in known) / len(known) if sure else DEFAULT_PAGE_SECONDS
        self.cpu_seconds += time.thread_time() - began
        return max(2 * connections, int(connections * seconds / max(latency, 1e-3)))

    def count_reachable(self, host: Host) -> int:
        """How many could be sent to this host."""
        return sum(self.can_reach(m, host) for m in self.workers)

    def choose_worker(self, host: Host, available: Sequence[str]) -> str | None:
        """Choose the migrant for this host; None if nobody can go now."""
        began = time.thread_time()
        rivals = [m for m in (self.workers if self.is_host_bound else available) if self.can_reach(m, host)]
        winner = None
        if len(rivals) == 1:
            winner = rivals[0]
        elif rivals:
            winner = self.strategy([self.build_state(m, host) for m in rivals], host)
        self.cpu_seconds += time.thread_time() - began
        self.choice_count += 1
        return winner if winner in available else None

    def build_state(self, worker: str, host: Host) -> WorkerState:
        """How one migrant stands towards one host."""
        member = self.workers[worker]
        way, vitals, load = member.host_stats.get(host), member.heartbeat, len(member.host_by_token)
        latency, speed, visits = way.reported_values if way is not None else (0.0, 0.0, 0)
        measured = Heartbeat(
            worker,
            vitals.sent_at,
            load,
            vitals.cpu_share,
            vitals.memory_bytes,
            vitals.free_memory_bytes,
            vitals.free_disk_bytes,
            speed or vitals.bytes_per_second,
            latency or vitals.latency_seconds,
            vitals.page_count,
        )
        return WorkerState(
            measured,
            max(0, self._compute_capacity(member) - load),
            1.0 if visits else 0.0,
            tuple(member.recent_seconds),
        )


def _can_reach_any(_worker: str, _host: Host) -> bool:
    return True
