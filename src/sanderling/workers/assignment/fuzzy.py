"""Fuzzy c-means clustering of hosts (Guerriero): each worker fetches the hosts of a cluster."""

from collections.abc import Sequence
from hashlib import blake2b
from random import Random

from sanderling.models import Host
from sanderling.workers.assignment.criteria import WorkerState

HostPoint = tuple[float, float, float]

MAX_ITERATIONS = 30
MAX_HOSTS = 256  # for fitting


def map_host_to_point(host: str) -> HostPoint:
    """Hash the domain, the first label and path, and the query of a URL to a point."""
    head, _, query = host.partition("?")
    scheme, _, rest = head.rpartition("://")
    authority, _, path = rest.partition("/")
    label, _, domain = authority.partition(".")
    return _hash_to_unit(domain or label), _hash_to_unit(f"{label}/{path}"), _hash_to_unit(f"{scheme}?{query}")


def _hash_to_unit(text: str) -> float:
    number = int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).digest())
    return number / 2**48


def compute_memberships(point: HostPoint, centers: Sequence[HostPoint]) -> tuple[float, ...]:
    """Compute the membership of a point in each cluster (m = 2)."""
    squares = [max(sum((a - b) ** 2 for a, b in zip(point, center, strict=True)), 1e-18) for center in centers]
    inverses = [1 / square for square in squares]
    total = sum(inverses)
    return tuple(inverse / total for inverse in inverses)


def fit_centers(points: Sequence[HostPoint], cluster_count: int, rng: Random) -> list[HostPoint]:
    """Fit the centers of the clusters by fuzzy c-means."""
    centers = [draw_point(rng) for _ in range(cluster_count)]
    for _ in range(MAX_ITERATIONS):
        shares = [compute_memberships(point, centers) for point in points]
        centers = [_compute_center(points, [share[number] ** 2 for share in shares]) for number in range(cluster_count)]
    return centers


def draw_point(rng: Random) -> HostPoint:
    return rng.random(), rng.random(), rng.random()


def _compute_center(points: Sequence[HostPoint], weights: Sequence[float]) -> HostPoint:
    total = sum(weights)
    x, y, z = (sum(w * p[axis] for w, p in zip(weights, points, strict=True)) / total for axis in range(3))
    return x, y, z


class FuzzyCMeansStrategy:
    """Chooses the worker of the nearest cluster. Refits when the hosts have doubled."""

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
        return sorted(state.id for state in states)[shares.index(max(shares))]
