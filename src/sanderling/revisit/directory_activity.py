"""Recent activity of the directories of a site: changes found compared with changes expected, in cells of time."""

from array import array
from functools import lru_cache
from itertools import accumulate

from sanderling.urls.scope import get_site

CELLS = 64  # four mean intervals between visits
CELLS_PER_INTERVAL = 16
CELL_PRIOR = 0.1  # expected changes with which a cell starts at the long-run rate
STALE_OBSERVATIONS = 8  # recompute the clock after so many visits without a change
EMPTY_CELLS = array("d", [0.0] * CELLS)
EVEN_SPEEDS = [1.0] * CELLS
EVEN_CLOCK = [float(cell) for cell in range(CELLS + 1)]


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
        self.observations = 0  # since the clock was computed

    def advance(self, newest_cell: int) -> None:
        """Drop the oldest cells."""
        surplus = newest_cell - self.first_cell - CELLS + 1
        if surplus <= 0:
            return
        blank = EMPTY_CELLS[: min(surplus, CELLS)]
        self.found, self.expected = self.found[surplus:] + blank, self.expected[surplus:] + blank
        self.first_cell += surplus
        self.update_clock()

    def update_clock(self) -> None:
        parent = self.parent
        prior = parent.speeds if parent is not None and parent.first_cell == self.first_cell else EVEN_SPEEDS
        self.speeds = [
            (CELL_PRIOR * speed + found) / (CELL_PRIOR + expected)
            for speed, found, expected in zip(prior, self.found, self.expected, strict=True)
        ]
        self.clock = list(accumulate(self.speeds, initial=0.0))
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
        if changes > 0 or self.observations >= STALE_OBSERVATIONS:
            self.update_clock()


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
