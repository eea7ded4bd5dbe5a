"""What samples ask for beyond their template.

One sample with a rare section says little: the section may just happen to be there. A list of entries that only a few
pages of the template have, always between the same neighbours, says more: they are pages *with* such a list. When every
one of several samples has a section, and few pages of the template do, that is no accident whatever the section is.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from sanderling.pages.structure import is_block, is_plain, neighbours_of, pair

ACCIDENT = 0.01  # less likely than this is none
FEWEST = 3  # pages with a list of their own
FEW = 0.08  # of the pages of the template


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


def own_lists(sample: frozenset[int], members: Mapping[frozenset[int], int]) -> frozenset[int]:
    """Entries of lists that the sample has and only a few pages of its template, of which there are so many of each."""
    most = FEW * sum(members.values())
    entries = [block for block in sample if is_block(block) and pair(block, block) in sample and not is_plain(block)]
    return frozenset(entry for entry in entries if _is_own(entry, members, most))


def _is_own(entry: int, members: Mapping[frozenset[int], int], most: float) -> bool:
    having = {member: count for member, count in members.items() if entry in member}
    if not FEWEST <= sum(having.values()) <= most:
        return False
    always = frozenset.intersection(*having)
    before, after = neighbours_of(entry, always)
    return entry in before & after and len(before) > 1 and len(after) > 1
