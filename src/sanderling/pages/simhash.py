"""A 64-bit mark of a page's text: pages that share most of their words differ in few bits (Charikar 2002).

The features are long words; a text that has hardly any counts its clauses too, cut at punctuation and line ends with
blanks and digits removed: as telling as both for every page (benchmarks/duplicates.py near) for half of the time.
Their hashes are counted bit by bit with carry-save adders on long integers, which needs no numpy and was measured
faster than it.
"""

import re
import string

from xxhash import xxh3_64_digest

BITS = 64
ALL = (1 << BITS) - 1
CUTS = b'.,;:!?()[]{}"|\r\x0b\x0c'
CAPITALS, SMALL = string.ascii_uppercase.encode(), string.ascii_lowercase.encode()  # Unicode's own cost too much
WORDS = bytes.maketrans(CAPITALS, SMALL)
CLAUSES = bytes.maketrans(CUTS + CAPITALS, b"\n" * len(CUTS) + SMALL)
TELLING = re.compile(rb"[^\n]{5,}")  # a clause that says something; shorter ones count only where there are no others
LONG = 8  # bytes of a word that says something by itself
ENOUGH = 32  # long words that tell a text apart without its clauses
STOPS = b".,;:()[]0123456789"
DROPPED = b" \t0123456789-_*'/"


def simhash(text: str) -> int:
    """Mark a text; an empty one is 0."""
    letters = text.encode(errors="replace")
    features = [word for word in letters.translate(WORDS, STOPS).split() if len(word) >= LONG]
    if len(features) < ENOUGH:
        clauses = letters.translate(CLAUSES, DROPPED)
        features += TELLING.findall(clauses) or clauses.split()
    if not features:
        return 0
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
