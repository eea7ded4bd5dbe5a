"""The other ways to choose a migrant, behind the same seam as AHP, for comparison and for those who prefer them."""

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
"""From how the migrants stand, and the host to visit, to the id of the one that goes."""

VIRTUAL_NODES = 64  # points per migrant on the ring; more spread the load more evenly


class RoundRobinStrategy:
    """Takes the migrants in turn: the conventional crawler."""

    def __init__(self) -> None:
        self.last_worker = ""

    def __call__(self, states: Sequence[WorkerState], host: Host) -> str:  # noqa: ARG002 - any host will do
        ids = sorted(standing.id for standing in states)
        self.last_worker = ids[bisect(ids, self.last_worker) % len(ids)]
        return self.last_worker


class RandomStrategy:
    """Draws a migrant by lot."""

    def __init__(self, rng: Random | None = None) -> None:
        self.rng = rng or Random(0)

    def __call__(self, states: Sequence[WorkerState], host: Host) -> str:  # noqa: ARG002 - any host will do
        return self.rng.choice(sorted(standing.id for standing in states))


def hash_host(host: str, worker_count: int) -> int:
    """Add up the characters of a host, modulo the number of crawlers (Wan)."""
    return sum(map(ord, host)) % worker_count


def choose_by_host_hash(states: Sequence[WorkerState], host: Host) -> str:
    """Give a host to always the same migrant, as long as their number stays the same."""
    ids = sorted(standing.id for standing in states)
    return ids[hash_host(host, len(ids))]


class ConsistentHashStrategy:
    """Gives a host to the next migrant on a ring (UbiCrawler): when one leaves, only its own hosts move."""

    def __init__(self, virtual_nodes: int = VIRTUAL_NODES) -> None:
        self.virtual_nodes = virtual_nodes
        self.worker_ids: tuple[str, ...] = ()
        self.points: list[int] = []
        self.owners: list[str] = []

    def __call__(self, states: Sequence[WorkerState], host: Host) -> str:
        ids = tuple(sorted(standing.id for standing in states))
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
    """W = k / (sum of t * (m + 1)): fast and idle migrants weigh more (Ge and Ding)."""
    return len(seconds) / (sum(seconds) * (pending_tasks + 1))


class WeightedRoundRobinStrategy:
    """Deals in proportion to W; a floor keeps slow migrants from starving."""

    def __init__(self, min_share: float = 0.05) -> None:
        self.min_share = min_share  # smallest share of the heaviest migrant's weight
        self.credits: dict[str, float] = {}

    def __call__(self, states: Sequence[WorkerState], host: Host) -> str:  # noqa: ARG002 - any host will do
        weights = self._compute_weights(states)
        total = sum(weights.values())
        # Smooth dealing: everyone earns its weight, the richest pays for all, so turns interleave.
        self.credits = {name: self.credits.get(name, 0.0) + weight / total for name, weight in weights.items()}
        winner = max(sorted(self.credits), key=lambda name: round(self.credits[name], 9))
        self.credits[winner] -= 1
        return winner

    def _compute_weights(self, states: Sequence[WorkerState]) -> dict[str, float]:
        known = {
            s.id: compute_task_weight(s.recent_seconds, s.heartbeat.pending_tasks)
            for s in states
            if sum(s.recent_seconds) > 0
        }
        top = max(known.values(), default=1.0)
        return {s.id: max(known.get(s.id, top / (s.heartbeat.pending_tasks + 1)), self.min_share * top) for s in states}


def choose_least_loaded(states: Sequence[WorkerState], host: Host) -> str:  # noqa: ARG001 - any host will do
    """Take the one with the fewest stops in hand."""
    return min(states, key=lambda standing: (standing.heartbeat.pending_tasks, standing.id)).id


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

HOST_BOUND_STRATEGIES = frozenset({"hash", "consistent-hash", "fuzzy"})  # a host belongs to one migrant, busy or not
SPEED_LIMITED_STRATEGIES = frozenset({"ahp"})  # how much a migrant may hold is measured on it; all others hold the same


def build_named_strategy(name: str) -> AssignmentStrategy:
    """Make the way of choosing that has this name."""
    if name not in STRATEGIES:
        raise UsageError(f"no way of scheduling is called {name!r}: choose one of {', '.join(STRATEGIES)}")
    return STRATEGIES[name]()
