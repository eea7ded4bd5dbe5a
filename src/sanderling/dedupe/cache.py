"""The cache of known URLs with their occurrence counts, asked before the disk (MIG-10, SPEC 8).

The thesis calls it LRU and evicts by occurrence count, which is LFU (E26): that is the default, the least recently seen
of the rarest goes first; pure LRU is the other policy.
"""

from collections import OrderedDict
from enum import StrEnum


class Policy(StrEnum):
    """Which URL goes when the cache is full."""

    LFU = "lfu"  # the rarest, and of those the one seen longest ago
    LRU = "lru"  # the one seen longest ago


class OccurrenceCache:
    """A bounded set of URLs that counts how often each was met; every step takes constant time."""

    def __init__(self, capacity: int, policy: Policy = Policy.LFU) -> None:
        if capacity < 1:
            raise ValueError(f"a cache of {capacity} URLs holds nothing; give it room for one")
        self.capacity = capacity
        self.policy = policy
        self.counts: dict[str, int] = {}
        self.ranks: dict[int, OrderedDict[str, None]] = {}  # URLs by rank, oldest first; LRU has one rank only
        self.hits = self.misses = self.evictions = 0
        self._lowest = 1

    def __len__(self) -> int:
        return len(self.counts)

    def __contains__(self, url: str) -> bool:
        return url in self.counts

    @property
    def hit_ratio(self) -> float:
        """The share of look-ups that were answered here; 0 before the first."""
        asked = self.hits + self.misses
        return self.hits / asked if asked else 0.0

    def look(self, url: str) -> bool:
        """Say whether a URL is here; if so, count that it was met again."""
        count = self.counts.get(url)
        if count is None:
            self.misses += 1
            return False
        self.hits += 1
        self._leave(url, count)
        self._enter(url, count + 1)
        return True

    def keep(self, url: str, count: int = 1) -> None:
        """Take a URL in, with the occurrences known so far; the worst one goes if there is no room."""
        if url in self.counts:
            self._leave(url, self.counts[url])
        elif len(self.counts) >= self.capacity:
            self._evict()
        self._enter(url, count)

    def _rank(self, count: int) -> int:
        return count if self.policy is Policy.LFU else 1

    def _enter(self, url: str, count: int) -> None:
        rank = self._rank(count)
        self.ranks.setdefault(rank, OrderedDict())[url] = None
        self.counts[url] = count
        if len(self.counts) == 1 or rank < self._lowest:
            self._lowest = rank

    def _leave(self, url: str, count: int) -> None:
        rank = self._rank(count)
        row = self.ranks[rank]
        del row[url], self.counts[url]
        if not row:
            del self.ranks[rank]
            if rank == self._lowest:
                self._lowest = rank + 1 if rank + 1 in self.ranks else min(self.ranks, default=1)

    def _evict(self) -> None:
        if self._lowest not in self.ranks:
            self._lowest = min(self.ranks)
        url = next(iter(self.ranks[self._lowest]))
        self._leave(url, self.counts[url])
        self.evictions += 1
