"""Sketch a text in 256 bits, so that the Jaccard similarity of two texts can be estimated from their sketches.

The features are shingles of five words, each counted once (Broder 1997). A hash assigns each shingle to one of 256 bins
(one permutation hashing: Li, Owen, Zhang 2012); one bit of the least hash of each bin is kept (b-bit minwise hashing:
Li, König 2010). Bins that a short text leaves empty are filled by hashing its shingles again (fast similarity
sketching: Dahlgaard, Knudsen, Thorup 2017). Two sketches agree in a bit with probability (1 + J) / 2: the standard
error is at most 0.06. A simhash of 64 bits cannot tell a similarity of .5 from .8
(benchmarks/changes/near_duplicates.py).

`html/_native/text_fingerprints.c` computes the same bits.
"""

import re
import string
from collections.abc import Sequence

from xxhash import xxh3_64_digest, xxh3_64_intdigest

from sanderling.html.native_tables import BINS, GOLDEN_RATIO, MAX_DISTINCT_SHINGLES, MAX_REHASHES, SHINGLE_WORDS

SKETCH_SIZE = BINS // 8  # bytes of a sketch
EMPTY_BIN = (1 << 64) - 1  # the value of a bin without a shingle
WORD_CHARACTERS = (string.ascii_lowercase + string.digits).encode()
ASCII_WORD_TABLE = bytes(c if c in WORD_CHARACTERS else ord(" ") for c in range(256))
LOWERCASE_TABLE = bytes.maketrans(string.ascii_uppercase.encode(), string.ascii_lowercase.encode())
# soft hyphens, zero-width characters, direction marks
INVISIBLE_CHARACTERS = re.compile(rb"\xc2\xad|\xe2\x80[\x8b-\x8f]")
# UTF-8 sequences: letters of alphabets form words; each character of a script written without spaces (Han, Kana,
# Thai, Lao, Tibetan, Burmese, Khmer), of Hangul, and each emoji is a word. All others are punctuation and symbols.
WORD_PATTERN = re.compile(
    rb"(?:[a-z0-9]|[\xc3-\xdf][\x80-\xbf]|\xe0[\xa0-\xb7][\x80-\xbf]|\xe1[\x83-\x9d\xa0-\xbf][\x80-\xbf])+"
    rb"|\xe0[\xb8-\xbf][\x80-\xbf]|\xe1[\x80-\x82\x9e\x9f][\x80-\xbf]"
    rb"|\xe3[\x81-\xbf][\x80-\xbf]|[\xe4-\xed\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)


def sketch_text(text: str) -> bytes:
    """Sketch a text, ignoring case, punctuation, and white space. No words: zeros."""
    hashes = hash_shingles(split_words(text))
    return _pack_low_bits(_fill_bins(hashes)) if hashes else bytes(SKETCH_SIZE)


def estimate_similarity(a: bytes, b: bytes) -> float:
    """Estimate the Jaccard similarity of two texts; 0 if a sketch is missing or the lengths differ.

    Old collections hold simhashes of 8 bytes, compared in the same way.
    """
    if not a or len(a) != len(b):
        return 0.0
    bits = compute_hamming_distance(int.from_bytes(a, "little"), int.from_bytes(b, "little"))
    return convert_distance_to_similarity(bits, 8 * len(a))


def compute_hamming_distance(a: int, b: int) -> int:
    return (a ^ b).bit_count()


def convert_distance_to_similarity(distance: int, size: int = BINS) -> float:
    """Convert a Hamming distance to an estimated Jaccard similarity."""
    return max(0.0, 1 - 2 * distance / size)


def split_words(text: str) -> list[bytes]:
    """Split a text into lower-case words and numbers."""
    raw = text.encode("utf-8", "replace").translate(LOWERCASE_TABLE)
    if raw.isascii():
        return raw.translate(ASCII_WORD_TABLE).split()
    return WORD_PATTERN.findall(INVISIBLE_CHARACTERS.sub(b"", raw))


def hash_shingles(words: Sequence[bytes]) -> list[int]:
    """Hash the shingles in order; a shorter text is a single shingle."""
    hashed = b"".join(map(xxh3_64_digest, words))
    width = 8 * SHINGLE_WORDS
    starts = range(0, max(len(hashed) - width, 0) + 1, 8)
    return [xxh3_64_intdigest(hashed[start : start + width]) for start in starts] if words else []


def _fill_bins(hashes: Sequence[int]) -> list[int]:
    """Find the least hash of each bin; rehash while there are empty bins."""
    bins = [EMPTY_BIN] * BINS
    _fill_empty_bins(bins, hashes)
    distinct = list(dict.fromkeys(hashes))[:MAX_DISTINCT_SHINGLES]
    rehashes = seed = 0
    while EMPTY_BIN in bins and rehashes < MAX_REHASHES:
        seed += GOLDEN_RATIO
        _fill_empty_bins(bins, [_mix_bits(value + seed & EMPTY_BIN) for value in distinct])
        rehashes += len(distinct)
    return bins


def _fill_empty_bins(bins: list[int], values: Sequence[int]) -> None:
    for number, value in {value >> 56: value for value in sorted(values, reverse=True)}.items():
        if bins[number] == EMPTY_BIN:
            bins[number] = value


def _mix_bits(value: int) -> int:
    """Hash 64 bits (the finalizer of splitmix64)."""
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & EMPTY_BIN
    value = (value ^ value >> 27) * 0x94D049BB133111EB & EMPTY_BIN
    return value ^ value >> 31


def _pack_low_bits(bins: Sequence[int]) -> bytes:
    return sum((value & 1) << position for position, value in enumerate(bins)).to_bytes(SKETCH_SIZE, "little")
