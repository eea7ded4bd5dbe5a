"""What belonging to one set of pages tells about belonging to another, in bits.

Sets of pages are integers, one bit a page: counting a set is one instruction per 64 pages.
"""

from collections.abc import Iterable
from math import log2


def union(parts: Iterable[int]) -> int:
    """The pages that are in any part."""
    whole = 0
    for part in parts:
        whole |= part
    return whole


def members(pages: int) -> list[int]:
    """The places of the pages of a set, in order; pages that are not in it are not asked for."""
    found = []
    while pages:
        first = pages & -pages
        found.append(first.bit_length() - 1)
        pages ^= first
    return found


def entropy(share: float) -> float:
    """Bits in one answer to a yes-or-no question."""
    return -share * log2(share) - (1 - share) * log2(1 - share) if 0 < share < 1 else 0.0


def mutual(count: int, first: int, second: int, both: int) -> float:
    """Bits that membership in one set tells about membership in another, over all pages."""
    told = 0.0
    for joint, row, column in (
        (both, first, second),
        (first - both, first, count - second),
        (second - both, count - first, second),
        (count - first - second + both, count - first, count - second),
    ):
        if joint:
            told += joint * log2(joint * count / (row * column))
    return told
