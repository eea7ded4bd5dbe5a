"""Criteria for the choice of a worker, and their default judgments."""

from collections.abc import Callable
from dataclasses import dataclass

from sanderling.models import Heartbeat
from sanderling.workers.assignment.ahp import Matrix, parse_matrix


@dataclass(frozen=True, slots=True)
class WorkerState:
    """State of a worker when the next fetch batch is assigned."""

    heartbeat: Heartbeat
    free_slots: int = 1  # tasks it may still take: URL Capacity
    affinity: float = 0.0  # 1 if it has visited the host: Parent Rank
    recent_seconds: tuple[float, ...] = ()  # durations of its last tasks, newest last

    @property
    def id(self) -> str:
        return self.heartbeat.worker


@dataclass(frozen=True, slots=True)
class Criterion:
    """A measured value, and whether higher is better."""

    name: str
    measure: Callable[[WorkerState], float]
    is_higher_better: bool = True

    def compute_merit(self, state: WorkerState) -> float:
        """Return a positive value whose ratios can be compared: higher is better."""
        value = max(self.measure(state), MIN_VALUE)
        return value if self.is_higher_better else 1 / value


MIN_VALUE = 1e-9
DEFAULT_LATENCY_SECONDS = 0.05  # of a worker without measurements
DEFAULT_BYTES_PER_SECOND = 1e6


def _compute_loading_rate(state: WorkerState) -> float:
    memory = state.heartbeat.memory_bytes + state.heartbeat.free_memory_bytes
    return (state.heartbeat.pending_tasks + 1) / max(memory, 1)


# In the order of MIG Table 4.2. 1 is added to values that may be zero, so that their ratios are defined.
DEFAULT_CRITERIA = (
    Criterion("load", lambda s: s.heartbeat.pending_tasks + 1, is_higher_better=False),
    Criterion("url capacity", lambda s: s.free_slots + 1),
    Criterion("parent rank", lambda s: s.affinity + 1),
    Criterion("bandwidth", lambda s: s.heartbeat.bytes_per_second or DEFAULT_BYTES_PER_SECOND),
    Criterion("loading rate", _compute_loading_rate, is_higher_better=False),
    Criterion("capacity", lambda s: s.heartbeat.free_disk_bytes + 1),
    Criterion("latency", lambda s: s.heartbeat.latency_seconds or DEFAULT_LATENCY_SECONDS, is_higher_better=False),
)

# MIG 4.1 lists CPU and memory; its example does not use them.
CPU_CRITERION = Criterion("cpu", lambda s: 1.01 - min(s.heartbeat.cpu_share, 1.0))
MEMORY_CRITERION = Criterion("memory", lambda s: s.heartbeat.free_memory_bytes + 1)

CRITERIA_BY_NAME = {criterion.name: criterion for criterion in (*DEFAULT_CRITERIA, CPU_CRITERION, MEMORY_CRITERION)}

# MIG Table 4.2 as printed breaks reciprocity three times; with load over capacity 2 (as its Appendix II shows) and the
# inverses restored, its eigenvector has the weights that the thesis prints: .0735 .2730 .3732 .0555 .1164 .0616 .0468.
DEFAULT_JUDGMENTS: Matrix = parse_matrix("""
1   1/7 1/8 2   1/4 2   3
7   1   1/2 5   4   3   4
8   2   1   7   4   5   4
1/2 1/5 1/7 1   1   1   1
4   1/4 1/4 1   1   2   3
1/2 1/3 1/5 1   1/2 1   2
1/3 1/4 1/4 1   1/3 1/2 1
""")
