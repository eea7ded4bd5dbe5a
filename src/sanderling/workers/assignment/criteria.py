"""What a migrant is judged by, how each criterion is measured on it, and how much each one matters."""

from collections.abc import Callable
from dataclasses import dataclass

from sanderling.models import Vitals
from sanderling.workers.assignment.ahp import Matrix, read


@dataclass(frozen=True, slots=True)
class Standing:
    """How one migrant stands when the next itinerary is given away."""

    vitals: Vitals
    room: int = 1  # links it may still take: URL Capacity
    affinity: float = 0.0  # rank of the parents it already holds, for the host in question: Parent Rank
    recent_seconds: tuple[float, ...] = ()  # how long its last tasks took, newest last

    @property
    def id(self) -> str:
        """The migrant's own id."""
        return self.vitals.migrant


@dataclass(frozen=True, slots=True)
class Criterion:
    """One thing to judge by: a measured value, and whether more of it is better."""

    name: str
    measure: Callable[[Standing], float]
    more_is_better: bool = True

    def value(self, standing: Standing) -> float:
        """Give a positive figure of merit: larger is better, ratios mean what they say."""
        measured = max(self.measure(standing), TINY)
        return measured if self.more_is_better else 1 / measured


TINY = 1e-9
UNKNOWN_LATENCY = 0.05  # a migrant that has not been anywhere yet is taken for an ordinary one
UNKNOWN_BANDWIDTH = 1e6


def _loading_rate(standing: Standing) -> float:
    memory = standing.vitals.memory_bytes + standing.vitals.memory_left
    return (standing.vitals.load + 1) / max(memory, 1)


# In the order of MIG Table 4.2. One is added to what may be zero, so that idle against busy stays a ratio.
CRITERIA = (
    Criterion("load", lambda s: s.vitals.load + 1, more_is_better=False),
    Criterion("url capacity", lambda s: s.room + 1),
    Criterion("parent rank", lambda s: s.affinity + 1),
    Criterion("bandwidth", lambda s: s.vitals.bytes_per_second or UNKNOWN_BANDWIDTH),
    Criterion("loading rate", _loading_rate, more_is_better=False),
    Criterion("capacity", lambda s: s.vitals.disk_left + 1),
    Criterion("latency", lambda s: s.vitals.latency_seconds or UNKNOWN_LATENCY, more_is_better=False),
)

CPU = Criterion("cpu", lambda s: 1.01 - min(s.vitals.cpu_share, 1.0))  # MIG 4.1 lists it; its example never uses it
MEMORY = Criterion("memory", lambda s: s.vitals.memory_left + 1)

KNOWN = {criterion.name: criterion for criterion in (*CRITERIA, CPU, MEMORY)}

# MIG Table 4.2 as printed breaks reciprocity three times; with load over capacity 2 (as its Appendix II shows) and the
# inverses restored, its eigenvector is every weight the thesis prints: .0735 .2730 .3732 .0555 .1164 .0616 .0468.
JUDGEMENTS: Matrix = read("""
1   1/7 1/8 2   1/4 2   3
7   1   1/2 5   4   3   4
8   2   1   7   4   5   4
1/2 1/5 1/7 1   1   1   1
4   1/4 1/4 1   1   2   3
1/2 1/3 1/5 1   1/2 1   2
1/3 1/4 1/4 1   1/3 1/2 1
""")
