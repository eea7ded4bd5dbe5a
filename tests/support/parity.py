"""Assert that fast comparison of versions equals comparison of full fingerprints."""

from msgspec.structs import replace

from sanderling.changes.fingerprint_diff import FingerprintDiff, diff_fingerprints
from sanderling.fingerprint.build import EMPTY_FINGERPRINT, fingerprint_page
from sanderling.fingerprint.fast.compare import PreviousVersion, compare_versions
from sanderling.fingerprint.fast.line_diff import FingerprintPair
from sanderling.fingerprint.fast.partial_fingerprint import compare_trees
from sanderling.fingerprint.fast.stable_hash import compute_stable_hash
from sanderling.fingerprint.fast.tree_diff import diff_trees
from sanderling.html.parser import parse_html


def as_found(truth: FingerprintDiff, found: FingerprintDiff) -> FingerprintDiff:
    """Return the expected diff; `main_content_size` only counts if main content differs."""
    return (
        truth
        if any(block.main for block in truth.blocks)
        else replace(truth, main_content_size=found.main_content_size)
    )


def pair_of(old: bytes, new: bytes) -> FingerprintPair:
    return compare_versions(parse_html(new), new, PreviousVersion(old, "utf-8"))


def _by_trees(old: bytes, new: bytes) -> FingerprintPair:
    last, tree = parse_html(old), parse_html(new)
    return compare_trees(last, tree, diff_trees(last, tree, len(new)))


def in_full(old: bytes, new: bytes) -> FingerprintDiff:
    """Diff two versions by their full fingerprints."""
    return diff_fingerprints(fingerprint_page(parse_html(old)), fingerprint_page(parse_html(new)))


def agree(old: bytes, new: bytes) -> FingerprintDiff:
    """Return the diff of two versions after asserting that all fast paths give the same."""
    truth = in_full(old, new)
    for pair in (pair_of(old, new), _by_trees(old, new)):
        if pair.new.outline != EMPTY_FINGERPRINT.outline:
            assert pair.new == fingerprint_page(parse_html(new))
        found = diff_fingerprints(pair.old, pair.new)
        assert found == as_found(truth, found)
    if compute_stable_hash(old) and compute_stable_hash(old) == compute_stable_hash(new):
        assert truth == FingerprintDiff()
    return truth
