"""What two ways of comparing have to say alike."""

from msgspec.structs import replace

from sanderling.changes.diff import Difference, difference
from sanderling.fingerprint.build import NOTHING, sign
from sanderling.fingerprint.fast.compare import Before, compare
from sanderling.fingerprint.fast.line_diff import Pair
from sanderling.fingerprint.fast.partial_fingerprint import compare_trees
from sanderling.fingerprint.fast.stable_hash import sift
from sanderling.fingerprint.fast.tree_diff import look
from sanderling.html.parser import parse


def as_found(truth: Difference, found: Difference) -> Difference:
    """What is to be found: how much main content there is counts only where some of it differs."""
    return truth if any(block.main for block in truth.blocks) else replace(truth, weight=found.weight)


def pair_of(old: bytes, new: bytes) -> Pair:
    return compare(parse(new), new, Before(old, "utf-8"))


def _by_trees(old: bytes, new: bytes) -> Pair:
    last, tree = parse(old), parse(new)
    return compare_trees(last, tree, look(last, tree, len(new)))


def in_full(old: bytes, new: bytes) -> Difference:
    """How two versions differ by their full marks."""
    return difference(sign(parse(old)), sign(parse(new)))


def agree(old: bytes, new: bytes) -> Difference:
    """How two versions differ by what differs; see that full marks give the same."""
    truth = in_full(old, new)
    for pair in (pair_of(old, new), _by_trees(old, new)):
        if pair.new.outline != NOTHING.outline:
            assert pair.new == sign(parse(new))
        found = difference(pair.old, pair.new)
        assert found == as_found(truth, found)
    if sift(old) and sift(old) == sift(new):
        assert truth == Difference()
    return truth
