"""When pages change: at rates like other pages, by the time since birth or the last change, and by directory.

Both compare changes found with changes expected by the rates of the pages: in classes of age, and in cells of time.
"""

from array import array
from collections.abc import Iterable
from functools import lru_cache
from itertools import accumulate
from math import lgamma, log

from sanderling.revisit.visit_history import DAY, VisitHistory
from sanderling.urls.scope import get_site

CELLS = 64  # four mean intervals between visits
CELLS_PER_INTERVAL = 16
CELL_PRIOR = 0.1  # expected changes with which a cell starts at the long-run rate
PRIOR_SHAPE, PRIOR_RATE = 0.4, 1 / 30  # of unknown sites; changes a day
AGE_LIMITS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)  # days; older or unknown is the last class
AGE_CLASSES = len(AGE_LIMITS) + 1
AGE_PRIOR = 5.0  # changes
STALE_OBSERVATIONS = 8  # recompute the clock after so many visits without a change
EMPTY_CELLS = array("d", [0.0] * CELLS)
EVEN_SPEEDS = [1.0] * CELLS
EVEN_CLOCK = [float(cell) for cell in range(CELLS + 1)]


AgePart = tuple[int, float, float]
"""Age class, start, and end of a part of a time span."""


class AgeFactors:
    """Changes found in classes of age compared with changes expected, relative to all classes.

    With twice the classes, the second half counts from the last change: no factor is below one of a longer time, or
    below half of that of old pages that never changed, so that a change found always means an earlier visit.
    """

    def __init__(self, found: list[float], expected: list[float]) -> None:
        self.found, self.expected = found, expected
        self.factors = [1.0] * len(found)
        self._update_factors(range(len(found)))

    def compute_elapsed(self, parts: list[AgePart]) -> float:
        """Compute the effective days of parts of a time span."""
        if len(parts) == 1:
            age, start, end = parts[0]
            return self.factors[age] * (end - start) / DAY
        return sum([self.factors[age] * (end - start) for age, start, end in parts]) / DAY

    def record_visit(self, parts: list[AgePart], rate: float, changes: float) -> None:
        """Add the changes expected at a rate per day, and spread the changes found."""
        factors, found, expected = self.factors, self.found, self.expected
        each = changes / (self.compute_elapsed(parts) or 1.0)
        for age, start, end in parts:
            expected[age] += rate * (end - start) / DAY
            found[age] += each * factors[age] * (end - start) / DAY
        self._update_factors([age for age, _, _ in parts])

    def _update_factors(self, ages: Iterable[int]) -> None:
        factors, found, expected = self.factors, self.found, self.expected
        mean = (AGE_PRIOR + sum(found)) / (AGE_PRIOR + sum(expected))
        for age in ages:
            factors[age] = (AGE_PRIOR + found[age] / mean) / (AGE_PRIOR + expected[age])
        if len(factors) > AGE_CLASSES:
            lowest = factors[AGE_CLASSES - 1] / 2
            for age in range(len(factors) - 1, AGE_CLASSES - 1, -1):
                lowest = factors[age] = max(factors[age], lowest)


class DirectoryActivity:
    """Changes found in a directory compared with those expected, in a ring of cells of time."""

    __slots__ = ("clock", "expected", "first_cell", "found", "observations", "parent", "speeds")

    def __init__(self, newest_cell: int, parent: "DirectoryActivity | None" = None) -> None:
        self.parent = parent  # the site, which a directory follows where it has little evidence
        self.first_cell = newest_cell - CELLS + 1
        self.found = array("d", EMPTY_CELLS)
        self.expected = array("d", EMPTY_CELLS)
        self.speeds = EVEN_SPEEDS
        self.clock = EVEN_CLOCK
        self.observations = 0  # since the whole clock was computed

    def advance(self, newest_cell: int) -> None:
        """Drop the oldest cells."""
        surplus = min(newest_cell - self.first_cell - CELLS + 1, CELLS)
        if surplus <= 0:
            return
        blank = EMPTY_CELLS[:surplus]
        self.found, self.expected = self.found[surplus:] + blank, self.expected[surplus:] + blank
        self.first_cell = newest_cell - CELLS + 1
        self.update_clock()  # also with what was found in other directories of the site

    def _get_prior_speeds(self) -> list[float]:
        parent = self.parent
        return parent.speeds if parent is not None and parent.first_cell == self.first_cell else EVEN_SPEEDS

    def update_clock(self, since: int = 0) -> None:
        """Compute the speeds of the cells from `since` on, and the times at their ends."""
        prior = self._get_prior_speeds()
        rows = zip(prior[since:], self.found[since:], self.expected[since:], strict=True)
        speeds = [(CELL_PRIOR * speed + found) / (CELL_PRIOR + expected) for speed, found, expected in rows]
        self.speeds = self.speeds[:since] + speeds
        self.clock = [*self.clock[:since], *accumulate(speeds, initial=self.clock[since])]
        self.observations = 0

    def compute_elapsed(self, start: float, end: float) -> float:
        """Compute the elapsed cells on the clock. Outside the ring the speed is 1."""
        begin, stop = start - self.first_cell, end - self.first_cell
        outside = 0.0
        if begin < 0.0:
            if stop <= 0.0:
                return end - start
            outside, begin = -begin, 0.0
        if stop >= CELLS:
            if begin >= CELLS:
                return end - start
            outside, stop = outside + stop - CELLS, CELLS - 1e-9
        i, j = int(begin), int(stop)
        clock, speeds = self.clock, self.speeds
        return outside + clock[j] + speeds[j] * (stop - j) - clock[i] - speeds[i] * (begin - i)

    def record_visit(self, start: float, end: float, rate: float, changes: float) -> None:
        """Add the expected changes of a visit to each cell, and spread the changes found. `rate` is per cell."""
        begin, stop = max(start - self.first_cell, 0.0), end - self.first_cell
        if stop <= begin:
            return
        i, j = int(begin), int(stop)
        shares = [stop - begin] if i == j else [i + 1 - begin, *[1.0] * (j - i - 1), stop - j]
        expected = self.expected
        for cell, share in enumerate(shares, i):
            expected[cell] += rate * share
        self.observations += 1
        if changes > 0:
            weights = [share * speed for share, speed in zip(shares, self.speeds[i : j + 1], strict=True)]
            each = changes / (sum(weights) or 1.0)
            for cell, weight in enumerate(weights, i):
                self.found[cell] += each * weight
        if self.observations >= STALE_OBSERVATIONS:
            self.update_clock()
        elif changes > 0:
            self.update_clock(i)


