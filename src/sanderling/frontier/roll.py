"""The roll of known URLs: sixteen bytes for one met lately, a few bits for every one, so that the disk is seldom asked.

A URL has one row by its hash. A row has room for the hashes and values of the three URLs that were noted last, and for
four bits of every URL ever noted. Where a bit is missing, the URL is new: no disk can know more. The roll doubles with
the URLs noted, up to a limit. To double is to write it down twice, since one more bit of the hash decides between the
halves; beyond the limit it errs more often on the safe side, which is to ask.
"""

from array import array
from random import Random

LIMIT = 1 << 20  # rows; 59 MB
FIRST = 1 << 10
CELLS = 7  # of a row: hash and value of the last URL, of the one before, of the one before that; bits of all
PATTERNS = 1 << 12
SHIFT = 44  # of the hash: bits above choose a pattern, those below a row


def _patterns() -> tuple[int, ...]:
    draw = Random(0)
    return tuple(sum(1 << bit for bit in draw.sample(range(63), 4)) for _ in range(PATTERNS))


BITS = _patterns()


class Roll:
    """Values of URLs by their hash; a value is never 0."""

    def __init__(self, limit: int = LIMIT) -> None:
        self.limit = limit
        self.mask = FIRST - 1
        self.cells = array("q", bytes(8 * CELLS * FIRST))  # one array: what is read together lies together
        self.noted = 0

    def note(self, key: int, value: int) -> None:
        """Write a URL down; the one of its row that was noted longest ago makes room."""
        at = (key & self.mask) * CELLS
        cells = self.cells
        if cells[at] != key:
            cells[at + 4], cells[at + 5] = cells[at + 2], cells[at + 3]
            cells[at + 2], cells[at + 3] = cells[at], cells[at + 1]
            cells[at] = key
        cells[at + 1] = value
        cells[at + 6] |= BITS[key >> SHIFT & PATTERNS - 1]
        self.noted += 1
        if self.noted > self.mask >> 1 and self.mask + 1 < self.limit:
            self._double()

    def pass_by(self, key: int) -> None:
        """Remember that a URL was met, and nothing of it."""
        self.cells[(key & self.mask) * CELLS + 6] |= BITS[key >> SHIFT & PATTERNS - 1]

    def value(self, key: int) -> int:
        """What was noted of a URL; 0 if others were noted over it, or it was never met."""
        at, cells = (key & self.mask) * CELLS, self.cells
        if cells[at] == key:
            return cells[at + 1]
        if cells[at + 2] == key:
            return cells[at + 3]
        return cells[at + 5] if cells[at + 4] == key else 0

    def is_new(self, key: int) -> bool:
        """Was this URL surely never noted?"""
        bits = BITS[key >> SHIFT & PATTERNS - 1]
        return self.cells[(key & self.mask) * CELLS + 6] & bits != bits

    def _double(self) -> None:
        self.cells.extend(self.cells)
        self.mask = 2 * self.mask + 1
