"""A 64-bit mark of a page's text: pages that share most of their text differ in few bits (Charikar 2002).

The features are the pieces of the letters between one `t` and the next: about a dozen letters each, cut by the text
itself, so that an edit moves one or two of them, whatever its length. They tell more than words do and cost half
(benchmarks/duplicates.py near). A text in which `t` is rare, as in other scripts, is cut into words and clauses.
Their hashes are counted bit by bit with carry-save adders on long integers, which needs no numpy and was measured
faster than it.
"""

import re
import string

from xxhash import xxh3_64_digest

from sanderling.pages.text import dense

BITS = 64
ALL = (1 << BITS) - 1
CAPITALS, SMALL = string.ascii_uppercase.encode(), string.ascii_lowercase.encode()  # Unicode's own cost too much
LOWER = bytes.maketrans(CAPITALS, SMALL)
NO_LETTERS = string.digits.encode() + string.punctuation.encode()
RARE = 48  # bytes between two cuts, above which a text is written in another script
CUTS = b'.,;:!?()[]{}"|\r\x0b\x0c'
CLAUSES = bytes.maketrans(CUTS + CAPITALS, b"\n" * len(CUTS) + SMALL)
TELLING = re.compile(rb"[^\n]{5,}")  # a clause that says something; shorter ones count only where there are no others
DROPPED = b" \t0123456789-_*'/"


def simhash(text: str, letters: bytes = b"") -> int:
    """Mark a text; an empty one is 0. `letters` is the text as `dense` writes it, if somebody has that already."""
    letters = (letters or dense(text)).translate(LOWER, NO_LETTERS)
    if not letters:
        return 0
    features = letters.split(b"t")
    if len(letters) > RARE * len(features):
        raw = text.encode(errors="replace")
        clauses = raw.translate(CLAUSES, DROPPED)
        features = raw.translate(LOWER, NO_LETTERS).split() + (TELLING.findall(clauses) or clauses.split())
    return majority(b"".join(map(xxh3_64_digest, features)), len(features))


def distance(one: int, other: int) -> int:
    """Count the bits in which two marks differ."""
    return (one ^ other).bit_count()


def majority(words: bytes, count: int) -> int:
    """Say for each of the 64 bits whether more than half of `count` words of 8 bytes have it set."""
    planes, left = [int.from_bytes(words, "little")], count
    while left > 1:
        planes, left = _halve(planes, left)
    above, level = 0, ALL
    for place in range(len(planes) - 1, -1, -1):
        if count >> 1 >> place & 1:
            level &= planes[place]
        else:
            above |= level & planes[place]
            level &= ~planes[place]
    return above


def _halve(planes: list[int], left: int) -> tuple[list[int], int]:
    """Add the upper half of the words to the lower; plane k holds the bits worth 2**k of all counters."""
    low = left - (left >> 1)
    shift = BITS * low
    mask = (1 << shift) - 1
    carry, sums = 0, []
    for plane in planes:
        one, other = plane & mask, plane >> shift
        half = one ^ other
        sums.append(half ^ carry)
        carry = (one & other) | (half & carry)
    sums.append(carry)
    return sums, low
