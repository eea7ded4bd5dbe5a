"""Find near duplicates by look-up: pages whose sketches (fingerprint/minhash.py) differ in few bits.

Six bands of 16 bits of each sketch are indexed (locality-sensitive hashing). Each band is looked up as it is and with
each single bit flipped. So every sketch that differs in at most `SURE` bits is found, and of texts with a Jaccard
similarity of .8 a share of .987 (.998 at .85); candidates are then compared by their whole sketches. The chains are
arrays, not dictionaries: 64 bytes a page, and three megabytes to start with (benchmarks/changes/duplicate_pairs.py).
The first page of a chain is stored twice, by either byte of a band, so that all chains that differ in one bit of the
other byte are read at once.
"""

from array import array
from collections.abc import Iterator
from operator import itemgetter
from struct import Struct as Layout

from msgspec import Struct

from sanderling.fingerprint.minhash import SIZE, distance

BANDS, WIDTH = 6, 16
LEAST_SIMILARITY = 0.65  # of near duplicates; chosen by benchmarks/changes/near_duplicates.py
NEAR = 44  # bits: the distance at which the estimated similarity is LEAST_SIMILARITY
SURE = 2 * BANDS - 1  # bits up to which all pages are found
NEAR_QUARTER = 24  # bits of the first 64 by which candidates differ at most: NEAR / 4 and five standard errors
BYTES = range(256)
TURNED = [itemgetter(*(byte ^ 1 << bit for bit in range(8))) for byte in BYTES]  # a byte with each single bit turned
AROUND = [itemgetter(byte, *(byte ^ 1 << bit for bit in range(8))) for byte in BYTES]  # the same, and as it is
GONE = 0
MOST = 20_000  # sketches compared for one look-up: a site of a million pages that read alike must not cost their square
_quarters = Layout("<4Q")


class Twin(Struct, frozen=True):
    """A page that reads nearly the same, and in how many bits its mark differs."""

    page: int
    distance: int


class NearIndex:
    """Pages by their sketches; page numbers are positive, sketches of empty pages (0) are not kept."""

    def __init__(self) -> None:
        self.quarters = [array("Q", [0]) for _ in range(4)]  # of each sketch
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
        arrays = (*self.quarters, self.pages, *heads, *self.chains)
        return sum(one.buffer_info()[1] * one.itemsize for one in arrays)

    def add(self, page: int, mark: int) -> int:
        """Note a page, and give its slot; a page whose mark changed is discarded under its old one first."""
        if not mark:
            return 0
        slot = len(self.pages)
        for quarter, bits in zip(self.quarters, _split(mark), strict=True):
            quarter.append(bits)
        self.pages.append(page)
        for band, (upper, lower) in enumerate(_keys(mark)):
            head = self.heads[band][upper]
            self.chains[band].append(head[lower])
            head[lower] = self.heads_by_lower[band][lower][upper] = slot
        return slot

    def discard(self, page: int, mark: int) -> None:
        """Forget a page noted under this mark."""
        for slot in self._chain(0, *_keys(mark)[0]):
            if self.pages[slot] == page and self.sketch(slot) == mark:
                self.pages[slot] = GONE
                self.gone += 1
                break
        if self.gone * 4 > len(self.pages):
            self._rebuild()

    def sketch(self, slot: int) -> int:
        """Return the sketch of a slot."""
        return int.from_bytes(_quarters.pack(*(quarter[slot] for quarter in self.quarters)), "little")

    def find(self, mark: int, within: int = NEAR, is_wide: bool = True) -> list[Twin]:
        """Find the pages whose sketches differ in at most `within` bits, nearest first; up to `SURE` bits all of them.

        Without `is_wide` only equal bands are looked up: that costs a tenth, and finds .71 at a similarity of .8.
        """
        return [Twin(page, bits) for bits, page, _ in sorted(self._find(mark, within, is_wide))]

    def nearest(self, mark: int, within: int = NEAR, is_wide: bool = True) -> tuple[Twin, int] | None:
        """Find the page whose sketch differs least, and its slot, which is valid until a page is discarded."""
        bits, page, slot = min(self._find(mark, within, is_wide), default=(0, GONE, 0))
        return (Twin(page, bits), slot) if slot else None

    def _find(self, mark: int, within: int, is_wide: bool) -> Iterator[tuple[int, int, int]]:
        """Find pages that are near, each with its distance before it and its slot behind it."""
        for slot in self._candidates(mark, is_wide) if mark else ():
            bits = distance(self.sketch(slot), mark)
            if bits <= within and self.pages[slot] != GONE:
                yield bits, self.pages[slot], slot

    def _candidates(self, mark: int, is_wide: bool) -> set[int]:
        """Find the slots with a band in common whose first 64 bits are near."""
        first, (bits, *_), left, found = self.quarters[0], _split(mark), MOST, set[int]()
        for band, (upper, lower) in enumerate(_keys(mark)):
            chain, head = self.chains[band], self.heads[band][upper]
            starts: tuple[int, ...] = (head[lower],)
            if is_wide:
                starts = AROUND[lower](head) + TURNED[upper](self.heads_by_lower[band][lower])
            for slot in filter(None, starts):  # most are empty
                while slot and left:
                    left -= 1
                    if (first[slot] ^ bits).bit_count() <= NEAR_QUARTER:
                        found.add(slot)
                    slot = chain[slot]
        return found

    def _chain(self, band: int, upper: int, lower: int) -> Iterator[int]:
        slot = self.heads[band][upper][lower]
        while slot:
            yield slot
            slot = self.chains[band][slot]

    def _rebuild(self) -> None:
        kept = [(page, self.sketch(slot)) for slot, page in enumerate(self.pages) if page != GONE]
        self.__init__()  # type: ignore[misc]
        for page, mark in kept:
            self.add(page, mark)


def _split(mark: int) -> tuple[int, ...]:
    """Split a sketch into four numbers of 64 bits."""
    return _quarters.unpack(mark.to_bytes(SIZE, "little"))


def _keys(mark: int) -> list[tuple[int, int]]:
    """Return the bands of a sketch, each as its upper and its lower byte."""
    parts = mark.to_bytes(SIZE, "little")[: BANDS * WIDTH // 8]
    return list(zip(parts[1::2], parts[::2], strict=True))
