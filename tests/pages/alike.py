"""What two ways of comparing have to say alike."""

from msgspec.structs import replace

from sanderling.changes.difference import Difference


def as_found(truth: Difference, found: Difference) -> Difference:
    """What is to be found: how much main content there is counts only where some of it differs."""
    return truth if any(block.main for block in truth.blocks) else replace(truth, weight=found.weight)
