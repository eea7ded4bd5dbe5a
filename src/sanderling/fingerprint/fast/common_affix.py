"""What two versions of a page begin and end with alike."""

from collections.abc import Sequence

STRIDE = 4_096  # bytes compared at once, at first
STEP = 256  # and at last


def common_start(one: bytes, other: bytes, mine: int = 0, yours: int = 0) -> int:
    """How many bytes two texts begin with alike, from some place on in each."""
    low, step, most = 0, STRIDE, min(len(one) - mine, len(other) - yours)
    while low < most and one.startswith(other[yours + low : yours + low + step], mine + low):
        low, step = low + step, 2 * step
    while step > STEP:
        step //= 2
        if one.startswith(other[yours + low : yours + low + step], mine + low):
            low += step
    left, right = one[mine + low : mine + low + STEP], other[yours + low : yours + low + STEP]
    bits = int.from_bytes(left, "little") ^ int.from_bytes(right, "little")
    return min(low + ((bits & -bits).bit_length() - 1) // 8, most) if bits else most


def common_end(one: bytes, other: bytes, most: int) -> int:
    """How many bytes two texts end with alike, up to so many."""
    low, step, mine, yours = 0, STEP, len(one), len(other)
    while step:
        while low + step <= most and one.endswith(other[yours - low - step : yours - low], 0, mine - low):
            low, step = low + step, 2 * step
        step //= 2
    return low


def ends(old: Sequence[object], new: Sequence[object]) -> tuple[int, int]:
    """Count what two sequences of one type begin and end with alike."""
    start = common(old, new)
    return start, min(common(old[::-1], new[::-1]), min(len(old), len(new)) - start)


def common(one: Sequence[object], other: Sequence[object]) -> int:
    """Count what two sequences of one type have in common at their start; halves are compared at a time."""
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low
