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
EVICTION_DIVISOR = 4  # one in so many goes when there is no room
VALUE_BITS = 56  # of a value: 48 of id and 8 of depth
OCCURRENCE_UNIT = 1 << VALUE_BITS  # one occurrence
VALUE_MASK = OCCURRENCE_UNIT - 1


class EvictionPolicy(StrEnum):
    """Which URLs go when there is no room."""

    LFU = "lfu"  # the rarest, and of those the ones met longest ago
    LRU = "lru"  # the ones met longest ago


class UrlCache:
    """Values of known URLs by their hash, with occurrences above them; a value has at most 56 bits."""

    def __init__(self, capacity: int = CAPACITY, policy: EvictionPolicy = EvictionPolicy.LFU) -> None:
        self.capacity = max(EVICTION_DIVISOR, capacity)
        self.policy = policy
        self.values: dict[int, int] = {}
        self.lookups = self.hits = self.evictions = 0

    def get(self, key: int) -> int | None:
        """The value of a URL, now met once more; None if it is not here."""
        packed = self.values.pop(key, None)
        if packed is None:
            return None
        self.values[key] = packed + OCCURRENCE_UNIT
        return packed & VALUE_MASK

    def put(self, key: int, value: int) -> None:
        """Take a URL in, or give one that is here another value."""
        before = self.values.pop(key, OCCURRENCE_UNIT)
        if len(self.values) >= self.capacity:
            self._evict()
        self.values[key] = before & ~VALUE_MASK | value

    def get_occurrences(self, key: int) -> int:
        """How often a URL was met, as far as is known here."""
        return self.values.get(key, 0) // OCCURRENCE_UNIT

    def _evict(self) -> None:
        leaving = len(self.values) // EVICTION_DIVISOR
        for key in (
            self._find_rarest(leaving) if self.policy is EvictionPolicy.LFU else list(islice(self.values, leaving))
        ):
            del self.values[key]
        self.evictions += leaving

    def _find_rarest(self, count: int) -> list[int]:
        """The keys met least often, oldest first where they are equal."""
        counts = list(map(rshift, self.values.values(), repeat(VALUE_BITS)))
        tally = Counter(counts)
        below = most = 0
        for most in sorted(tally):
            if below + tally[most] >= count:
                break
            below += tally[most]
        rarer = list(compress(self.values, map(most.__gt__, counts)))
        return rarer + list(islice(compress(self.values, map(most.__eq__, counts)), count - below))
