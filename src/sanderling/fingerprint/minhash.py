"""Sketch a text in 256 bits, so that the Jaccard similarity of two texts can be estimated from their sketches.

The features are shingles of five words, each counted once (Broder 1997). One hash per shingle assigns it to one of 256
bins (one permutation hashing: Li, Owen, Zhang 2012); of the least hash of each bin one bit is kept (b-bit minwise
hashing: Li, König 2010). Bins that a short text leaves empty are filled by hashing its shingles again (fast similarity
sketching: Dahlgaard, Knudsen, Thorup 2017). Two sketches agree in a bit with probability (1 + J) / 2, so the standard
error of the estimate is at most 0.06. A simhash of 64 bits cannot tell a similarity of .5 from .8
(benchmarks/changes/near_duplicates.py).

`c/textmarks.c` computes the same sketch to the bit.
"""

import re
import string
from collections.abc import Sequence

from xxhash import xxh3_64_digest, xxh3_64_intdigest

BINS = 256  # bits of a sketch
SIZE = BINS // 8  # bytes of a sketch
SHINGLE = 5  # words
EMPTY = (1 << 64) - 1  # the value of a bin without a shingle
GOLDEN = 0x9E3779B97F4A7C15
MOST_REHASHES = 1 << 16  # after which bins stay empty; filling all bins takes about 256 ln 256 = 1,420 hashes
MOST_DISTINCT = 4096  # shingles that are hashed again; a text of more has a shingle in every bin
LETTERS = (string.ascii_lowercase + string.digits).encode()
ASCII_WORDS = bytes(c if c in LETTERS else ord(" ") for c in range(256))
LOWER = bytes.maketrans(string.ascii_uppercase.encode(), string.ascii_lowercase.encode())
INVISIBLE = re.compile(rb"\xc2\xad|\xe2\x80[\x8b-\x8f]")  # soft hyphens, zero-width characters, direction marks
# UTF-8 sequences: letters of alphabets form words; each character of a script written without blanks (Han, Kana,
# Thai, Lao, Tibetan, Burmese, Khmer), each of Hangul, and each emoji is a word. All others are punctuation and symbols.
WORD = re.compile(
    rb"(?:[a-z0-9]|[\xc3-\xdf][\x80-\xbf]|\xe0[\xa0-\xb7][\x80-\xbf]|\xe1[\x83-\x9d\xa0-\xbf][\x80-\xbf])+"
    rb"|\xe0[\xb8-\xbf][\x80-\xbf]|\xe1[\x80-\x82\x9e\x9f][\x80-\xbf]"
    rb"|\xe3[\x81-\xbf][\x80-\xbf]|[\xe4-\xed\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)


def sketch(text: str) -> bytes:
    """Sketch a text; one without words gives zeros. Case, punctuation, and blanks are ignored."""
    hashes = shingle_hashes(split_words(text))
    return _keep_bits(_fill_bins(hashes)) if hashes else bytes(SIZE)


def similarity(one: bytes, other: bytes) -> float:
    """Estimate the Jaccard similarity of two texts from their sketches; 0 if one is missing or their lengths differ.

    Collections of earlier versions hold a simhash of 8 bytes until a page is fetched again; two of those are compared
    in the same way.
    """
    if not one or len(one) != len(other):
        return 0.0
    bits = distance(int.from_bytes(one, "little"), int.from_bytes(other, "little"))
    return similarity_of_distance(bits, 8 * len(one))


def distance(one: int, other: int) -> int:
    """Count the bits in which two sketches differ."""
    return (one ^ other).bit_count()


def similarity_of_distance(bits: int, size: int = BINS) -> float:
    """Convert the Hamming distance of two sketches of `size` bits to an estimate of the Jaccard similarity."""
    return max(0.0, 1 - 2 * bits / size)


def split_words(text: str) -> list[bytes]:
    """Split a text into words in lower case; numbers are words: release notes may differ in nothing else."""
    raw = text.encode("utf-8", "replace").translate(LOWER)
    if raw.isascii():
        return raw.translate(ASCII_WORDS).split()
    return WORD.findall(INVISIBLE.sub(b"", raw))


def shingle_hashes(words: Sequence[bytes]) -> list[int]:
    """Hash the shingles of a text in their order; a text of fewer words than a shingle has is one shingle."""
    hashed = b"".join(map(xxh3_64_digest, words))
    width = 8 * SHINGLE
    starts = range(0, max(len(hashed) - width, 0) + 1, 8)
    return [xxh3_64_intdigest(hashed[start : start + width]) for start in starts] if words else []


def _fill_bins(hashes: Sequence[int]) -> list[int]:
    """Find the least hash of each bin; hash all shingles again as long as there are empty bins."""
    bins = [EMPTY] * BINS
    _take_least(bins, hashes)
    distinct = list(dict.fromkeys(hashes))[:MOST_DISTINCT]
    rehashes = seed = 0
    while EMPTY in bins and rehashes < MOST_REHASHES:
        seed += GOLDEN
        _take_least(bins, [_mix(value + seed & EMPTY) for value in distinct])
        rehashes += len(distinct)
    return bins


def _take_least(bins: list[int], values: Sequence[int]) -> None:
    """Set each empty bin to the least of the values that fall into it."""
    for number, value in {value >> 56: value for value in sorted(values, reverse=True)}.items():
        if bins[number] == EMPTY:
            bins[number] = value


def _mix(value: int) -> int:
    """Hash 64 bits (the finalizer of splitmix64)."""
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & EMPTY
    value = (value ^ value >> 27) * 0x94D049BB133111EB & EMPTY
    return value ^ value >> 31


def _keep_bits(bins: Sequence[int]) -> bytes:
    return sum((value & 1) << place for place, value in enumerate(bins)).to_bytes(SIZE, "little")
