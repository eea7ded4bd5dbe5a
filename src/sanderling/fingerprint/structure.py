"""Structure fingerprint of a page in at most 130 bytes: its blocks in order.

A block is an element of `BLOCK_TAGS`, identified by its classes without numbers (`row1`, `item:a51f`), or by its tag,
and hashed to two bytes. Only the first `HEAD_BLOCKS` and last `TAIL_BLOCKS` are kept: the ends of a page are its
template, the middle is mostly repetition. The *features* compared are blocks and pairs of adjacent blocks.
"""

import re
from collections.abc import Mapping
from itertools import pairwise

from xxhash import xxh32_digest

from sanderling.html.native_tables import BLOCK_TAGS
from sanderling.html.parser import Document
from sanderling.html.scanned_page import ScanResult

HEAD_BLOCKS, TAIL_BLOCKS = 50, 14  # blocks kept at the start and end of a page
GAP_CODE = b"\0\0"
MAX_CACHED_CODES = 50_000
NUMBER_SUFFIX = re.compile(r"[:0-9].*")


class _BlockCodes(dict[str, bytes]):
    """Cache by block name: a site repeats its names."""

    def __missing__(self, name: str) -> bytes:
        if len(self) >= MAX_CACHED_CODES:
            self.clear()
        words = sorted({NUMBER_SUFFIX.sub("", word) for word in name.split()})
        digest = xxh32_digest(" ".join(words).encode("utf-8", "surrogatepass"))[:2]
        value = self[name] = digest if digest != GAP_CODE else b"\0\1"
        return value


_block_codes = _BlockCodes()


def fingerprint_structure(page: Document | ScanResult) -> bytes:
    if isinstance(page, ScanResult):
        return encode_blocks(page.structure_blocks, len(page.structure_blocks))
    blocks = list(page.iter_elements(BLOCK_TAGS))
    end_blocks = blocks if len(blocks) <= HEAD_BLOCKS + TAIL_BLOCKS else blocks[:HEAD_BLOCKS] + blocks[-TAIL_BLOCKS:]
    return encode_blocks([block.attr("class") or block.tag for block in end_blocks], len(blocks))


def encode_blocks(block_names: list[str], block_count: int) -> bytes:
    """Encode block names; only those at the ends are needed."""
    if block_count <= HEAD_BLOCKS + TAIL_BLOCKS:
        return b"".join(map(_block_codes.__getitem__, block_names))
    return (
        b"".join(map(_block_codes.__getitem__, block_names[:HEAD_BLOCKS]))
        + GAP_CODE
        + b"".join(map(_block_codes.__getitem__, block_names[-TAIL_BLOCKS:]))
    )


def decode_features(fingerprint: bytes) -> frozenset[int]:
    """Return blocks (numbers below 65,536) and adjacent pairs (above)."""
    blocks = [fingerprint[i] << 8 | fingerprint[i + 1] for i in range(0, len(fingerprint) - 1, 2)]
    pairs = {left << 16 | right for left, right in pairwise(blocks) if left and right}
    return frozenset(pairs.union(block for block in blocks if block))


def build_pair_feature(left: int, right: int) -> int:
    return left << 16 | right


def compute_weighted_similarity(
    a: frozenset[int], b: frozenset[int], weights: Mapping[int, float], default_weight: float
) -> float:
    """Return the weighted share of common features."""
    total = sum(weights.get(feature, default_weight) for feature in a | b)
    return sum(weights.get(feature, default_weight) for feature in a & b) / total if total else 1.0


def compute_feature_similarity(a: frozenset[int], b: frozenset[int]) -> float:
    """Return the share of common features, in [0, 1]."""
    union = len(a | b)
    return len(a & b) / union if union else 1.0
