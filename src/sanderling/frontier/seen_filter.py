"""The roll of known URLs: sixteen bytes for one met lately, a few bits for every one, so that the disk is seldom asked.

A URL has one row by its hash. A row has room for the hashes and values of the three URLs that were noted last, and for
four bits of every URL ever noted. Where a bit is missing, the URL is new: no disk can know more. Who must make room is
remembered apart, as long as those are few. The roll doubles with the URLs noted, up to a limit. To double is to write
it down twice, since one more bit of the hash decides between the halves; what stands in the wrong half afterwards is
written over first. Beyond the limit the roll errs more often on the safe side, which is to ask.
"""

from array import array
from collections.abc import Iterable
from itertools import combinations, islice
from random import Random

from sanderling.models import Url

MAX_ROWS = 1 << 20  # rows; 59 MB
INITIAL_ROWS = 1 << 10
CELLS_PER_ROW = 7  # of a row: hash and value of the last URL, of the one before, of the one before that; bits of all
PATTERN_COUNT = 1 << 12
PATTERN_SHIFT = 44  # of the hash: bits above choose a pattern, those below a row
MAX_OVERFLOW = 60_000  # 8 MB
REPEATED_FLAG = 1 << 57  # in a value, above all that is noted: the URL was asked for since


def _build_patterns() -> tuple[int, ...]:
    """Four of 63 bits each, drawn two and two: one by one they took a tenth of the time that it takes to start."""
    draws = Random(0).choices([1 << a | 1 << b for a, b in combinations(range(63), 2)], k=3 * PATTERN_COUNT)
    whole = (one | other for one, other in zip(draws[::2], draws[1::2], strict=True) if not one & other)
    return tuple(islice(whole, PATTERN_COUNT))


BIT_PATTERNS = _build_patterns()


class SeenFilter:
    """Values of URLs by their hash; a value is never 0 and has at most 57 bits."""

    def __init__(self, max_rows: int = MAX_ROWS, max_overflow: int = MAX_OVERFLOW) -> None:
        self.max_rows = max_rows
        self.max_overflow = max_overflow
        self.mask = INITIAL_ROWS - 1
        self.cells = array(
            "q", bytes(8 * CELLS_PER_ROW * INITIAL_ROWS)
        )  # one array: what is read together lies together
        self.overflow: dict[int, int] = {}  # those that made room for others
        self.put_count = 0

    def put(self, key: int, value: int) -> None:
        """Write a URL down; the one of its row that was noted longest ago makes room."""
        mask, cells = self.mask, self.cells
        at = (key & mask) * CELLS_PER_ROW
        first = cells[at]
        if first != key:
            if not (first ^ key) & mask:  # else it stands in the wrong half
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
        """Remember that a URL was met, and nothing of it."""
        self.cells[(key & self.mask) * CELLS_PER_ROW + 6] |= BIT_PATTERNS[key >> PATTERN_SHIFT & PATTERN_COUNT - 1]

    def lookup(self, urls: Iterable[Url], found: dict[Url, int]) -> tuple[list[Url], list[Url]]:
        """Add the values of those it has noted; say which were asked for before, and which only the disk can tell."""
        cells, mask, patterns, apart = self.cells, self.mask, BIT_PATTERNS, self.overflow
        often, unsure = [], []
        for url in urls:
            key = hash(url)
            at = (key & mask) * CELLS_PER_ROW
            bits = patterns[key >> PATTERN_SHIFT & PATTERN_COUNT - 1]
            if cells[at + 6] & bits != bits:
                continue  # it is new for sure
            if cells[at] == key:
                place = at + 1
            elif cells[at + 2] == key:
                place = at + 3
            elif cells[at + 4] == key:
                place = at + 5
            elif key in apart:
                found[url] = apart[key] & ~REPEATED_FLAG
                continue
            else:
                unsure.append(url)
                continue
            value = cells[place]
            found[url] = value & ~REPEATED_FLAG
            if value >= REPEATED_FLAG:
                often.append(url)
            else:
                cells[place] = value | REPEATED_FLAG
        return often, unsure

    def get(self, key: int) -> int:
        """What was noted of a URL; 0 if too many were noted since, or it was never met."""
        at, cells = (key & self.mask) * CELLS_PER_ROW, self.cells
        for place in (at, at + 2, at + 4):
            if cells[place] == key:
                return cells[place + 1] & ~REPEATED_FLAG
        return self.overflow.get(key, 0) & ~REPEATED_FLAG

    def is_new(self, key: int) -> bool:
        """Was this URL surely never noted?"""
        bits = BIT_PATTERNS[key >> PATTERN_SHIFT & PATTERN_COUNT - 1]
        return self.cells[(key & self.mask) * CELLS_PER_ROW + 6] & bits != bits

    def _grow(self) -> None:
        self.cells.extend(self.cells)
        self.mask = 2 * self.mask + 1
