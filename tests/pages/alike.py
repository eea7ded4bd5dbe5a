"""What two ways of comparing have to say alike."""

from msgspec.structs import replace

from sanderling.changes.difference import Difference, difference
from sanderling.pages.between import Before, compare
from sanderling.pages.branches import compare_trees
from sanderling.pages.forks import look
from sanderling.pages.parse import parse
from sanderling.pages.reworded import Pair
from sanderling.pages.sieve import sift
from sanderling.pages.signatures import NOTHING, sign


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
