"""The structure of a page in at most 130 bytes: the blocks it is built of, in order; for every page, at crawl speed.

A block is an element that divides the page (`BLOCKS`), known by its classes, or by its tag where it has none. The
signature is the sequence of blocks, two bytes of hash each: the first `HEAD` and the last `TAIL` of the page, with two
zero bytes between them where something was left out. A page's ends are its template, its middle is mostly repetition.
Numbers are cut off classes, so that `row1` and `row2`, or `item:a51f` and `item:b302`, are one block.

What is compared are the *features* of a signature: which blocks there are, and which block follows which.
"""

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise

from xxhash import xxh32_digest

from sanderling.html.parser import Document
from sanderling.html.scanned_page import Glance

HEAD, TAIL = 50, 14  # blocks kept of the page's two ends
GAP = b"\0\0"
MAX_CACHE = 50_000
BLOCKS = (
    *("body", "main", "article", "section", "div", "nav", "header", "footer", "aside", "form", "fieldset"),
    *("table", "ul", "ol", "dl", "pre", "blockquote", "figure", "svg", "iframe", "hr"),
    *("h1", "h2", "h3", "h4", "h5", "h6"),
)
NUMBERED = re.compile(r"[:0-9].*")


class _Names(dict[str, bytes]):
    """Two bytes for each block name, remembered: a site repeats its names on every page."""

    def __missing__(self, name: str) -> bytes:
        if len(self) >= MAX_CACHE:
            self.clear()
        words = sorted({NUMBERED.sub("", word) for word in name.split()})
        digest = xxh32_digest(" ".join(words).encode("utf-8", "surrogatepass"))[:2]
        value = self[name] = digest if digest != GAP else b"\0\1"
        return value


_names = _Names()


def structure(page: Document | Glance) -> bytes:
    """Take the signature of a page."""
    if isinstance(page, Glance):
        return signature(page.blocks, len(page.blocks))
    blocks = list(page.iter_elements(BLOCKS))
    few = blocks if len(blocks) <= HEAD + TAIL else blocks[:HEAD] + blocks[-TAIL:]
    return signature([block.attr("class") or block.tag for block in few], len(blocks))


def signature(names: list[str], count: int) -> bytes:
    """Make a signature of the names of blocks, of how many there are; of many those at the ends are enough."""
    if count <= HEAD + TAIL:
        return b"".join(map(_names.__getitem__, names))
    return b"".join(map(_names.__getitem__, names[:HEAD])) + GAP + b"".join(map(_names.__getitem__, names[-TAIL:]))


def features(signature: bytes) -> frozenset[int]:
    """Read a signature: blocks as numbers below 65,536, neighbours as numbers above."""
    blocks = [signature[i] << 8 | signature[i + 1] for i in range(0, len(signature) - 1, 2)]
    neighbours = {left << 16 | right for left, right in pairwise(blocks) if left and right}
    return frozenset(neighbours.union(block for block in blocks if block))


def is_block(feature: int) -> bool:
    """Tell a block from a pair of neighbours."""
    return feature < 1 << 16


def pair(left: int, right: int) -> int:
    """The feature of one block following another."""
    return left << 16 | right


def neighbours_of(block: int, features: Iterable[int]) -> tuple[set[int], set[int]]:
    """The blocks that stand before and after one."""
    pairs = [feature for feature in features if not is_block(feature)]
    before = {feature >> 16 for feature in pairs if feature & 0xFFFF == block}
    return before, {feature & 0xFFFF for feature in pairs if feature >> 16 == block}


PLAIN = frozenset(int.from_bytes(_names[tag], "big") for tag in BLOCKS)


def is_plain(feature: int) -> bool:
    """Tell what is made of bare tags, as on any page of the web, from what a site names itself."""
    return feature & 0xFFFF in PLAIN and (feature < 1 << 16 or feature >> 16 in PLAIN)


def weighted(a: frozenset[int], b: frozenset[int], weights: Mapping[int, float], unknown: float) -> float:
    """Share of features two pages have in common, each counting as much as it is rare."""
    whole = sum(weights.get(feature, unknown) for feature in a | b)
    return sum(weights.get(feature, unknown) for feature in a & b) / whole if whole else 1.0


def likeness(a: frozenset[int], b: frozenset[int]) -> float:
    """Share of features two pages have in common, in [0, 1]."""
    union = len(a | b)
    return len(a & b) / union if union else 1.0
