"""Keys under which like-built pages meet: MinHash of a signature's features, cut into bands.

Two signatures that share a fraction s of their features share at least one of the keys with probability
1 - (1 - s^ROWS)^BANDS: 0.996 at s = 0.7, 0.88 at 0.5, 0.13 at 0.2.
"""

from collections.abc import Sequence
from random import Random

from xxhash import xxh64_intdigest

BANDS, ROWS = 16, 3
MASK = (1 << 32) - 1


def _multipliers() -> Sequence[tuple[int, int]]:
    numbers = Random(9)  # fixed: keys must be the same in every run
    return [(numbers.randrange(1, MASK, 2), numbers.randrange(MASK)) for _ in range(BANDS * ROWS)]


MULTIPLIERS = _multipliers()


def compute_band_keys(features: frozenset[int]) -> list[int]:
    """One key per band; none for a page without blocks."""
    if not features:
        return []
    least = [min([(feature * a + b) & MASK for feature in features]) for a, b in MULTIPLIERS]
    return [_key(band, least[band * ROWS : (band + 1) * ROWS]) for band in range(BANDS)]


def _key(band: int, rows: Sequence[int]) -> int:
    return xxh64_intdigest(b"".join(row.to_bytes(4, "big") for row in rows), seed=band) >> 1
