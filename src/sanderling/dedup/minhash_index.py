"""Index of MinHash sketches (fingerprint/minhash.py) by locality-sensitive hashing.

Six bands of 16 bits are looked up exactly and with each single bit flipped, which finds 98.7 % of the texts with a
Jaccard similarity of 0.8; whole sketches are compared then.

64 bytes per page plus 3 MB (benchmarks/changes/duplicate_pairs.py). Chain heads are stored by upper and by lower byte
of a band, so that all heads with a flipped bit are in one array.
"""

from array import array
from collections.abc import Iterator
from operator import itemgetter
from struct import Struct as Layout

from msgspec import Struct

from sanderling.fingerprint.minhash import SKETCH_SIZE, compute_hamming_distance

BANDS, BAND_BITS = 6, 16
MIN_SIMILARITY = 0.65  # chosen by benchmarks/changes/near_duplicates.py
MAX_DISTANCE = 44  # bits; corresponds to MIN_SIMILARITY
GUARANTEED_DISTANCE = 2 * BANDS - 1  # bits; all pages within it are found
MAX_QUARTER_DISTANCE = 24  # of the first 64 bits: MAX_DISTANCE / 4 plus five standard errors
BYTE_VALUES = range(256)
# Getters for the entries at a byte with each single bit flipped, without and with the byte itself.
FLIPPED_BYTES = [itemgetter(*(byte ^ 1 << bit for bit in range(8))) for byte in BYTE_VALUES]
SAME_OR_FLIPPED_BYTES = [itemgetter(byte, *(byte ^ 1 << bit for bit in range(8))) for byte in BYTE_VALUES]
NO_PAGE = 0
MAX_COMPARISONS = 20_000  # per lookup; avoids quadratic time on a site with a million similar pages
_quarter_layout = Layout("<4Q")


class NearDuplicate(Struct, frozen=True):
    """Page and Hamming distance of its sketch."""

    page: int
    distance: int


class MinhashIndex:
    """Pages by sketch. Page ids are positive; empty pages (sketch 0) are not indexed."""

    def __init__(self) -> None:
        self.words = [array("Q", [0]) for _ in range(4)]  # 64-bit words of each sketch, by slot
        self.pages = array("Q", [NO_PAGE])
        # By band and upper byte, then by lower byte.
        self.heads = [[array("I", bytes(4 * len(BYTE_VALUES))) for _ in BYTE_VALUES] for _ in range(BANDS)]
        self.heads_by_lower = [[array("I", bytes(4 * len(BYTE_VALUES))) for _ in BYTE_VALUES] for _ in range(BANDS)]
        self.chains = [array("I", [0]) for _ in range(BANDS)]
        self.removed_count = 0

    def __len__(self) -> int:
        return len(self.pages) - 1 - self.removed_count

    @property
    def bytes_used(self) -> int:
        """Total size of all arrays."""
        heads = (head for heads in (*self.heads, *self.heads_by_lower) for head in heads)
        arrays = (*self.words, self.pages, *heads, *self.chains)
        return sum(item.buffer_info()[1] * item.itemsize for item in arrays)

    def add(self, page: int, sketch: int) -> int:
        """Add a page and return its slot (0: empty page).

        Discard the old sketch of a changed page first.
        """
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
        for slot in self._walk_chain(0, *_compute_bands(sketch)[0]):
            if self.pages[slot] == page and self.get_sketch(slot) == sketch:
                self.pages[slot] = NO_PAGE
                self.removed_count += 1
                break
        if self.removed_count * 4 > len(self.pages):
            self._rebuild()

    def get_sketch(self, slot: int) -> int:
        return int.from_bytes(_quarter_layout.pack(*(quarter[slot] for quarter in self.words)), "little")

    def find(self, sketch: int, max_distance: int = MAX_DISTANCE, flip_bits: bool = True) -> list[NearDuplicate]:
        """Return the pages within `max_distance` bits, nearest first.

        `flip_bits=False`: a tenth of the cost, 71 % recall at similarity 0.8.
        """
        return [NearDuplicate(page, bits) for bits, page, _ in sorted(self._find_near(sketch, max_distance, flip_bits))]

    def find_nearest(
        self, sketch: int, max_distance: int = MAX_DISTANCE, flip_bits: bool = True
    ) -> tuple[NearDuplicate, int] | None:
        """Return the nearest page and its slot, valid until a discard."""
        bits, page, slot = min(self._find_near(sketch, max_distance, flip_bits), default=(0, NO_PAGE, 0))
        return (NearDuplicate(page, bits), slot) if slot else None

    def _find_near(self, sketch: int, max_distance: int, flip_bits: bool) -> Iterator[tuple[int, int, int]]:
        """Yield distance, page and slot of near duplicates."""
        for slot in self._find_candidates(sketch, flip_bits) if sketch else ():
            bits = compute_hamming_distance(self.get_sketch(slot), sketch)
            if bits <= max_distance and self.pages[slot] != NO_PAGE:
                yield bits, self.pages[slot], slot

    def _find_candidates(self, sketch: int, flip_bits: bool) -> set[int]:
        """Return slots that share a band and have similar first 64 bits."""
        first_words, (first_word, *_) = self.words[0], _split_sketch(sketch)
        comparisons_left, candidates = MAX_COMPARISONS, set[int]()
        for band, (upper, lower) in enumerate(_compute_bands(sketch)):
            chain, head = self.chains[band], self.heads[band][upper]
            starts: tuple[int, ...] = (head[lower],)
            if flip_bits:
                starts = SAME_OR_FLIPPED_BYTES[lower](head) + FLIPPED_BYTES[upper](self.heads_by_lower[band][lower])
            for slot in filter(None, starts):  # most are empty
                while slot and comparisons_left:
                    comparisons_left -= 1
                    if (first_words[slot] ^ first_word).bit_count() <= MAX_QUARTER_DISTANCE:
                        candidates.add(slot)
                    slot = chain[slot]
        return candidates

    def _walk_chain(self, band: int, upper: int, lower: int) -> Iterator[int]:
        slot = self.heads[band][upper][lower]
        while slot:
            yield slot
            slot = self.chains[band][slot]

    def _rebuild(self) -> None:
        entries = [(page, self.get_sketch(slot)) for slot, page in enumerate(self.pages) if page != NO_PAGE]
        self.__init__()  # type: ignore[misc]
        for page, sketch in entries:
            self.add(page, sketch)


def _split_sketch(sketch: int) -> tuple[int, ...]:
    return _quarter_layout.unpack(sketch.to_bytes(SKETCH_SIZE, "little"))


def _compute_bands(sketch: int) -> list[tuple[int, int]]:
    """Return the (upper byte, lower byte) of each band."""
    parts = sketch.to_bytes(SKETCH_SIZE, "little")[: BANDS * BAND_BITS // 8]
    return list(zip(parts[1::2], parts[::2], strict=True))
