"""What several samples say together that none says alone: that a part only some pages of a template have is wanted.

One sample with a rare section says little: the section may just happen to be there. When every sample has it and few
pages of the template do, that is no accident.
"""

from collections import Counter
from collections.abc import Collection, Iterable

from sanderling.pages.structure import is_block

ACCIDENT = 0.01  # less likely than this is none


def asked_for(samples: Collection[frozenset[int]], members: Collection[frozenset[int]]) -> frozenset[int]:
    """Blocks that all samples have, and so few of the pages found that it cannot be an accident."""
    if len(samples) < 2 or not members:
        return frozenset()
    common = [block for block in frozenset.intersection(*samples) if is_block(block)]
    having = _counted(members)
    return frozenset(
        block for block in common if (having[block] / len(members)) ** len(samples) * len(common) < ACCIDENT
    )


def _counted(members: Iterable[frozenset[int]]) -> Counter[int]:
    return Counter(feature for member in members for feature in member)
