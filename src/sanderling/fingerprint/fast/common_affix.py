"""Lengths of common prefixes and suffixes, found by bisection."""

from collections.abc import Sequence

INITIAL_STEP = 4_096  # bytes of the first comparison
FINAL_STEP = 256  # bytes of the last comparison


def measure_common_prefix(a: bytes, b: bytes, a_start: int = 0, b_start: int = 0) -> int:
    """Return the number of equal bytes, starting at an offset in each text."""
    low, step, limit = 0, INITIAL_STEP, min(len(a) - a_start, len(b) - b_start)
    while low < limit and a.startswith(b[b_start + low : b_start + low + step], a_start + low):
        low, step = low + step, 2 * step
    while step > FINAL_STEP:
        step //= 2
        if a.startswith(b[b_start + low : b_start + low + step], a_start + low):
            low += step
    left, right = a[a_start + low : a_start + low + FINAL_STEP], b[b_start + low : b_start + low + FINAL_STEP]
    bits = int.from_bytes(left, "little") ^ int.from_bytes(right, "little")
    return min(low + ((bits & -bits).bit_length() - 1) // 8, limit) if bits else limit


def count_common_ends(old: Sequence[object], new: Sequence[object]) -> tuple[int, int]:
    """Return the lengths of the common prefix and suffix, without overlap."""
    start = count_common_prefix(old, new)
    return start, min(count_common_prefix(old[::-1], new[::-1]), min(len(old), len(new)) - start)


def count_common_prefix(a: Sequence[object], b: Sequence[object]) -> int:
    low, high = 0, min(len(a), len(b))
    if a[:high] == b[:high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle
    return low
