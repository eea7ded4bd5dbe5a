"""Pages that change at a fixed hour or weekday (UTC): the slots that are still possible, narrowed by every visit.

One integer per page holds the excluded slots and the number of agreeing changes, for hours and for weekdays. A visit
with a change excludes slots outside its interval, a visit without one excludes slots inside. Without any slot left, or
after a whole period without a change, everything is reset.
"""

from typing import NamedTuple

MIN_AGREEING_CHANGES = 5
MAX_OPEN_SHARE = 0.25  # of the period
COUNT_BITS = 4


class Period(NamedTuple):
    """A period divided into slots, and the position of its bits."""

    slot_count: int
    slot_seconds: float
    bit_shift: int

    def unpack(self, periodicity: int) -> tuple[int, int]:
        """Return the excluded slots and the number of agreeing changes."""
        bits = periodicity >> self.bit_shift
        return bits & (1 << self.slot_count) - 1, bits >> self.slot_count & (1 << COUNT_BITS) - 1

    def pack(self, ruled_out: int, agreeing_changes: int) -> int:
        return (ruled_out | min(agreeing_changes, (1 << COUNT_BITS) - 1) << self.slot_count) << self.bit_shift

    def is_known(self, periodicity: int) -> bool:
        """Whether enough changes agree on few enough slots."""
        ruled_out, agreed = self.unpack(periodicity)
        return (
            agreed >= MIN_AGREEING_CHANGES
            and self.slot_count - ruled_out.bit_count() <= MAX_OPEN_SHARE * self.slot_count
        )

    def is_last_slot(self, slot: int, ruled_out: int) -> bool:
        """Whether this is the last slot of a run of possible slots."""
        return not ruled_out >> slot % self.slot_count & 1 and bool(ruled_out >> (slot + 1) % self.slot_count & 1)


HOURS = Period(24, 3600.0, 0)
WEEKDAYS = Period(7, 86_400.0, HOURS.slot_count + COUNT_BITS)
PERIODS = (HOURS, WEEKDAYS)


def update_periodicity(periodicity: int, since: float, now: float, has_changed: bool) -> int:
    """Update the packed periodicity after a visit."""
    return sum(_update_period(period, periodicity, since, now, has_changed) for period in PERIODS)


def _update_period(period: Period, periodicity: int, since: float, now: float, has_changed: bool) -> int:
    if now <= since:
        return period.pack(*period.unpack(periodicity))
    if now - since >= period.slot_count * period.slot_seconds:
        return period.pack(*period.unpack(periodicity)) if has_changed else 0
    ruled_out, agreed = period.unpack(periodicity)
    first, last = int(since // period.slot_seconds), int(now // period.slot_seconds)
    every = (1 << period.slot_count) - 1
    if has_changed:
        ruled_out |= every & ~_build_slot_mask(period, range(first, last + 1))
    else:
        ruled_out |= _build_slot_mask(period, range(first + 1, last))
    return 0 if ruled_out == every else period.pack(ruled_out, agreed + has_changed)


def _build_slot_mask(period: Period, slots: range) -> int:
    bits = 0
    for slot in slots:
        bits |= 1 << slot % period.slot_count
    return bits


def align_due_time(periodicity: int, last_visit: float, due_at: float) -> float:
    """Move a due time to just after the expected change, if its hour or weekday is known."""
    for period in PERIODS:
        length = period.slot_count * period.slot_seconds
        if period.is_known(periodicity) and due_at - last_visit >= length / 2 and due_at < float("inf"):
            return _find_next_end(period, periodicity, max(due_at - length / 2, last_visit + 1))
    return due_at


def is_known_unchanged(periodicity: int, last_visit: float, now: float) -> bool:
    """Whether no change is possible yet, because the known hour has not come."""
    return any(
        period.is_known(periodicity) and _find_next_end(period, periodicity, last_visit + 1) > now for period in PERIODS
    )


def _find_next_end(period: Period, periodicity: int, after: float) -> float:
    ruled_out, _ = period.unpack(periodicity)
    first = int(after // period.slot_seconds)
    for slot in range(first - 1, first + period.slot_count):
        end = (slot + 1) * period.slot_seconds
        if end >= after and period.is_last_slot(slot, ruled_out):
            return end
    return after
