"""Assert that fast comparison of versions equals comparison of full fingerprints."""

from msgspec.structs import replace

from sanderling.changes.fingerprint_diff import FingerprintDiff, diff_fingerprints
from sanderling.fingerprint.build import EMPTY_FINGERPRINT, fingerprint_page
from sanderling.fingerprint.fast.compare import PreviousVersion, build_comparison_fingerprints
from sanderling.fingerprint.fast.line_diff import FingerprintPair
from sanderling.fingerprint.fast.stable_hash import compute_stable_hash
from sanderling.fingerprint.model import decode_fingerprint
from sanderling.html.parser import parse_html


def as_found(truth: FingerprintDiff, found: FingerprintDiff) -> FingerprintDiff:
    """Return the expected diff; `main_content_size` only counts if main content differs."""
    return (
        truth
        if any(block.main for block in truth.blocks)
        else replace(truth, main_content_size=found.main_content_size)
    )


def pair_of(old: bytes, new: bytes, charset: str = "utf-8") -> FingerprintPair:
    """Return the fingerprints with which two versions are compared if no fingerprint is stored."""
    fingerprints = build_comparison_fingerprints(parse_html(new), new, PreviousVersion(old, charset))
    after = fingerprints.after or fingerprints.page or b""
    return FingerprintPair(decode_fingerprint(fingerprints.before or b""), decode_fingerprint(after))


def in_full(old: bytes, new: bytes) -> FingerprintDiff:
    """Diff two versions by their full fingerprints."""
    return diff_fingerprints(fingerprint_page(parse_html(old)), fingerprint_page(parse_html(new)))


def agree(old: bytes, new: bytes) -> FingerprintDiff:
    """Return the diff of two versions after asserting that all fast paths give the same."""
    truth = in_full(old, new)
    pair = pair_of(old, new)
    if pair.new.outline != EMPTY_FINGERPRINT.outline:
        assert pair.new == fingerprint_page(parse_html(new))
    found = diff_fingerprints(pair.old, pair.new)
    assert found == as_found(truth, found)
    if compute_stable_hash(old) and compute_stable_hash(old) == compute_stable_hash(new):
        assert truth == FingerprintDiff()
    return truth
