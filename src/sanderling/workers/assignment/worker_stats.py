"""Tasks and measurements of a worker, in total and per host."""

from collections import Counter, OrderedDict, deque
from dataclasses import dataclass, field

import msgspec
from msgspec import Struct

from sanderling.models import Heartbeat, Host, Visit

MAX_TASKS = 160  # per worker; it gets more when less than half are left
MAX_HOSTS = 1024  # with measurements, per worker
MAX_RECENT_VISITS = 8
SMOOTHING = 0.2  # weight of the newest measurement
SLOW_SMOOTHING = 0.02  # for the speed of a worker, which changes rarely


@dataclass(slots=True)
class HostStats:
    """`reported_values` are those at the last heartbeat."""

    latency_seconds: float = 0.0
    bytes_per_second: float = 0.0
    visit_count: int = 0
    reported_values: tuple[float, float, int] = (0.0, 0.0, 0)

    def add_visit(self, visit: Visit) -> None:
        """Add a visit to the moving averages."""
        self.visit_count += 1
        weight = max(SMOOTHING, 1 / self.visit_count)
        self.latency_seconds += weight * (visit.duration_seconds - self.latency_seconds)
        if visit.duration_seconds > 0:
            self.bytes_per_second += weight * (visit.received_bytes / visit.duration_seconds - self.bytes_per_second)


class WorkerHistory(Struct, frozen=True):
    """Measurements that a worker keeps when it is cloned, parked, or moved."""

    host_stats: dict[str, tuple[float, float, int]] = msgspec.field(default_factory=dict)
    recent_seconds: tuple[float, ...] = ()
    assigned_count: int = 0


@dataclass(slots=True)
class WorkerStats:
    id: str
    heartbeat: Heartbeat
    last_contact_at: float
    joined_at: float
    capacity: int = MAX_TASKS  # tasks it can hold
    host_by_token: dict[int, Host] = field(default_factory=dict)  # by fencing token
    task_count_by_host: Counter[Host] = field(default_factory=Counter)
    progress_at_by_host: dict[Host, float] = field(default_factory=dict)  # last visit, or first assignment
    host_stats: OrderedDict[Host, HostStats] = field(default_factory=OrderedDict)
    recent_seconds: deque[float] = field(default_factory=lambda: deque(maxlen=MAX_RECENT_VISITS))
    assigned_count: int = 0  # tasks since it joined
    mean_page_seconds: float = 0.0  # 0: no measurement
    idle_since: float = 0.0
    has_reported: bool = False
    is_silent: bool = False
    is_draining: bool = False  # gets no new tasks

    def export_history(self) -> WorkerHistory:
        """Return the measurements that can be stored."""
        host_stats = {
            str(host): (stats.latency_seconds, stats.bytes_per_second, stats.visit_count)
            for host, stats in self.host_stats.items()
        }
        return WorkerHistory(host_stats, tuple(self.recent_seconds), self.assigned_count)

    def record_visit(self, host: Host, visit: Visit) -> None:
        """Add the measurements of a visit."""
        self.get_host_stats(host).add_visit(visit)
        self.recent_seconds.append(visit.duration_seconds)
        self.mean_page_seconds += (
            SLOW_SMOOTHING * (visit.duration_seconds - self.mean_page_seconds)
            if self.mean_page_seconds
            else visit.duration_seconds
        )

    def get_host_stats(self, host: Host) -> HostStats:
        """Return the measurements for a host; creates them if needed."""
        stats = self.host_stats.get(host)
        if stats is None:
            stats = self.host_stats[host] = HostStats()
            if len(self.host_stats) > MAX_HOSTS:
                self.host_stats.popitem(last=False)
        return stats
