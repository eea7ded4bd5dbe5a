"""The marks by which two versions of a page are compared, made of what differs alone.

Most pages whose bytes differ have the tags they had: a time, a token, some words are others. Where that is so at a few
spots, it is seen at once. Else the trees are compared, and only the parts of a mark that can see how they differ are
made, of both versions. Comparing two such small marks gives what comparing two full ones would. Where tags came or went
the mark of the new version is a full one, and kept: at the next such change one mark is enough. So it is where the last
version is not at hand.
"""

from collections.abc import Set

from msgspec import Struct

from sanderling.fingerprint.build import EMPTY_FINGERPRINT, fingerprint_page
from sanderling.fingerprint.fast.byte_diff import find_page_edits
from sanderling.fingerprint.fast.common_affix import measure_common_prefix, measure_common_suffix
from sanderling.fingerprint.fast.line_diff import FingerprintPair
from sanderling.fingerprint.fast.partial_fingerprint import compare_edits, compare_trees
from sanderling.fingerprint.fast.stable_hash import compute_stable_hash
from sanderling.fingerprint.fast.tree_diff import (
    ALL_PARTS,
    UNKNOWN_RANGE,
    DifferenceRange,
    FingerprintPart,
    TreeDiff,
    diff_trees,
)
from sanderling.fingerprint.model import encode_fingerprint
from sanderling.html.parser import Document, parse_html
from sanderling.html.xhtml import expand_self_closed_tags

MAX_LOCATED_SIZE = 100_000  # bytes
EQUAL_PAIR = FingerprintPair(EMPTY_FINGERPRINT, EMPTY_FINGERPRINT)
UNCHANGED_FINGERPRINTS = {
    "before": encode_fingerprint(EMPTY_FINGERPRINT),
    "after": encode_fingerprint(EMPTY_FINGERPRINT),
}  # the marks of two versions that are alike


class PreviousVersion(Struct, frozen=True):
    """The last version of a page."""

    body: bytes  # empty if it is not at hand
    charset: str = ""
    has_fingerprint: bool = False  # its full mark is at hand elsewhere
    stable_hash: bytes = (
        b""  # of the version after it without what no mark sees, if nobody knows what was left of this one
    )


def build_comparison_fingerprints(tree: Document, body: bytes, previous: PreviousVersion) -> dict[str, bytes]:
    """Make the marks of a page that changed: `signature` is to be kept, `before` and `after` are to be compared."""
    if not previous.body:
        return {"signature": encode_fingerprint(fingerprint_page(tree))}
    pair = _compare_bytes(tree, body, previous)
    if pair is None:
        last, found = _parse_and_diff(
            tree, body, previous, {FingerprintPart.STRUCTURE} if previous.has_fingerprint else ALL_PARTS
        )
        if FingerprintPart.STRUCTURE in found.parts and previous.has_fingerprint:
            return {"signature": encode_fingerprint(fingerprint_page(tree))}
        pair = compare_trees(last, tree, found)
        if FingerprintPart.STRUCTURE in found.parts:
            return {"before": encode_fingerprint(pair.old), "signature": encode_fingerprint(pair.new)}
    marks = {"before": encode_fingerprint(pair.old), "after": encode_fingerprint(pair.new)}
    return marks | {"signature": b""} if previous.has_fingerprint and pair.old != pair.new else marks


def compare_versions(tree: Document, body: bytes, previous: PreviousVersion) -> FingerprintPair:
    """Compare a page with its last version by what differs."""
    pair = _compare_bytes(tree, body, previous)
    if pair is not None:
        return pair
    last, found = _parse_and_diff(tree, body, previous)
    return compare_trees(last, tree, found)


def _compare_bytes(tree: Document, body: bytes, previous: PreviousVersion) -> FingerprintPair | None:
    """Compare two versions that differ in nothing that a mark sees, or at a few spots; None if they differ in more."""
    if (tree.encoding or "").lower() != previous.charset:
        return None
    if (
        previous.stable_hash
        and _is_first_difference_markup(previous.body, body)
        and previous.stable_hash == compute_stable_hash(previous.body)
    ):
        return EQUAL_PAIR
    found = find_page_edits(tree, previous.body, body)
    return None if found is None else compare_edits(tree, found)


def _is_first_difference_markup(old_body: bytes, new_body: bytes) -> bool:
    """Say whether two versions differ first in a tag, a script or a comment; where they do in words, it is seen."""
    at = measure_common_prefix(old_body, new_body)
    tag = new_body.rfind(b"<", 0, at + 1)
    return new_body.rfind(b">", 0, at) < tag or new_body.startswith((b"<script", b"<!--"), tag)


def _parse_and_diff(
    tree: Document, body: bytes, previous: PreviousVersion, stop_parts: Set[FingerprintPart] = ALL_PARTS
) -> tuple[Document, TreeDiff]:
    """Parse the last version of a page, and find where it differs, until some parts of a mark are known to see it."""
    old, new = expand_self_closed_tags(previous.body), expand_self_closed_tags(body)  # as trees are made
    last = parse_html(old, previous.charset, positions=True)
    return last, diff_trees(last, tree, max(len(new), len(old)), _locate_differences(old, new), stop_parts)


def _locate_differences(old_body: bytes, new_body: bytes) -> DifferenceRange:
    """Find the first and the last place at which two bodies differ, unless counting lines costs more than it saves."""
    if len(old_body) > MAX_LOCATED_SIZE:
        return UNKNOWN_RANGE
    start = measure_common_prefix(old_body, new_body)
    end = len(old_body) - measure_common_suffix(old_body, new_body, min(len(old_body), len(new_body)) - start)
    line = old_body.count(b"\n", 0, start) + 1
    return DifferenceRange(
        (line, _get_column(old_body, start)), (line + old_body.count(b"\n", start, end), _get_column(old_body, end))
    )


def _get_column(body: bytes, offset: int) -> int:
    return offset - body.rfind(b"\n", 0, offset) - 1
