"""Known URLs with how often each was met, kept in memory before the disk is asked (MIG-10, SPEC 8).

The thesis calls it LRU and evicts by occurrence count, which is LFU (E26): that is the default. A crawl meets a hundred
links on each page, so it is one dictionary, oldest first, and when it is full a quarter goes at once: the rarest, of
those the ones met longest ago; or, as `lru`, the ones met longest ago.
"""

from collections import Counter
from enum import StrEnum
from itertools import compress, islice, repeat
from operator import rshift

CAPACITY = 120_000  # URLs; under about 20 MB
SHARE = 4  # one in so many goes when there is no room
BITS = 56  # of a value: 48 of id and 8 of depth
MET = 1 << BITS  # one occurrence
REST = MET - 1


class Leaving(StrEnum):
    """Which URLs go when there is no room."""

    LFU = "lfu"  # the rarest, and of those the ones met longest ago
    LRU = "lru"  # the ones met longest ago


class Occurrences:
    """Values of known URLs by their hash, with occurrences above them; a value has at most 56 bits."""

    def __init__(self, capacity: int = CAPACITY, policy: Leaving = Leaving.LFU) -> None:
        self.capacity = max(SHARE, capacity)
        self.policy = policy
        self.values: dict[int, int] = {}
        self.asked = self.hits = self.evicted = 0

    def look(self, key: int) -> int | None:
        """The value of a URL, now met once more; None if it is not here."""
        packed = self.values.pop(key, None)
        if packed is None:
            return None
        self.values[key] = packed + MET
        return packed & REST

    def keep(self, key: int, value: int) -> None:
        """Take a URL in, or give one that is here another value."""
        before = self.values.pop(key, MET)
        if len(self.values) >= self.capacity:
            self._evict()
        self.values[key] = before & ~REST | value

    def count(self, key: int) -> int:
        """How often a URL was met, as far as is known here."""
        return self.values.get(key, 0) // MET

    def _evict(self) -> None:
        leaving = len(self.values) // SHARE
        for key in self._rarest(leaving) if self.policy is Leaving.LFU else list(islice(self.values, leaving)):
            del self.values[key]
        self.evicted += leaving

    def _rarest(self, leaving: int) -> list[int]:
        """The keys met least often, oldest first where they are equal."""
        counts = list(map(rshift, self.values.values(), repeat(BITS)))
        tally = Counter(counts)
        below = most = 0
        for most in sorted(tally):
            if below + tally[most] >= leaving:
                break
            below += tally[most]
        rarer = list(compress(self.values, map(most.__gt__, counts)))
        return rarer + list(islice(compress(self.values, map(most.__eq__, counts)), leaving - below))
