"""What two versions of a page begin and end with alike."""

from collections.abc import Sequence

INITIAL_STEP = 4_096  # bytes compared at once, at first
FINAL_STEP = 256  # and at last


def measure_common_prefix(a: bytes, b: bytes, a_start: int = 0, b_start: int = 0) -> int:
    """How many bytes two texts begin with alike, from some place on in each."""
    low, step, most = 0, INITIAL_STEP, min(len(a) - a_start, len(b) - b_start)
    while low < most and a.startswith(b[b_start + low : b_start + low + step], a_start + low):
        low, step = low + step, 2 * step
    while step > FINAL_STEP:
        step //= 2
        if a.startswith(b[b_start + low : b_start + low + step], a_start + low):
            low += step
    left, right = a[a_start + low : a_start + low + FINAL_STEP], b[b_start + low : b_start + low + FINAL_STEP]
    bits = int.from_bytes(left, "little") ^ int.from_bytes(right, "little")
    return min(low + ((bits & -bits).bit_length() - 1) // 8, most) if bits else most


def measure_common_suffix(a: bytes, b: bytes, limit: int) -> int:
    """How many bytes two texts end with alike, up to so many."""
    low, step, mine, yours = 0, FINAL_STEP, len(a), len(b)
    while step:
        while low + step <= limit and a.endswith(b[yours - low - step : yours - low], 0, mine - low):
            low, step = low + step, 2 * step
        step //= 2
    return low


def count_common_ends(old: Sequence[object], new: Sequence[object]) -> tuple[int, int]:
    """Count what two sequences of one type begin and end with alike."""
    start = count_common_prefix(old, new)
    return start, min(count_common_prefix(old[::-1], new[::-1]), min(len(old), len(new)) - start)


def count_common_prefix(a: Sequence[object], b: Sequence[object]) -> int:
    """Count what two sequences of one type have in common at their start; halves are compared at a time."""
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
