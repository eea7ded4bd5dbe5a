"""One migrant as the roster knows it: what it holds, and what it measured on its way to each host."""

from collections import Counter, OrderedDict, deque
from dataclasses import dataclass, field

from msgspec import Struct

from sanderling.models import Heartbeat, Host, Visit

MAX_TASKS = 160  # stops a migrant holds at most; it is given more below half of it
MAX_HOSTS = 1024  # per migrant: what it measured on the way to them
MAX_RECENT_VISITS = 8  # tasks whose times are remembered
SMOOTHING = 0.2  # weight of the newest measure
SLOW_SMOOTHING = 0.02  # the same for how slow a migrant is, which changes rarely


@dataclass(slots=True)
class HostStats:
    """What one migrant measured on its way to one host; `shown` is as of the last heartbeat."""

    latency_seconds: float = 0.0
    bytes_per_second: float = 0.0
    visit_count: int = 0
    reported_values: tuple[float, float, int] = (0.0, 0.0, 0)

    def add_visit(self, visit: Visit) -> None:
        """Take one visit into the running means."""
        self.visit_count += 1
        weight = max(SMOOTHING, 1 / self.visit_count)
        self.latency_seconds += weight * (visit.duration_seconds - self.latency_seconds)
        if visit.duration_seconds > 0:
            self.bytes_per_second += weight * (visit.received_bytes / visit.duration_seconds - self.bytes_per_second)


class WorkerHistory(Struct, frozen=True):
    """What a migrant takes along when it is cloned, parked or moved."""

    host_stats: dict[str, tuple[float, float, int]] = {}
    recent_seconds: tuple[float, ...] = ()
    assigned_count: int = 0


@dataclass(slots=True)
class WorkerStats:
    """One migrant, as the roster knows it."""

    id: str
    heartbeat: Heartbeat
    last_contact_at: float
    joined_at: float
    capacity: int = MAX_TASKS  # stops it can hold
    host_by_token: dict[int, Host] = field(default_factory=dict)  # fencing tokens in hand
    task_count_by_host: Counter[Host] = field(default_factory=Counter)  # how many of them of each host
    progress_at_by_host: dict[Host, float] = field(
        default_factory=dict
    )  # when each of them was heard of, or first asked for
    host_stats: OrderedDict[Host, HostStats] = field(default_factory=OrderedDict)
    recent_seconds: deque[float] = field(default_factory=lambda: deque(maxlen=MAX_RECENT_VISITS))
    assigned_count: int = 0  # stops, since it joined
    mean_page_seconds: float = 0.0  # what a page takes it, on the whole; 0: not known yet
    idle_since: float = 0.0
    has_reported: bool = False  # it was heard of at least once
    is_silent: bool = False
    is_draining: bool = False  # it is about to leave

    def export_history(self) -> WorkerHistory:
        """What it takes along."""
        ways = {
            str(host): (way.latency_seconds, way.bytes_per_second, way.visit_count)
            for host, way in self.host_stats.items()
        }
        return WorkerHistory(ways, tuple(self.recent_seconds), self.assigned_count)

    def record_visit(self, host: Host, visit: Visit) -> None:
        """Learn from one visit: of the way to its host, and of the migrant itself."""
        self.get_host_stats(host).add_visit(visit)
        self.recent_seconds.append(visit.duration_seconds)
        self.mean_page_seconds += (
            SLOW_SMOOTHING * (visit.duration_seconds - self.mean_page_seconds)
            if self.mean_page_seconds
            else visit.duration_seconds
        )

    def get_host_stats(self, host: Host) -> HostStats:
        """What it knows of the way to a host."""
        way = self.host_stats.get(host)
        if way is None:
            way = self.host_stats[host] = HostStats()
            if len(self.host_stats) > MAX_HOSTS:
                self.host_stats.popitem(last=False)
        return way
