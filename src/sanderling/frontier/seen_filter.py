"""Seen filter: a compact table of known URLs that avoids most database lookups.

Each URL hash selects a row. A row stores hash and value of the last three URLs put into it, and a 63-bit Bloom filter
with four bits for every URL ever put. A missing bit proves that the URL is new. Values pushed out of a row go to a
bounded overflow dictionary.

The table grows with the number of URLs, up to a limit. Doubling copies all rows, since one more hash bit selects
between the halves; entries that landed in the wrong half are overwritten first. Beyond the limit more lookups fall
through to the database, but no answer is wrong.
"""

from array import array
from collections.abc import Iterable
from itertools import combinations, islice
from random import Random

from sanderling.models import Url

MAX_ROWS = 1 << 20  # 59 MB
INITIAL_ROWS = 1 << 10
CELLS_PER_ROW = 7  # three times hash and value, newest first; then the Bloom bits
PATTERN_COUNT = 1 << 12
PATTERN_SHIFT = 44  # hash bits above select a pattern, bits below a row
MAX_OVERFLOW = 60_000  # 8 MB
REPEATED_FLAG = 1 << 57  # above the value bits: the URL was looked up since it was put


def _build_patterns() -> tuple[int, ...]:
    """Build patterns of 4 of 63 bits from pairs; drawing single bits took a tenth of the startup time."""
    pairs = [1 << a | 1 << b for a, b in combinations(range(63), 2)]
    draws = [pairs[number % len(pairs)] for number in array("H", Random(0).randbytes(6 * PATTERN_COUNT))]
    patterns = (first | second for first, second in zip(draws[::2], draws[1::2], strict=True) if not first & second)
    return tuple(islice(patterns, PATTERN_COUNT))


BIT_PATTERNS = _build_patterns()


class SeenFilter:
    """Maps URL hashes to values. A value is never 0 and has at most 57 bits."""

    def __init__(self, max_rows: int = MAX_ROWS, max_overflow: int = MAX_OVERFLOW) -> None:
        self.max_rows = max_rows
        self.max_overflow = max_overflow
        self.mask = INITIAL_ROWS - 1
        self.cells = array("q", bytes(8 * CELLS_PER_ROW * INITIAL_ROWS))  # one array: a row shares cache lines
        self.overflow: dict[int, int] = {}  # entries pushed out of their row
        self.put_count = 0

    def put(self, key: int, value: int) -> None:
        """Store the value of a URL. The oldest of three entries in its row moves to the overflow."""
        mask, cells = self.mask, self.cells
        at = (key & mask) * CELLS_PER_ROW
        first = cells[at]
        if first != key:
            if not (first ^ key) & mask:  # else the entry is in the wrong half: overwrite it
                second = cells[at + 2]
                if not (second ^ key) & mask:
                    third, value_of_third = cells[at + 4], cells[at + 5]
                    if value_of_third and not (third ^ key) & mask:
                        self._add_overflow(third, value_of_third)
                    cells[at + 4], cells[at + 5] = second, cells[at + 3]
                cells[at + 2], cells[at + 3] = first, cells[at + 1]
            cells[at] = key
        cells[at + 1] = value
        cells[at + 6] |= BIT_PATTERNS[key >> PATTERN_SHIFT & PATTERN_COUNT - 1]
        self.put_count += 1
        if self.put_count > mask >> 1 and mask + 1 < self.max_rows:
            self._grow()

    def _add_overflow(self, key: int, value: int) -> None:
        if len(self.overflow) >= self.max_overflow:
            self.overflow.clear()
        self.overflow[key] = value

    def mark_seen(self, key: int) -> None:
        """Record that a URL was seen, without a value."""
        self.cells[(key & self.mask) * CELLS_PER_ROW + 6] |= BIT_PATTERNS[key >> PATTERN_SHIFT & PATTERN_COUNT - 1]

    def lookup(self, urls: Iterable[Url], found: dict[Url, int]) -> tuple[list[Url], list[Url]]:
        """Add known values to `found`; return URLs looked up before, and URLs only the database can decide."""
        cells, mask, patterns, overflow = self.cells, self.mask, BIT_PATTERNS, self.overflow
        repeated, unsure = [], []
        for url in urls:
            key = hash(url)
            at = (key & mask) * CELLS_PER_ROW
            bits = patterns[key >> PATTERN_SHIFT & PATTERN_COUNT - 1]
            if cells[at + 6] & bits != bits:
                continue  # certainly new
            if cells[at] == key:
                cell = at + 1
            elif cells[at + 2] == key:
                cell = at + 3
            elif cells[at + 4] == key:
                cell = at + 5
            elif key in overflow:
                found[url] = overflow[key] & ~REPEATED_FLAG
                continue
            else:
                unsure.append(url)
                continue
            value = cells[cell]
            found[url] = value & ~REPEATED_FLAG
            if value >= REPEATED_FLAG:
                repeated.append(url)
            else:
                cells[cell] = value | REPEATED_FLAG
        return repeated, unsure

    def get(self, key: int) -> int:
        """Return the value of a URL, or 0 if it is unknown or was pushed out."""
        at, cells = (key & self.mask) * CELLS_PER_ROW, self.cells
        for cell in (at, at + 2, at + 4):
            if cells[cell] == key:
                return cells[cell + 1] & ~REPEATED_FLAG
        return self.overflow.get(key, 0) & ~REPEATED_FLAG

    def is_new(self, key: int) -> bool:
        """Return True if this URL was certainly never put."""
        bits = BIT_PATTERNS[key >> PATTERN_SHIFT & PATTERN_COUNT - 1]
        return self.cells[(key & self.mask) * CELLS_PER_ROW + 6] & bits != bits

    def _grow(self) -> None:
        self.cells.extend(self.cells)
        self.mask = 2 * self.mask + 1
