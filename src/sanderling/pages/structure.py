"""The structure of a page in a few bytes: which blocks it is built of, hashed; made for every page, at crawl speed.

A signature is the sorted set of at most `LIMIT` feature hashes, four bytes each, little-endian. A feature is a block
element with its classes, or two such blocks following each other. Repetition counts for nothing, so a list of three
and a list of three hundred look alike. Of more features than fit the smallest hashes stay: the same sample on every
page (a bottom-k sketch), so two signatures can always be compared.
"""

import sys
from array import array
from itertools import islice, pairwise

from xxhash import xxh32_intdigest

from sanderling.pages.parse import Document

LIMIT = 96  # features kept
MAX_BLOCKS = 400  # looked at; what follows on a longer page repeats
MAX_CACHE = 100_000
BLOCKS = (
    *("body", "main", "article", "section", "div", "nav", "header", "footer", "aside", "form", "fieldset"),
    *("table", "ul", "ol", "dl", "pre", "blockquote", "figure", "svg", "iframe", "h1", "h2", "h3", "h4", "h5", "h6"),
)


class _Hashes(dict[object, int]):
    """Hash of each feature, remembered; a site repeats its features on every page."""

    def __missing__(self, feature: object) -> int:
        if len(self) >= MAX_CACHE:
            self.clear()
        value = self[feature] = xxh32_intdigest(repr(feature).encode("utf-8", "surrogatepass"))
        return value


_hashes = _Hashes()


def structure(tree: Document) -> bytes:
    """Take the signature of a page; empty for a page without blocks."""
    blocks = [(element.tag, element.attr("class")) for element in islice(tree.iter_elements(BLOCKS), MAX_BLOCKS)]
    features: set[object] = set(blocks)
    features.update(pairwise(blocks))
    return pack(map(_hashes.__getitem__, features))


def pack(features: "map[int] | set[int]") -> bytes:
    """Write the smallest hashes, sorted."""
    kept = array("I", sorted(features)[:LIMIT])
    if sys.byteorder == "big":
        kept.byteswap()
    return kept.tobytes()


def unpack(signature: bytes) -> frozenset[int]:
    """Read the feature hashes of a signature."""
    kept = array("I")
    kept.frombytes(signature[: len(signature) // 4 * 4])
    if sys.byteorder == "big":
        kept.byteswap()
    return frozenset(kept)
