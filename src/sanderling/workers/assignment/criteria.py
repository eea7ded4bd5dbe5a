"""What a migrant is judged by, how each criterion is measured on it, and how much each one matters."""

from collections.abc import Callable
from dataclasses import dataclass

from sanderling.models import Heartbeat
from sanderling.workers.assignment.ahp import Matrix, parse_matrix


@dataclass(frozen=True, slots=True)
class WorkerState:
    """How one migrant stands when the next itinerary is given away."""

    heartbeat: Heartbeat
    free_slots: int = 1  # links it may still take: URL Capacity
    affinity: float = 0.0  # rank of the parents it already holds, for the host in question: Parent Rank
    recent_seconds: tuple[float, ...] = ()  # how long its last tasks took, newest last

    @property
    def id(self) -> str:
        """The migrant's own id."""
        return self.heartbeat.worker


@dataclass(frozen=True, slots=True)
class Criterion:
    """One thing to judge by: a measured value, and whether more of it is better."""

    name: str
    measure: Callable[[WorkerState], float]
    is_higher_better: bool = True

    def compute_merit(self, state: WorkerState) -> float:
        """Give a positive figure of merit: larger is better, ratios mean what they say."""
        measured = max(self.measure(state), MIN_VALUE)
        return measured if self.is_higher_better else 1 / measured


MIN_VALUE = 1e-9
DEFAULT_LATENCY_SECONDS = 0.05  # a migrant that has not been anywhere yet is taken for an ordinary one
DEFAULT_BYTES_PER_SECOND = 1e6


def _compute_loading_rate(state: WorkerState) -> float:
    memory = state.heartbeat.memory_bytes + state.heartbeat.free_memory_bytes
    return (state.heartbeat.pending_tasks + 1) / max(memory, 1)


# In the order of MIG Table 4.2. One is added to what may be zero, so that idle against busy stays a ratio.
DEFAULT_CRITERIA = (
    Criterion("load", lambda s: s.heartbeat.pending_tasks + 1, is_higher_better=False),
    Criterion("url capacity", lambda s: s.free_slots + 1),
    Criterion("parent rank", lambda s: s.affinity + 1),
    Criterion("bandwidth", lambda s: s.heartbeat.bytes_per_second or DEFAULT_BYTES_PER_SECOND),
    Criterion("loading rate", _compute_loading_rate, is_higher_better=False),
    Criterion("capacity", lambda s: s.heartbeat.free_disk_bytes + 1),
    Criterion("latency", lambda s: s.heartbeat.latency_seconds or DEFAULT_LATENCY_SECONDS, is_higher_better=False),
)

CPU_CRITERION = Criterion(
    "cpu", lambda s: 1.01 - min(s.heartbeat.cpu_share, 1.0)
)  # MIG 4.1 lists it; its example never uses it
MEMORY_CRITERION = Criterion("memory", lambda s: s.heartbeat.free_memory_bytes + 1)

CRITERIA_BY_NAME = {criterion.name: criterion for criterion in (*DEFAULT_CRITERIA, CPU_CRITERION, MEMORY_CRITERION)}

# MIG Table 4.2 as printed breaks reciprocity three times; with load over capacity 2 (as its Appendix II shows) and the
# inverses restored, its eigenvector is every weight the thesis prints: .0735 .2730 .3732 .0555 .1164 .0616 .0468.
DEFAULT_JUDGMENTS: Matrix = parse_matrix("""
1   1/7 1/8 2   1/4 2   3
7   1   1/2 5   4   3   4
8   2   1   7   4   5   4
1/2 1/5 1/7 1   1   1   1
4   1/4 1/4 1   1   2   3
1/2 1/3 1/5 1   1/2 1   2
1/3 1/4 1/4 1   1/3 1/2 1
""")