def split_by_age(age_start: float, since: float, until: float) -> list[tuple[int, float, float]]:
    """Split a time span at the age limits of a page: `[(age class, start, end)]`. `age_start` 0: old."""
    if not age_start or since - age_start >= AGE_LIMITS[-1] * DAY:
        return [(len(AGE_LIMITS), since, until)]
    parts, start = [], since
    for age_class, limit in enumerate(AGE_LIMITS):
        end = age_start + limit * DAY
        if end >= until:
            parts.append((age_class, start, until))
            return parts
        if end > start:
            parts.append((age_class, start, end))
            start = end
    parts.append((len(AGE_LIMITS), start, until))
    return parts


def find_age_class(days: float) -> int:
    return next((k for k, limit in enumerate(AGE_LIMITS) if days < limit), len(AGE_LIMITS))


def list_recent_parts(history: VisitHistory, until: float) -> list[AgePart]:
    """Split the time since the last visit by the time since the last change, or since birth if it never changed."""
    if not history.changes:
        return split_by_age(history.born_at, history.last_visit, until)
    parts = split_by_age(history.changed_at, history.last_visit, until)
    return [(AGE_CLASSES + age, start, end) for age, start, end in parts]


def fit_prior(sample: list[tuple[float, float]], shape: float, scale: float) -> tuple[float, float]:
    """Fit shape and scale of the Gamma prior to changes and exposures (negative binomial likelihood).

    One step per call: expectation-maximization for the scale, and the best of three shapes.
    """
    for _ in range(3):
        rates = PRIOR_RATE + sum((shape + changes) / (scale + exposure) for changes, exposure in sample)
        scale = shape * (len(sample) + 1) / rates
    scored = [(_compute_likelihood(sample, shape * step, scale * step), step) for step in (1.0, 1.25, 0.8)]
    new_shape = min(max(shape * max(scored)[1], 0.03), 30.0)
    return new_shape, scale * new_shape / shape


def _compute_likelihood(sample: list[tuple[float, float]], shape: float, scale: float) -> float:
    log_scale, base = log(scale), lgamma(shape)
    return sum(
        lgamma(shape + changes) - base + shape * log_scale - (shape + changes) * log(scale + exposure)
        for changes, exposure in sample
    ) - 0.5 * (log(shape / PRIOR_SHAPE) ** 2)


@lru_cache(256)  # requested repeatedly in a row
def list_directories(url: str) -> tuple[str, ...]:
    """List the directories of a URL below the host, closest first: `https://a/de/doc/x?y` is in /de/doc and /de."""
    path = url.partition("#")[0].partition("?")[0].partition("://")[2].partition("/")[2]
    parts = path.split("/")[:-1]
    return tuple("/".join(parts[:depth]) for depth in range(len(parts), 0, -1))


def pack_floats(numbers: "list[float] | array[float]") -> bytes:
    return array("f", numbers).tobytes()


def unpack_floats(stored: bytes) -> "array[float]":
    return array("d", array("f", stored))


@lru_cache(4096)
def normalize_site(host_url: str) -> str:
    return get_site(host_url + "/")


def find_site_name(url: str) -> str:
    """Return the key of the site of a URL, without scheme and `www.`."""
    return normalize_site(url[: url.find("/", 8)] if url.find("/", 8) > 0 else url)
