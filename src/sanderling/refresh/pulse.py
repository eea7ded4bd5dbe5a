"""How lively a group of pages was lately: changes found beside changes expected, in a ring of short bins of time.

Real changes come in batches. If the looks of the last days found twice the changes that the pages' own rates promise,
time ran twice as fast for the whole group: a page's elapsed time is measured on this clock. A group with little
evidence of its own follows the group above it.
"""

from math import expm1

from .rates import DAY

BINS = 32  # bins of an eighth of the mean interval between visits: four intervals are remembered
PER_INTERVAL = 8
TRUST = 0.5  # expected changes in a bin that weigh as much as the word of the group above


class Pulse:
    """The activity of one group; 1 is its long-run pace."""

    __slots__ = ("above", "expected", "first", "found", "speeds", "stamp")

    def __init__(self, above: "Pulse | None", first: int) -> None:
        self.above = above
        self.first = first  # number of the oldest bin kept
        self.found = [0.0] * BINS
        self.expected = [0.0] * BINS
        self.speeds: list[float] = []  # what `read` said last
        self.stamp = -1

    def roll(self, newest: int) -> None:
        """Forget the oldest bins to make room for the newest."""
        beyond = newest - self.first - BINS + 1
        if beyond <= 0:
            return
        if beyond >= BINS:
            self.found, self.expected = [0.0] * BINS, [0.0] * BINS
        else:
            blank = [0.0] * beyond
            self.found, self.expected = self.found[beyond:] + blank, self.expected[beyond:] + blank
        self.first += beyond
        self.stamp = -1

    def read(self, newest: int, stamp: int) -> list[float]:
        """The speed of the clock in each bin; worked out once per stamp."""
        self.roll(newest)
        if self.stamp != stamp:
            above = self.above.read(newest, stamp) if self.above else [1.0] * BINS
            shift = self.above.first - self.first if self.above else 0
            if shift:
                above = ([1.0] * shift + above)[:BINS] if shift > 0 else above[-shift:] + [1.0] * -shift
            self.speeds = [
                (TRUST * level + found) / (TRUST + expected)
                for level, found, expected in zip(above, self.found, self.expected, strict=True)
            ]
            self.stamp = stamp
        return self.speeds


class Span:
    """A stretch of time laid over the bins: the bins it touches, and how much of each."""

    __slots__ = ("before", "first", "shares", "width")

    def __init__(self, start: float, end: float, width: float) -> None:
        oldest = int(end / width) - BINS + 1
        begin, stop = start / width, max(end, start) / width
        self.before = max(oldest - begin, 0.0) * width / DAY  # days before the first bin that is remembered
        begin = max(begin, oldest)
        self.first = int(begin)
        self.width = width / DAY
        last = int(stop)
        if last == self.first:
            self.shares = [stop - begin]
        else:
            self.shares = [self.first + 1 - begin, *[1.0] * (last - self.first - 1), stop - last]

    @property
    def newest(self) -> int:
        """Number of the last bin."""
        return self.first + len(self.shares) - 1


def elapsed(pulse: Pulse, span: Span, stamp: int) -> float:
    """Days that passed on the clock of a group."""
    speeds = pulse.read(span.newest, stamp)
    at = span.first - pulse.first
    if at < 0:
        return span.before + sum(span.shares) * span.width
    return span.before + sum(map(float.__mul__, speeds[at : at + len(span.shares)], span.shares)) * span.width


def tell(pulse: Pulse, span: Span, rate: float, changed: bool, stamp: int) -> None:
    """Enter one look: how many changes were to be expected in each bin, and where the one found probably lies."""
    speeds = pulse.read(span.newest, stamp)
    at = span.first - pulse.first
    if at < 0 or rate <= 0:
        return
    expected, daily = pulse.expected, rate * span.width
    for place, share in enumerate(span.shares, at):
        expected[place] += daily * share
    if changed:
        weights = [share * speed for share, speed in zip(span.shares, speeds[at:], strict=False)]
        total = sum(weights)
        if total <= 0:
            return
        changes = daily * total
        each = changes / -expm1(-changes) / total if changes > 1e-9 else 1 / total
        for place, weight in enumerate(weights, at):
            pulse.found[place] += each * weight
        pulse.stamp = -1  # news: the clock is read anew at once
