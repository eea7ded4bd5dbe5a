"""Alternatives to AHP with the same interface, for comparison and for other preferences."""

from bisect import bisect
from collections.abc import Callable, Sequence
from hashlib import blake2b
from random import Random

from sanderling.errors import UsageError
from sanderling.models import Host
from sanderling.workers.assignment.ahp_strategy import AhpStrategy
from sanderling.workers.assignment.criteria import WorkerState
from sanderling.workers.assignment.fuzzy import FuzzyCMeansStrategy

AssignmentStrategy = Callable[[Sequence[WorkerState], Host], str]
"""Returns the id of the worker that fetches a host."""

VIRTUAL_NODES = 64  # per worker on the ring; more spread the load more evenly


class RoundRobinStrategy:
    """Chooses workers in turn."""

    def __init__(self) -> None:
        self.last_worker = ""

    def __call__(self, states: Sequence[WorkerState], host: Host) -> str:  # noqa: ARG002 - any host will do
        ids = sorted(state.id for state in states)
        self.last_worker = ids[bisect(ids, self.last_worker) % len(ids)]
        return self.last_worker


class RandomStrategy:
    """Chooses a random worker."""

    def __init__(self, rng: Random | None = None) -> None:
        self.rng = rng or Random(0)

    def __call__(self, states: Sequence[WorkerState], host: Host) -> str:  # noqa: ARG002 - any host will do
        return self.rng.choice(sorted(state.id for state in states))


def hash_host(host: str, worker_count: int) -> int:
    """Return the sum of the characters modulo the number of workers (Wan)."""
    return sum(map(ord, host)) % worker_count


def choose_by_host_hash(states: Sequence[WorkerState], host: Host) -> str:
    ids = sorted(state.id for state in states)
    return ids[hash_host(host, len(ids))]


class ConsistentHashStrategy:
    """Hash ring (UbiCrawler): if a worker leaves, only its hosts move."""

    def __init__(self, virtual_nodes: int = VIRTUAL_NODES) -> None:
        self.virtual_nodes = virtual_nodes
        self.worker_ids: tuple[str, ...] = ()
        self.points: list[int] = []
        self.owners: list[str] = []

    def __call__(self, states: Sequence[WorkerState], host: Host) -> str:
        ids = tuple(sorted(state.id for state in states))
        if ids != self.worker_ids:
            self._build_ring(ids)
        return self.owners[bisect(self.points, _hash_position(host)) % len(self.owners)]

    def _build_ring(self, worker_ids: tuple[str, ...]) -> None:
        ring = sorted(
            (_hash_position(f"{number} {name}"), name) for name in worker_ids for number in range(self.virtual_nodes)
        )
        self.worker_ids, self.points, self.owners = (
            worker_ids,
            [point for point, _ in ring],
            [owner for _, owner in ring],
        )


def _hash_position(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())


def compute_task_weight(seconds: Sequence[float], pending_tasks: int) -> float:
    """Compute `W = k / (sum(t) * (m + 1))` (Ge and Ding)."""
    return len(seconds) / (sum(seconds) * (pending_tasks + 1))


class WeightedRoundRobinStrategy:
    """Chooses workers in proportion to W, with a minimum share for slow workers."""

    def __init__(self, min_share: float = 0.05) -> None:
        self.min_share = min_share  # of the largest weight
        self.credits: dict[str, float] = {}

    def __call__(self, states: Sequence[WorkerState], host: Host) -> str:  # noqa: ARG002 - any host will do
        weights = self._compute_weights(states)
        total = sum(weights.values())
        # Smooth weighted round robin: every worker earns its weight, and the winner pays, so that turns interleave.
        self.credits = {name: self.credits.get(name, 0.0) + weight / total for name, weight in weights.items()}
        winner = max(sorted(self.credits), key=lambda name: round(self.credits[name], 9))
        self.credits[winner] -= 1
        return winner

    def _compute_weights(self, states: Sequence[WorkerState]) -> dict[str, float]:
        measured = {
            s.id: compute_task_weight(s.recent_seconds, s.heartbeat.pending_tasks)
            for s in states
            if sum(s.recent_seconds) > 0
        }
        top = max(measured.values(), default=1.0)
        return {
            s.id: max(measured.get(s.id, top / (s.heartbeat.pending_tasks + 1)), self.min_share * top) for s in states
        }


def choose_least_loaded(states: Sequence[WorkerState], host: Host) -> str:  # noqa: ARG001 - any host will do
    """Choose the worker with the fewest pending tasks."""
    return min(states, key=lambda state: (state.heartbeat.pending_tasks, state.id)).id


STRATEGIES: dict[str, Callable[[], AssignmentStrategy]] = {
    "ahp": AhpStrategy,
    "round-robin": RoundRobinStrategy,
    "random": RandomStrategy,
    "hash": lambda: choose_by_host_hash,
    "consistent-hash": ConsistentHashStrategy,
    "wrr": WeightedRoundRobinStrategy,
    "fuzzy": FuzzyCMeansStrategy,
    "least-loaded": lambda: choose_least_loaded,
}

HOST_BOUND_STRATEGIES = frozenset({"hash", "consistent-hash", "fuzzy"})  # a host always belongs to the same worker
SPEED_LIMITED_STRATEGIES = frozenset({"ahp"})  # the capacity of a worker depends on its speed


def build_named_strategy(name: str) -> AssignmentStrategy:
    """Build a strategy by name. Raises UsageError if it is unknown."""
    if name not in STRATEGIES:
        raise UsageError(f"unknown schedule {name!r}: choose one of {', '.join(STRATEGIES)}")
    return STRATEGIES[name]()
