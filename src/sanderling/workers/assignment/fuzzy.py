"""Fuzzy c-means over hosts (Guerriero): near hosts share a migrant, one cluster each."""

from collections.abc import Sequence
from hashlib import blake2b
from random import Random

from sanderling.models import Host
from sanderling.workers.assignment.criteria import WorkerState

HostPoint = tuple[float, float, float]

MAX_ITERATIONS = 30
MAX_HOSTS = 256  # hosts the clusters are fitted to


def map_host_to_point(host: str) -> HostPoint:
    """Map a URL or host to a point: one coordinate each for its domain, its first label and path, and its query."""
    head, _, query = host.partition("?")
    scheme, _, rest = head.rpartition("://")
    authority, _, path = rest.partition("/")
    label, _, domain = authority.partition(".")
    return _hash_to_unit(domain or label), _hash_to_unit(f"{label}/{path}"), _hash_to_unit(f"{scheme}?{query}")


def _hash_to_unit(text: str) -> float:
    number = int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).digest())
    return number / 2**48


def compute_memberships(point: HostPoint, centers: Sequence[HostPoint]) -> tuple[float, ...]:
    """Say how much a point belongs to each cluster (m = 2): closer counts by the square, all add up to 1."""
    squares = [max(sum((a - b) ** 2 for a, b in zip(point, centre, strict=True)), 1e-18) for centre in centers]
    nearness = [1 / square for square in squares]
    total = sum(nearness)
    return tuple(near / total for near in nearness)


def fit_centers(points: Sequence[HostPoint], cluster_count: int, rng: Random) -> list[HostPoint]:
    """Find the centres of that many clusters."""
    centres = [draw_point(rng) for _ in range(cluster_count)]
    for _ in range(MAX_ITERATIONS):
        shares = [compute_memberships(where, centres) for where in points]
        centres = [_compute_center(points, [share[number] ** 2 for share in shares]) for number in range(cluster_count)]
    return centres


def draw_point(rng: Random) -> HostPoint:
    """Draw a point at random."""
    return rng.random(), rng.random(), rng.random()


def _compute_center(points: Sequence[HostPoint], weights: Sequence[float]) -> HostPoint:
    total = sum(weights)
    x, y, z = (sum(w * p[axis] for w, p in zip(weights, points, strict=True)) / total for axis in range(3))
    return x, y, z


class FuzzyCMeansStrategy:
    """Gives a host to the migrant whose cluster it belongs to most; clusters are fitted anew as hosts double."""

    def __init__(self, rng: Random | None = None) -> None:
        self.rng = rng or Random(0)
        self.points_by_host: dict[Host, HostPoint] = {}
        self.fitted_count = 0
        self.centers: list[HostPoint] = []

    def __call__(self, states: Sequence[WorkerState], host: Host) -> str:
        if len(self.points_by_host) < MAX_HOSTS:
            self.points_by_host.setdefault(host, map_host_to_point(host))
        if len(self.centers) != len(states) or len(self.points_by_host) >= 2 * self.fitted_count:
            self.centers = fit_centers(list(self.points_by_host.values()), len(states), self.rng)
            self.fitted_count = len(self.points_by_host)
        shares = compute_memberships(map_host_to_point(host), self.centers)
        return sorted(standing.id for standing in states)[shares.index(max(shares))]
