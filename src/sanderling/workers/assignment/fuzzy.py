"""Fuzzy c-means over hosts (Guerriero): near hosts share a migrant, one cluster each."""

from collections.abc import Sequence
from hashlib import blake2b
from random import Random

from sanderling.models import Host
from sanderling.workers.assignment.criteria import Standing

Point = tuple[float, float, float]

ROUNDS = 30
REMEMBERED = 256  # hosts the clusters are fitted to


def point(host: str) -> Point:
    """Map a URL or host to a point: one coordinate each for its domain, its first label and path, and its query."""
    head, _, query = host.partition("?")
    scheme, _, rest = head.rpartition("://")
    authority, _, path = rest.partition("/")
    label, _, domain = authority.partition(".")
    return _unit(domain or label), _unit(f"{label}/{path}"), _unit(f"{scheme}?{query}")


def _unit(text: str) -> float:
    number = int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).digest())
    return number / 2**48


def membership(where: Point, centres: Sequence[Point]) -> tuple[float, ...]:
    """Say how much a point belongs to each cluster (m = 2): closer counts by the square, all add up to 1."""
    squares = [max(sum((a - b) ** 2 for a, b in zip(where, centre, strict=True)), 1e-18) for centre in centres]
    nearness = [1 / square for square in squares]
    total = sum(nearness)
    return tuple(near / total for near in nearness)


def fit(points: Sequence[Point], clusters: int, draw: Random) -> list[Point]:
    """Find the centres of that many clusters."""
    centres = [random_point(draw) for _ in range(clusters)]
    for _ in range(ROUNDS):
        shares = [membership(where, centres) for where in points]
        centres = [_centre(points, [share[number] ** 2 for share in shares]) for number in range(clusters)]
    return centres


def random_point(draw: Random) -> Point:
    """Draw a point at random."""
    return draw.random(), draw.random(), draw.random()


def _centre(points: Sequence[Point], weights: Sequence[float]) -> Point:
    total = sum(weights)
    x, y, z = (sum(w * p[axis] for w, p in zip(weights, points, strict=True)) / total for axis in range(3))
    return x, y, z


class FuzzyMeans:
    """Gives a host to the migrant whose cluster it belongs to most; clusters are fitted anew as hosts double."""

    def __init__(self, draw: Random | None = None) -> None:
        self.draw = draw or Random(0)
        self.seen: dict[Host, Point] = {}
        self.fitted = 0
        self.centres: list[Point] = []

    def __call__(self, standings: Sequence[Standing], host: Host) -> str:
        if len(self.seen) < REMEMBERED:
            self.seen.setdefault(host, point(host))
        if len(self.centres) != len(standings) or len(self.seen) >= 2 * self.fitted:
            self.centres = fit(list(self.seen.values()), len(standings), self.draw)
            self.fitted = len(self.seen)
        shares = membership(point(host), self.centres)
        return sorted(standing.id for standing in standings)[shares.index(max(shares))]
