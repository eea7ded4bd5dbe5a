"""Near duplicates by look-up: pages whose 64-bit marks differ in few bits, found without comparing all pairs.

A mark is cut into four bands of 16 bits. Two marks that differ in at most seven bits have a band in which they differ
in one bit at the most (7 < 4 x 2), so looking up each band as it is and with each single bit turned finds them all; of
those eight bits apart it finds 95 %, of those nine bits apart 86 %. The chains are arrays, not dictionaries: 32 bytes a
page, and two megabytes to start with (benchmarks/duplicates.py). Where a chain begins is written down twice, by either
byte of a band, so that all beginnings that differ in one bit of the other byte are read at once.
"""

from array import array
from collections.abc import Iterator
from operator import itemgetter

from msgspec import Struct

from sanderling.pages.simhash import distance

BANDS, WIDTH = 4, 16
NEAR = 9  # bits; the best between two versions of a page and two pages of a template, benchmarks/duplicates.py
SURE = 7  # bits up to which nothing is missed
BYTES = range(256)
TURNED = [itemgetter(*(byte ^ 1 << bit for bit in range(8))) for byte in BYTES]  # a byte with each single bit turned
AROUND = [itemgetter(byte, *(byte ^ 1 << bit for bit in range(8))) for byte in BYTES]  # the same, and as it is
GONE = 0
MOST = 20_000  # marks compared for one look-up: a site of a million pages that read alike must not cost their square


class Twin(Struct, frozen=True):
    """A page that reads nearly the same, and in how many bits its mark differs."""

    page: int
    distance: int


class NearIndex:
    """Pages by their marks; page numbers are positive, marks of empty pages (0) are not kept."""

    def __init__(self) -> None:
        self.marks = array("Q", [0])
        self.pages = array("Q", [GONE])
        self.heads = [[array("I", bytes(4 * len(BYTES))) for _ in BYTES] for _ in range(BANDS)]  # by the upper byte
        self.heads_by_lower = [[array("I", bytes(4 * len(BYTES))) for _ in BYTES] for _ in range(BANDS)]
        self.chains = [array("I", [0]) for _ in range(BANDS)]
        self.gone = 0

    def __len__(self) -> int:
        return len(self.pages) - 1 - self.gone

    @property
    def bytes_used(self) -> int:
        """Add up the memory of all arrays."""
        heads = (head for heads in (*self.heads, *self.heads_by_lower) for head in heads)
        arrays = (self.marks, self.pages, *heads, *self.chains)
        return sum(one.buffer_info()[1] * one.itemsize for one in arrays)

    def add(self, page: int, mark: int) -> int:
        """Note a page, and give its slot; a page whose mark changed is discarded under its old one first."""
        if not mark:
            return 0
        slot = len(self.pages)
        self.marks.append(mark)
        self.pages.append(page)
        for band, (upper, lower) in enumerate(_keys(mark)):
            head = self.heads[band][upper]
            self.chains[band].append(head[lower])
            head[lower] = self.heads_by_lower[band][lower][upper] = slot
        return slot

    def discard(self, page: int, mark: int) -> None:
        """Forget a page noted under this mark."""
        for slot in self._chain(0, *_keys(mark)[0]):
            if self.marks[slot] == mark and self.pages[slot] == page:
                self.pages[slot] = GONE
                self.gone += 1
                break
        if self.gone * 4 > len(self.pages):
            self._rebuild()

    def find(self, mark: int, within: int = NEAR) -> list[Twin]:
        """Find the pages whose marks differ in at most `within` bits, nearest first; up to `SURE` bits all of them."""
        return [Twin(page, bits) for bits, page, _ in sorted(self._find(mark, within))]

    def nearest(self, mark: int, within: int = NEAR) -> tuple[Twin, int] | None:
        """Find the page whose mark differs least, and its slot; that stays as long as no page is discarded."""
        bits, page, slot = min(self._find(mark, within), default=(0, GONE, 0))
        return (Twin(page, bits), slot) if slot else None

    def _find(self, mark: int, within: int) -> Iterator[tuple[int, int, int]]:
        """Find pages that are near, each with its distance before it and its slot behind it."""
        if not mark:
            return iter(())
        marks, left, seen = self.marks, MOST, set()
        for band, (upper, lower) in enumerate(_keys(mark)):
            chain, head = self.chains[band], self.heads[band][upper]
            if within >= BANDS:
                starts = AROUND[lower](head) + TURNED[upper](self.heads_by_lower[band][lower])
            else:
                starts = (head[lower],)
            for slot in filter(None, starts):  # most are empty
                while slot and left:
                    left -= 1
                    if (marks[slot] ^ mark).bit_count() <= within:
                        seen.add(slot)
                    slot = chain[slot]
        return ((distance(marks[slot], mark), self.pages[slot], slot) for slot in seen if self.pages[slot] != GONE)

    def _chain(self, band: int, upper: int, lower: int) -> Iterator[int]:
        slot = self.heads[band][upper][lower]
        while slot:
            yield slot
            slot = self.chains[band][slot]

    def _rebuild(self) -> None:
        kept = [(page, mark) for page, mark in zip(self.pages, self.marks, strict=True) if page != GONE]
        self.__init__()  # type: ignore[misc]
        for page, mark in kept:
            self.add(page, mark)


def _keys(mark: int) -> list[tuple[int, int]]:
    """The bands of a mark, each as its upper and its lower byte."""
    parts = mark.to_bytes(BANDS * WIDTH // 8, "little")
    return list(zip(parts[1::2], parts[::2], strict=True))
