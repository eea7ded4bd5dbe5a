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

from sanderling.fingerprint.minhash import SKETCH_SIZE, compute_hamming_distance

BANDS, BAND_BITS = 6, 16
MIN_SIMILARITY = 0.65  # of near duplicates; chosen by benchmarks/changes/near_duplicates.py
MAX_DISTANCE = 44  # bits: the distance at which the estimated similarity is LEAST_SIMILARITY
GUARANTEED_DISTANCE = 2 * BANDS - 1  # bits up to which all pages are found
MAX_QUARTER_DISTANCE = 24  # bits of the first 64 by which candidates differ at most: NEAR / 4 and five standard errors
BYTE_VALUES = range(256)
FLIPPED_BYTES = [
    itemgetter(*(byte ^ 1 << bit for bit in range(8))) for byte in BYTE_VALUES
]  # a byte with each single bit turned
SAME_OR_FLIPPED_BYTES = [
    itemgetter(byte, *(byte ^ 1 << bit for bit in range(8))) for byte in BYTE_VALUES
]  # the same, and as it is
NO_PAGE = 0
MAX_COMPARISONS = (
    20_000  # sketches compared for one look-up: a site of a million pages that read alike must not cost their square
)
_quarter_layout = Layout("<4Q")


class NearDuplicate(Struct, frozen=True):
    """A page that reads nearly the same, and in how many bits its mark differs."""

    page: int
    distance: int


class MinhashIndex:
    """Pages by their sketches; page numbers are positive, sketches of empty pages (0) are not kept."""

    def __init__(self) -> None:
        self.words = [array("Q", [0]) for _ in range(4)]  # of each sketch
        self.pages = array("Q", [NO_PAGE])
        self.heads = [
            [array("I", bytes(4 * len(BYTE_VALUES))) for _ in BYTE_VALUES] for _ in range(BANDS)
        ]  # by the upper byte
        self.heads_by_lower = [[array("I", bytes(4 * len(BYTE_VALUES))) for _ in BYTE_VALUES] for _ in range(BANDS)]
        self.chains = [array("I", [0]) for _ in range(BANDS)]
        self.removed_count = 0

    def __len__(self) -> int:
        return len(self.pages) - 1 - self.removed_count

    @property
    def bytes_used(self) -> int:
        """Add up the memory of all arrays."""
        heads = (head for heads in (*self.heads, *self.heads_by_lower) for head in heads)
        arrays = (*self.words, self.pages, *heads, *self.chains)
        return sum(one.buffer_info()[1] * one.itemsize for one in arrays)

    def add(self, page: int, sketch: int) -> int:
        """Note a page, and give its slot; a page whose mark changed is discarded under its old one first."""
        if not sketch:
            return 0
        slot = len(self.pages)
        for quarter, bits in zip(self.words, _split_sketch(sketch), strict=True):
            quarter.append(bits)
        self.pages.append(page)
        for band, (upper, lower) in enumerate(_compute_bands(sketch)):
            head = self.heads[band][upper]
            self.chains[band].append(head[lower])
            head[lower] = self.heads_by_lower[band][lower][upper] = slot
        return slot

    def discard(self, page: int, sketch: int) -> None:
        """Forget a page noted under this mark."""
        for slot in self._walk_chain(0, *_compute_bands(sketch)[0]):
            if self.pages[slot] == page and self.get_sketch(slot) == sketch:
                self.pages[slot] = NO_PAGE
                self.removed_count += 1
                break
        if self.removed_count * 4 > len(self.pages):
            self._rebuild()

    def get_sketch(self, slot: int) -> int:
        """Return the sketch of a slot."""
        return int.from_bytes(_quarter_layout.pack(*(quarter[slot] for quarter in self.words)), "little")

    def find(self, sketch: int, max_distance: int = MAX_DISTANCE, flip_bits: bool = True) -> list[NearDuplicate]:
        """Find the pages whose sketches differ in at most `within` bits, nearest first; up to `SURE` bits all of them.

        Without `is_wide` only equal bands are looked up: that costs a tenth, and finds .71 at a similarity of .8.
        """
        return [NearDuplicate(page, bits) for bits, page, _ in sorted(self._find_near(sketch, max_distance, flip_bits))]

    def find_nearest(
        self, sketch: int, max_distance: int = MAX_DISTANCE, flip_bits: bool = True
    ) -> tuple[NearDuplicate, int] | None:
        """Find the page whose sketch differs least, and its slot, which is valid until a page is discarded."""
        bits, page, slot = min(self._find_near(sketch, max_distance, flip_bits), default=(0, NO_PAGE, 0))
        return (NearDuplicate(page, bits), slot) if slot else None

    def _find_near(self, sketch: int, max_distance: int, flip_bits: bool) -> Iterator[tuple[int, int, int]]:
        """Find pages that are near, each with its distance before it and its slot behind it."""
        for slot in self._find_candidates(sketch, flip_bits) if sketch else ():
            bits = compute_hamming_distance(self.get_sketch(slot), sketch)
            if bits <= max_distance and self.pages[slot] != NO_PAGE:
                yield bits, self.pages[slot], slot

    def _find_candidates(self, sketch: int, flip_bits: bool) -> set[int]:
        """Find the slots with a band in common whose first 64 bits are near."""
        first, (bits, *_), left, found = self.words[0], _split_sketch(sketch), MAX_COMPARISONS, set[int]()
        for band, (upper, lower) in enumerate(_compute_bands(sketch)):
            chain, head = self.chains[band], self.heads[band][upper]
            starts: tuple[int, ...] = (head[lower],)
            if flip_bits:
                starts = SAME_OR_FLIPPED_BYTES[lower](head) + FLIPPED_BYTES[upper](self.heads_by_lower[band][lower])
            for slot in filter(None, starts):  # most are empty
                while slot and left:
                    left -= 1
                    if (first[slot] ^ bits).bit_count() <= MAX_QUARTER_DISTANCE:
                        found.add(slot)
                    slot = chain[slot]
        return found

    def _walk_chain(self, band: int, upper: int, lower: int) -> Iterator[int]:
        slot = self.heads[band][upper][lower]
        while slot:
            yield slot
            slot = self.chains[band][slot]

    def _rebuild(self) -> None:
        kept = [(page, self.get_sketch(slot)) for slot, page in enumerate(self.pages) if page != NO_PAGE]
        self.__init__()  # type: ignore[misc]
        for page, mark in kept:
            self.add(page, mark)


def _split_sketch(sketch: int) -> tuple[int, ...]:
    """Split a sketch into four numbers of 64 bits."""
    return _quarter_layout.unpack(sketch.to_bytes(SKETCH_SIZE, "little"))


def _compute_bands(sketch: int) -> list[tuple[int, int]]:
    """Return the bands of a sketch, each as its upper and its lower byte."""
    parts = sketch.to_bytes(SKETCH_SIZE, "little")[: BANDS * BAND_BITS // 8]
    return list(zip(parts[1::2], parts[::2], strict=True))
