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
from sanderling.html.scanned_page import ScanResult

HEAD_BLOCKS, TAIL_BLOCKS = 50, 14  # blocks kept of the page's two ends
GAP_CODE = b"\0\0"
MAX_CACHED_CODES = 50_000
BLOCK_TAGS = (
    *("body", "main", "article", "section", "div", "nav", "header", "footer", "aside", "form", "fieldset"),
    *("table", "ul", "ol", "dl", "pre", "blockquote", "figure", "svg", "iframe", "hr"),
    *("h1", "h2", "h3", "h4", "h5", "h6"),
)
NUMBER_SUFFIX = re.compile(r"[:0-9].*")


class _BlockCodes(dict[str, bytes]):
    """Two bytes for each block name, remembered: a site repeats its names on every page."""

    def __missing__(self, name: str) -> bytes:
        if len(self) >= MAX_CACHED_CODES:
            self.clear()
        words = sorted({NUMBER_SUFFIX.sub("", word) for word in name.split()})
        digest = xxh32_digest(" ".join(words).encode("utf-8", "surrogatepass"))[:2]
        value = self[name] = digest if digest != GAP_CODE else b"\0\1"
        return value


_block_codes = _BlockCodes()


def fingerprint_structure(page: Document | ScanResult) -> bytes:
    """Take the signature of a page."""
    if isinstance(page, ScanResult):
        return encode_blocks(page.structure_blocks, len(page.structure_blocks))
    blocks = list(page.iter_elements(BLOCK_TAGS))
    few = blocks if len(blocks) <= HEAD_BLOCKS + TAIL_BLOCKS else blocks[:HEAD_BLOCKS] + blocks[-TAIL_BLOCKS:]
    return encode_blocks([block.attr("class") or block.tag for block in few], len(blocks))


def encode_blocks(block_names: list[str], block_count: int) -> bytes:
    """Make a signature of the names of blocks, of how many there are; of many those at the ends are enough."""
    if block_count <= HEAD_BLOCKS + TAIL_BLOCKS:
        return b"".join(map(_block_codes.__getitem__, block_names))
    return (
        b"".join(map(_block_codes.__getitem__, block_names[:HEAD_BLOCKS]))
        + GAP_CODE
        + b"".join(map(_block_codes.__getitem__, block_names[-TAIL_BLOCKS:]))
    )


def decode_features(fingerprint: bytes) -> frozenset[int]:
    """Read a signature: blocks as numbers below 65,536, neighbours as numbers above."""
    blocks = [fingerprint[i] << 8 | fingerprint[i + 1] for i in range(0, len(fingerprint) - 1, 2)]
    neighbours = {left << 16 | right for left, right in pairwise(blocks) if left and right}
    return frozenset(neighbours.union(block for block in blocks if block))


def is_block_feature(feature: int) -> bool:
    """Tell a block from a pair of neighbours."""
    return feature < 1 << 16


def build_pair_feature(left: int, right: int) -> int:
    """The feature of one block following another."""
    return left << 16 | right


def find_neighbors(block: int, features: Iterable[int]) -> tuple[set[int], set[int]]:
    """The blocks that stand before and after one."""
    pairs = [feature for feature in features if not is_block_feature(feature)]
    before = {feature >> 16 for feature in pairs if feature & 0xFFFF == block}
    return before, {feature & 0xFFFF for feature in pairs if feature >> 16 == block}


PLAIN_TAG_CODES = frozenset(int.from_bytes(_block_codes[tag], "big") for tag in BLOCK_TAGS)


def is_plain_feature(feature: int) -> bool:
    """Tell what is made of bare tags, as on any page of the web, from what a site names itself."""
    return feature & 0xFFFF in PLAIN_TAG_CODES and (feature < 1 << 16 or feature >> 16 in PLAIN_TAG_CODES)


def compute_weighted_similarity(
    a: frozenset[int], b: frozenset[int], weights: Mapping[int, float], default_weight: float
) -> float:
    """Share of features two pages have in common, each counting as much as it is rare."""
    whole = sum(weights.get(feature, default_weight) for feature in a | b)
    return sum(weights.get(feature, default_weight) for feature in a & b) / whole if whole else 1.0


def compute_feature_similarity(a: frozenset[int], b: frozenset[int]) -> float:
    """Share of features two pages have in common, in [0, 1]."""
    union = len(a | b)
    return len(a & b) / union if union else 1.0
