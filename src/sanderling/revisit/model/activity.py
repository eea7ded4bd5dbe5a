"""How lively a group of pages was lately: changes found beside changes expected, in a ring of short bins of time.

Real changes come in batches. If the looks of the last days found twice the changes that the pages' own rates promise,
time ran twice as fast for the whole group, and a page's elapsed time is measured on this clock. A group with little
evidence of its own follows the group above it.
"""

from array import array
from itertools import accumulate
from math import expm1

BIN_COUNT = 32  # bins of an eighth of the mean interval between visits: four intervals are remembered
BINS_PER_INTERVAL = 8
PARENT_WEIGHT = 0.5  # expected changes in a bin that weigh as much as the word of the group above
STEADY_SPEEDS = [1.0] * BIN_COUNT
EMPTY_BINS = array("d", [0.0] * BIN_COUNT)


class GroupActivity:
    """The activity of one group. Times are numbers of bins; speed 1 is the group's long-run pace."""

    __slots__ = ("clock", "clock_version", "expected_changes", "first_bin", "found_changes", "parent", "speeds")

    def __init__(self, parent: "GroupActivity | None", newest_bin: int) -> None:
        self.parent = parent
        self.first_bin = newest_bin - BIN_COUNT + 1  # number of the oldest bin kept
        self.found_changes = array("d", EMPTY_BINS)
        self.expected_changes = array("d", EMPTY_BINS)
        self.speeds = STEADY_SPEEDS  # of the clock, in each bin
        self.clock = [float(bins) for bins in range(BIN_COUNT + 1)]  # what it shows at the beginning of each bin
        self.clock_version = -1  # when speeds and clock were worked out

    def advance_bins(self, newest_bin: int) -> None:
        """Forget the oldest bins to make room for the newest."""
        beyond = newest_bin - self.first_bin - BIN_COUNT + 1
        if beyond <= 0:
            return
        blank = EMPTY_BINS[: min(beyond, BIN_COUNT)]
        self.found_changes, self.expected_changes = (
            self.found_changes[beyond:] + blank,
            self.expected_changes[beyond:] + blank,
        )
        self.first_bin += beyond
        self.clock_version = -1

    def update_clock(self, newest_bin: int, version: int) -> None:
        """Work out the clock, once per stamp."""
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
        """The speeds of the group above in the same bins."""
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
        """Bins that passed on the clock as read last; time before the oldest bin passed at the usual pace."""
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
        """Enter one look: the changes to be expected in each bin, and where the one that was found probably lies."""
        begin, stop = max(start - self.first_bin, 0.0), end - self.first_bin
        if stop <= begin:
            return
        i, j = int(begin), int(stop)
        shares = [stop - begin] if i == j else [i + 1 - begin, *[1.0] * (j - i - 1), stop - j]
        expected = self.expected_changes
        for place, share in enumerate(shares, i):
            expected[place] += rate * share
        if has_changed:
            self._spread_changes(i, shares, rate)

    def _spread_changes(self, first_bin: int, shares: list[float], rate: float) -> None:
        """Spread the changes found over the bins, by how lively each was."""
        weights = [share * speed for share, speed in zip(shares, self.speeds[first_bin:], strict=False)]
        total = sum(weights)
        if total <= 0:
            return
        changes = rate * total
        each = changes / -expm1(-changes) / total if changes > 1e-9 else 1 / total
        for place, weight in enumerate(weights, first_bin):
            self.found_changes[place] += each * weight
        self.clock_version = -1  # news: the clock is read anew at once
