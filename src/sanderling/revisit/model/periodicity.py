"""Pages that change at a fixed hour or weekday: which ones are still possible, narrowed down by every look.

One integer per page holds, for hours and for weekdays (UTC), the slots ruled out and how many changes agreed. A look
that found a change rules out all slots it does not touch, one that found none those it spans wholly. When no slot is
left, or a whole period passed without a change, the page keeps no such beat and all begins anew.
"""

from typing import NamedTuple

AGREE = 5  # changes that must fit before a beat is believed
NARROW = 0.25  # share of the period that may still be possible for a beat to be of use
COUNT_BITS = 4


class Beat(NamedTuple):
    """A period cut into slots, and where its bits lie."""

    slots: int
    seconds: float
    shift: int

    def read(self, phase: int) -> tuple[int, int]:
        """The slots ruled out, and the changes that agreed."""
        bits = phase >> self.shift
        return bits & (1 << self.slots) - 1, bits >> self.slots & (1 << COUNT_BITS) - 1

    def write(self, ruled_out: int, agreed: int) -> int:
        """The same as bits of a phase."""
        return (ruled_out | min(agreed, (1 << COUNT_BITS) - 1) << self.slots) << self.shift

    def is_known(self, phase: int) -> bool:
        """Did enough changes agree on few enough slots?"""
        ruled_out, agreed = self.read(phase)
        return agreed >= AGREE and self.slots - ruled_out.bit_count() <= NARROW * self.slots

    def is_end(self, slot: int, ruled_out: int) -> bool:
        """Is this the last slot of a possible run?"""
        return not ruled_out >> slot % self.slots & 1 and bool(ruled_out >> (slot + 1) % self.slots & 1)


HOURS = Beat(24, 3600.0, 0)
WEEKDAYS = Beat(7, 86_400.0, HOURS.slots + COUNT_BITS)
BEATS = (HOURS, WEEKDAYS)


def narrow(phase: int, since: float, now: float, changed: bool) -> int:
    """The phase after one more look."""
    return sum(_narrow(beat, phase, since, now, changed) for beat in BEATS)


def _narrow(beat: Beat, phase: int, since: float, now: float, changed: bool) -> int:
    if now <= since:
        return beat.write(*beat.read(phase))
    if now - since >= beat.slots * beat.seconds:
        return beat.write(*beat.read(phase)) if changed else 0
    ruled_out, agreed = beat.read(phase)
    first, last = int(since // beat.seconds), int(now // beat.seconds)
    every = (1 << beat.slots) - 1
    if changed:
        ruled_out |= every & ~_bits(beat, range(first, last + 1))
    else:
        ruled_out |= _bits(beat, range(first + 1, last))
    return 0 if ruled_out == every else beat.write(ruled_out, agreed + changed)


def _bits(beat: Beat, slots: range) -> int:
    bits = 0
    for slot in slots:
        bits |= 1 << slot % beat.slots
    return bits


def align(phase: int, last: float, due: float) -> float:
    """The moment nearest behind a change, where the hour or weekday of changes is known; else the due time itself."""
    for beat in BEATS:
        period = beat.slots * beat.seconds
        if beat.is_known(phase) and due - last >= period / 2 and due < float("inf"):
            return _next_end(beat, phase, max(due - period / 2, last + 1))
    return due


def is_quiet(phase: int, last: float, now: float) -> bool:
    """Is it known that nothing can have changed since the last visit, because its hour has not come?"""
    return any(beat.is_known(phase) and _next_end(beat, phase, last + 1) > now for beat in BEATS)


def _next_end(beat: Beat, phase: int, after: float) -> float:
    ruled_out, _ = beat.read(phase)
    first = int(after // beat.seconds)
    for slot in range(first - 1, first + beat.slots):
        end = (slot + 1) * beat.seconds
        if end >= after and beat.is_end(slot, ruled_out):
            return end
    return after
