"""What two versions of a page begin and end with alike, and the stretch between, where they differ."""

from msgspec import Struct

from sanderling.pages.markup import Aside, Found

AROUND = 400  # bytes on either side of what differs, that say to which line of text it belongs
STRIDE = 4_096  # bytes compared at once, at first
STEP = 256  # and at last


class Stretch(Struct, frozen=True):
    """A part of two versions of a page, between what they begin and what they end with alike."""

    start: int
    tail: int  # bytes behind it

    def of(self, body: bytes) -> bytes:
        """The part of one version."""
        return body[self.start : len(body) - self.tail]

    def found(self, whole: Found) -> Found:
        """The part of the version whose asides are known."""
        end, start = len(whole.body) - self.tail, self.start
        inside = [one for one in whole.asides if start <= one.start and one.last <= end]
        return Found(
            self.of(whole.body),
            [Aside(one.mark, one.start - start, one.first - start, one.last - start) for one in inside],
        )


def apart(old: bytes, new: bytes, found: list[Aside]) -> Stretch:
    """Cut off what two versions begin and end with alike, at tags; `found` are the asides of the new one."""
    same = common_start(old, new)
    return _whole(new, same, len(new) - _common_end(old, new, min(len(old), len(new)) - same), found)


def widened(new: bytes, stretch: Stretch, found: list[Aside]) -> Stretch:
    """Take some of what stands around a stretch into it."""
    return _whole(new, stretch.start - AROUND, len(new) - stretch.tail + AROUND, found)


def _whole(new: bytes, start: int, end: int, found: list[Aside]) -> Stretch:
    """Begin a stretch with the last tag before some place, and end it before the first one behind another."""
    start, end = new.rfind(b"<", 0, max(start, 0)), new.find(b"<", end)
    for one in found:
        if one.start < start < one.last:
            start = one.start
        if one.start < end <= one.last:
            end = new.find(b"<", one.last + 1)
    return Stretch(max(start, 0), len(new) - end if end >= 0 else 0)


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


def _common_end(one: bytes, other: bytes, most: int) -> int:
    """How many bytes two texts end with alike, up to so many."""
    low, step, mine, yours = 0, STEP, len(one), len(other)
    while step:
        while low + step <= most and one.endswith(other[yours - low - step : yours - low], 0, mine - low):
            low, step = low + step, 2 * step
        step //= 2
    return low
