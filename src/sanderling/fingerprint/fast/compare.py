"""Build the fingerprints with which two page versions are compared, from their differences alone.

- A few edits of texts, scripts, and ignored markup are located in the bytes (`byte_diff`).
- Otherwise the trees are compared (`tree_diff`), and only affected parts are built (`partial_fingerprint`).
- If tags changed, or the old version is missing, the new fingerprint is complete and stored for the next change.
"""

from collections.abc import Set

from msgspec import Struct

from sanderling.fingerprint.build import EMPTY_FINGERPRINT, fingerprint_page
from sanderling.fingerprint.fast.byte_diff import find_page_edits
from sanderling.fingerprint.fast.common_affix import measure_common_prefix, measure_common_suffix
from sanderling.fingerprint.fast.fingerprint_parts import ALL_PARTS, FingerprintPart
from sanderling.fingerprint.fast.line_diff import FingerprintPair
from sanderling.fingerprint.fast.partial_fingerprint import compare_edits, compare_trees
from sanderling.fingerprint.fast.stable_hash import compute_stable_hash
from sanderling.fingerprint.fast.tree_diff import UNKNOWN_RANGE, DifferenceRange, TreeDiff, diff_trees
from sanderling.fingerprint.model import encode_fingerprint
from sanderling.html.parser import Document, parse_html
from sanderling.html.xhtml import expand_self_closed_tags

MAX_LOCATED_SIZE = 100_000  # bytes; counting lines of a larger page costs more than it saves
EQUAL_PAIR = FingerprintPair(EMPTY_FINGERPRINT, EMPTY_FINGERPRINT)
UNCHANGED_FINGERPRINTS = {
    "before": encode_fingerprint(EMPTY_FINGERPRINT),
    "after": encode_fingerprint(EMPTY_FINGERPRINT),
}  # of two versions without visible differences


class PreviousVersion(Struct, frozen=True):
    body: bytes  # empty: not available
    charset: str = ""
    has_fingerprint: bool = False  # its full fingerprint is stored
    stable_hash: bytes = b""  # of the version after it; set if that of this version is unknown


def build_comparison_fingerprints(tree: Document, body: bytes, previous: PreviousVersion) -> dict[str, bytes]:
    """Build the fingerprint to store (`signature`) and those to compare (`before`, `after`)."""
    if not previous.body:
        return {"signature": encode_fingerprint(fingerprint_page(tree))}
    pair = _compare_bytes(tree, body, previous)
    if pair is None:
        old_tree, tree_diff = _parse_and_diff(
            tree, body, previous, {FingerprintPart.STRUCTURE} if previous.has_fingerprint else ALL_PARTS
        )
        if FingerprintPart.STRUCTURE in tree_diff.parts and previous.has_fingerprint:
            return {"signature": encode_fingerprint(fingerprint_page(tree))}
        pair = compare_trees(old_tree, tree, tree_diff)
        if FingerprintPart.STRUCTURE in tree_diff.parts:
            return {"before": encode_fingerprint(pair.old), "signature": encode_fingerprint(pair.new)}
    fingerprints = {"before": encode_fingerprint(pair.old), "after": encode_fingerprint(pair.new)}
    return fingerprints | {"signature": b""} if previous.has_fingerprint and pair.old != pair.new else fingerprints


def compare_versions(tree: Document, body: bytes, previous: PreviousVersion) -> FingerprintPair:
    pair = _compare_bytes(tree, body, previous)
    if pair is not None:
        return pair
    old_tree, tree_diff = _parse_and_diff(tree, body, previous)
    return compare_trees(old_tree, tree, tree_diff)


def _compare_bytes(tree: Document, body: bytes, previous: PreviousVersion) -> FingerprintPair | None:
    """Compare versions with few or invisible differences.

    None: they differ in more.
    """
    if (tree.encoding or "").lower() != previous.charset:
        return None
    if (
        previous.stable_hash
        and _is_first_difference_markup(previous.body, body)
        and previous.stable_hash == compute_stable_hash(previous.body)
    ):
        return EQUAL_PAIR
    edits = find_page_edits(tree, previous.body, body)
    return None if edits is None else compare_edits(tree, edits)


def _is_first_difference_markup(old_body: bytes, new_body: bytes) -> bool:
    """Return whether the first difference is not in text, which would be visible."""
    at = measure_common_prefix(old_body, new_body)
    tag = new_body.rfind(b"<", 0, at + 1)
    return new_body.rfind(b">", 0, at) < tag or new_body.startswith((b"<script", b"<!--"), tag)


def _parse_and_diff(
    tree: Document, body: bytes, previous: PreviousVersion, stop_parts: Set[FingerprintPart] = ALL_PARTS
) -> tuple[Document, TreeDiff]:
    old, new = expand_self_closed_tags(previous.body), expand_self_closed_tags(body)  # as the parser gets them
    old_tree = parse_html(old, previous.charset, positions=True)
    return old_tree, diff_trees(old_tree, tree, max(len(new), len(old)), _locate_differences(old, new), stop_parts)


def _locate_differences(old_body: bytes, new_body: bytes) -> DifferenceRange:
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
