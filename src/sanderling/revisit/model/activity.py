"""How lively a group of pages was lately: changes found beside changes expected, in a ring of short bins of time.

Real changes come in batches. If the looks of the last days found twice the changes that the pages' own rates promise,
time ran twice as fast for the whole group, and a page's elapsed time is measured on this clock. A group with little
evidence of its own follows the group above it.
"""

from array import array
from itertools import accumulate
from math import expm1

BINS = 32  # bins of an eighth of the mean interval between visits: four intervals are remembered
PER_INTERVAL = 8
TRUST = 0.5  # expected changes in a bin that weigh as much as the word of the group above
STEADY = [1.0] * BINS
NOTHING = array("d", [0.0] * BINS)


class Pulse:
    """The activity of one group. Times are numbers of bins; speed 1 is the group's long-run pace."""

    __slots__ = ("above", "clock", "expected", "first", "found", "speeds", "stamp")

    def __init__(self, above: "Pulse | None", newest: int) -> None:
        self.above = above
        self.first = newest - BINS + 1  # number of the oldest bin kept
        self.found = array("d", NOTHING)
        self.expected = array("d", NOTHING)
        self.speeds = STEADY  # of the clock, in each bin
        self.clock = [float(bins) for bins in range(BINS + 1)]  # what it shows at the beginning of each bin
        self.stamp = -1  # when speeds and clock were worked out

    def roll(self, newest: int) -> None:
        """Forget the oldest bins to make room for the newest."""
        beyond = newest - self.first - BINS + 1
        if beyond <= 0:
            return
        blank = NOTHING[: min(beyond, BINS)]
        self.found, self.expected = self.found[beyond:] + blank, self.expected[beyond:] + blank
        self.first += beyond
        self.stamp = -1

    def read(self, newest: int, stamp: int) -> None:
        """Work out the clock, once per stamp."""
        if newest - self.first >= BINS:
            self.roll(newest)
        if self.stamp == stamp:
            return
        self.speeds = [
            (TRUST * level + found) / (TRUST + expected)
            for level, found, expected in zip(self._levels(newest, stamp), self.found, self.expected, strict=True)
        ]
        self.clock = list(accumulate(self.speeds, initial=0.0))
        self.stamp = stamp

    def _levels(self, newest: int, stamp: int) -> list[float]:
        """The speeds of the group above in the same bins."""
        if self.above is None:
            return STEADY
        self.above.read(newest, stamp)
        shift = self.above.first - self.first
        if shift == 0:
            return self.above.speeds
        return (STEADY[:shift] + self.above.speeds)[:BINS] if shift > 0 else self.above.speeds[-shift:] + STEADY[shift:]

    def elapsed(self, start: float, end: float) -> float:
        """Bins that passed on the clock as read last; time before the oldest bin passed at the usual pace."""
        begin, stop = start - self.first, end - self.first
        if stop < 0:
            return end - start
        before = 0.0
        if begin < 0:
            before, begin = -begin, 0.0
        i, j = int(begin), int(stop)
        speeds, clock = self.speeds, self.clock
        return before + clock[j] + speeds[j] * (stop - j) - clock[i] - speeds[i] * (begin - i)

    def tell(self, start: float, end: float, rate: float, changed: bool) -> None:
        """Enter one look: the changes to be expected in each bin, and where the one that was found probably lies."""
        begin, stop = max(start - self.first, 0.0), end - self.first
        if stop <= begin:
            return
        i, j = int(begin), int(stop)
        shares = [stop - begin] if i == j else [i + 1 - begin, *[1.0] * (j - i - 1), stop - j]
        expected = self.expected
        for place, share in enumerate(shares, i):
            expected[place] += rate * share
        if changed:
            self._find(i, shares, rate)

    def _find(self, first: int, shares: list[float], rate: float) -> None:
        """Spread the changes found over the bins, by how lively each was."""
        weights = [share * speed for share, speed in zip(shares, self.speeds[first:], strict=False)]
        total = sum(weights)
        if total <= 0:
            return
        changes = rate * total
        each = changes / -expm1(-changes) / total if changes > 1e-9 else 1 / total
        for place, weight in enumerate(weights, first):
            self.found[place] += each * weight
        self.stamp = -1  # news: the clock is read anew at once
