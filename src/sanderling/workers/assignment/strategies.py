"""The other ways to choose a migrant, behind the same seam as AHP, for comparison and for those who prefer them."""

from bisect import bisect
from collections.abc import Callable, Sequence
from hashlib import blake2b
from random import Random

from sanderling.errors import UsageError
from sanderling.models import Host
from sanderling.workers.assignment.ahp_strategy import Ahp
from sanderling.workers.assignment.criteria import Standing
from sanderling.workers.assignment.fuzzy import FuzzyMeans

Choose = Callable[[Sequence[Standing], Host], str]
"""From how the migrants stand, and the host to visit, to the id of the one that goes."""

VIRTUAL_NODES = 64  # points per migrant on the ring; more spread the load more evenly


class RoundRobin:
    """Takes the migrants in turn: the conventional crawler."""

    def __init__(self) -> None:
        self.last = ""

    def __call__(self, standings: Sequence[Standing], host: Host) -> str:  # noqa: ARG002 - any host will do
        ids = sorted(standing.id for standing in standings)
        self.last = ids[bisect(ids, self.last) % len(ids)]
        return self.last


class AtRandom:
    """Draws a migrant by lot."""

    def __init__(self, draw: Random | None = None) -> None:
        self.draw = draw or Random(0)

    def __call__(self, standings: Sequence[Standing], host: Host) -> str:  # noqa: ARG002 - any host will do
        return self.draw.choice(sorted(standing.id for standing in standings))


def host_key(host: str, crawlers: int) -> int:
    """Add up the characters of a host, modulo the number of crawlers (Wan)."""
    return sum(map(ord, host)) % crawlers


def host_hash(standings: Sequence[Standing], host: Host) -> str:
    """Give a host to always the same migrant, as long as their number stays the same."""
    ids = sorted(standing.id for standing in standings)
    return ids[host_key(host, len(ids))]


class ConsistentHash:
    """Gives a host to the next migrant on a ring (UbiCrawler): when one leaves, only its own hosts move."""

    def __init__(self, virtual_nodes: int = VIRTUAL_NODES) -> None:
        self.virtual_nodes = virtual_nodes
        self.ids: tuple[str, ...] = ()
        self.points: list[int] = []
        self.owners: list[str] = []

    def __call__(self, standings: Sequence[Standing], host: Host) -> str:
        ids = tuple(sorted(standing.id for standing in standings))
        if ids != self.ids:
            self._draw_ring(ids)
        return self.owners[bisect(self.points, _place(host)) % len(self.owners)]

    def _draw_ring(self, ids: tuple[str, ...]) -> None:
        ring = sorted((_place(f"{number} {name}"), name) for name in ids for number in range(self.virtual_nodes))
        self.ids, self.points, self.owners = ids, [point for point, _ in ring], [owner for _, owner in ring]


def _place(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())


def task_weight(seconds: Sequence[float], unfinished: int) -> float:
    """W = k / (sum of t * (m + 1)): fast and idle migrants weigh more (Ge and Ding)."""
    return len(seconds) / (sum(seconds) * (unfinished + 1))


class WeightedRoundRobin:
    """Deals in proportion to W; a floor keeps slow migrants from starving."""

    def __init__(self, floor: float = 0.05) -> None:
        self.floor = floor  # smallest share of the heaviest migrant's weight
        self.credit: dict[str, float] = {}

    def __call__(self, standings: Sequence[Standing], host: Host) -> str:  # noqa: ARG002 - any host will do
        weights = self._weights(standings)
        total = sum(weights.values())
        # Smooth dealing: everyone earns its weight, the richest pays for all, so turns interleave.
        self.credit = {name: self.credit.get(name, 0.0) + weight / total for name, weight in weights.items()}
        winner = max(sorted(self.credit), key=lambda name: round(self.credit[name], 9))
        self.credit[winner] -= 1
        return winner

    def _weights(self, standings: Sequence[Standing]) -> dict[str, float]:
        known = {s.id: task_weight(s.recent_seconds, s.vitals.load) for s in standings if sum(s.recent_seconds) > 0}
        top = max(known.values(), default=1.0)
        return {s.id: max(known.get(s.id, top / (s.vitals.load + 1)), self.floor * top) for s in standings}


def least_loaded(standings: Sequence[Standing], host: Host) -> str:  # noqa: ARG001 - any host will do
    """Take the one with the fewest stops in hand."""
    return min(standings, key=lambda standing: (standing.vitals.load, standing.id)).id


CHOOSERS: dict[str, Callable[[], Choose]] = {
    "ahp": Ahp,
    "round-robin": RoundRobin,
    "random": AtRandom,
    "hash": lambda: host_hash,
    "consistent-hash": ConsistentHash,
    "wrr": WeightedRoundRobin,
    "fuzzy": FuzzyMeans,
    "least-loaded": lambda: least_loaded,
}

OWNING = frozenset({"hash", "consistent-hash", "fuzzy"})  # a host belongs to one migrant, busy or not
WEIGHING = frozenset({"ahp"})  # how much a migrant may hold is measured on it; all others hold the same


def chooser(name: str) -> Choose:
    """Make the way of choosing that has this name."""
    if name not in CHOOSERS:
        raise UsageError(f"no way of scheduling is called {name!r}: choose one of {', '.join(CHOOSERS)}")
    return CHOOSERS[name]()
