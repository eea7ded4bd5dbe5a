"""Recent activity of a group of pages: changes found compared with changes expected, in a ring of time bins.

Changes come in bursts. If recent visits found twice the expected changes, time ran twice as fast for the whole group,
and the elapsed time of its pages is measured on this clock. A group with little evidence follows its parent group.
"""

from array import array
from itertools import accumulate
from math import expm1

BIN_COUNT = 32  # four mean intervals between visits
BINS_PER_INTERVAL = 8
PARENT_WEIGHT = 0.5  # of the parent group, in expected changes per bin
STEADY_SPEEDS = [1.0] * BIN_COUNT
EMPTY_BINS = array("d", [0.0] * BIN_COUNT)


class GroupActivity:
    """Activity of a group. Times are numbers of bins; speed 1 is the long-run rate."""

    __slots__ = ("clock", "clock_version", "expected_changes", "first_bin", "found_changes", "parent", "speeds")

    def __init__(self, parent: "GroupActivity | None", newest_bin: int) -> None:
        self.parent = parent
        self.first_bin = newest_bin - BIN_COUNT + 1  # number of the oldest bin
        self.found_changes = array("d", EMPTY_BINS)
        self.expected_changes = array("d", EMPTY_BINS)
        self.speeds = STEADY_SPEEDS  # in each bin
        self.clock = [float(bins) for bins in range(BIN_COUNT + 1)]  # at the start of each bin
        self.clock_version = -1  # version of speeds and clock

    def advance_bins(self, newest_bin: int) -> None:
        """Drop the oldest bins."""
        surplus = newest_bin - self.first_bin - BIN_COUNT + 1
        if surplus <= 0:
            return
        blank = EMPTY_BINS[: min(surplus, BIN_COUNT)]
        self.found_changes, self.expected_changes = (
            self.found_changes[surplus:] + blank,
            self.expected_changes[surplus:] + blank,
        )
        self.first_bin += surplus
        self.clock_version = -1

    def update_clock(self, newest_bin: int, version: int) -> None:
        """Recompute speeds and clock, once per version."""
        if newest_bin - self.first_bin >= BIN_COUNT:
            self.advance_bins(newest_bin)
        if self.clock_version == version:
            return
        self.speeds = [
            (PARENT_WEIGHT * level + found) / (PARENT_WEIGHT + expected)
            for level, found, expected in zip(
                self._get_parent_speeds(newest_bin, version), self.found_changes, self.expected_changes, strict=True
            )
        ]
        self.clock = list(accumulate(self.speeds, initial=0.0))
        self.clock_version = version

    def _get_parent_speeds(self, newest_bin: int, version: int) -> list[float]:
        if self.parent is None:
            return STEADY_SPEEDS
        self.parent.update_clock(newest_bin, version)
        shift = self.parent.first_bin - self.first_bin
        if shift == 0:
            return self.parent.speeds
        return (
            (STEADY_SPEEDS[:shift] + self.parent.speeds)[:BIN_COUNT]
            if shift > 0
            else self.parent.speeds[-shift:] + STEADY_SPEEDS[shift:]
        )

    def compute_elapsed(self, start: float, end: float) -> float:
        """Compute the elapsed bins on the clock. Before the oldest bin the speed is 1."""
        begin, stop = start - self.first_bin, end - self.first_bin
        if stop < 0:
            return end - start
        before = 0.0
        if begin < 0:
            before, begin = -begin, 0.0
        i, j = int(begin), int(stop)
        speeds, clock = self.speeds, self.clock
        return before + clock[j] + speeds[j] * (stop - j) - clock[i] - speeds[i] * (begin - i)

    def record_observation(self, start: float, end: float, rate: float, has_changed: bool) -> None:
        """Add the expected changes of a visit to each bin, and spread a found change over them."""
        begin, stop = max(start - self.first_bin, 0.0), end - self.first_bin
        if stop <= begin:
            return
        i, j = int(begin), int(stop)
        shares = [stop - begin] if i == j else [i + 1 - begin, *[1.0] * (j - i - 1), stop - j]
        expected = self.expected_changes
        for bin_, share in enumerate(shares, i):
            expected[bin_] += rate * share
        if has_changed:
            self._spread_changes(i, shares, rate)

    def _spread_changes(self, first_bin: int, shares: list[float], rate: float) -> None:
        """Distribute a change over bins in proportion to their speed."""
        weights = [share * speed for share, speed in zip(shares, self.speeds[first_bin:], strict=False)]
        total = sum(weights)
        if total <= 0:
            return
        changes = rate * total
        each = changes / -expm1(-changes) / total if changes > 1e-9 else 1 / total
        for bin_, weight in enumerate(weights, first_bin):
            self.found_changes[bin_] += each * weight
        self.clock_version = -1  # recompute at the next use
