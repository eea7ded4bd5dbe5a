"""A number for each known URL in eight bytes: what orderings remember, and what the queue was told of it.

Ids of URLs are counted from 1, so two arrays are enough. They grow with the crawl up to a limit; beyond it ids share
places, which blurs the numbers a little and never fails. Numbers are positive; 0 is a URL not met, and a visited page
is told VISITED, since it waits no more.
"""

from array import array
from collections.abc import Callable, Iterable
from heapq import nlargest

import msgspec

LIMIT = 1 << 22  # places: 32 MB; a power of two
FIRST = 1 << 12
MOST_PENDING = 100_000  # changed URLs remembered between two looks; more than that wait until they change again
MOVES = 2_000  # rows moved at once at most
VISITED = -1.0


class Tally:
    """Numbers by id; loops that are short of time use `values[id & mask]` after `reach(id)`."""

    def __init__(self, limit: int = LIMIT) -> None:
        self.limit = limit
        self.mask = FIRST - 1
        self.values = array("f", bytes(4 * FIRST))
        self.told = array("f", bytes(4 * FIRST))
        self.pending: set[int] = set()

    def reach(self, id_: int) -> None:
        """Make room for this id, if there may be more."""
        size = self.mask + 1
        if id_ < size or size >= self.limit:
            return
        while size <= id_ and size < self.limit:
            size *= 2
        more = bytes(4 * (size - self.mask - 1))
        self.values.frombytes(more)
        self.told.frombytes(more)
        self.mask = size - 1

    def touch(self, ids: Iterable[int]) -> None:
        """The numbers of these changed; the queue will hear of it."""
        if len(self.pending) < MOST_PENDING:
            self.pending.update(ids)

    def __getitem__(self, id_: int) -> float:
        return self.values[id_ & self.mask]

    def add(self, id_: int, value: float) -> None:
        """Add to a number that the queue does not look at."""
        self.reach(id_)
        self.values[id_ & self.mask] += value

    def raise_to(self, id_: int, value: float) -> None:
        """Set a number unless it is larger already; the first one is known to the queue."""
        at = id_ & self.mask
        before = self.values[at]
        if value > before:
            self.values[at] = value
            if not self.told[at]:
                self.told[at] = value
            elif len(self.pending) < MOST_PENDING:
                self.pending.add(id_)

    def has_visited(self, id_: int) -> bool:
        """Was this page stored?"""
        return self.told[id_ & self.mask] < 0

    def visit(self, id_: int) -> None:
        """This page is stored: it waits no more."""
        self.reach(id_)
        self.told[id_ & self.mask] = VISITED

    def moved(self, score: Callable[[float], float], least: float) -> dict[int, float]:
        """What rose in score by more than `least` since the queue was told, the largest first."""
        values, told, mask = self.values, self.told, self.mask
        gains = {}
        for id_ in self.pending:
            at = id_ & mask
            before = told[at]
            if before > 0 and values[at] != before:
                gain = score(values[at]) - score(before)
                if gain > least:
                    gains[id_] = gain
        self.pending.clear()
        if len(gains) > MOVES:
            gains = {id_: gains[id_] for id_ in nlargest(MOVES, gains, key=gains.__getitem__)}
        for id_ in gains:
            told[id_ & mask] = values[id_ & mask]
        return gains

    def dump(self) -> bytes:
        """Give what must survive a restart."""
        return msgspec.msgpack.encode((self.values.tobytes(), self.told.tobytes()))

    def load(self, stored: bytes) -> None:
        """Take over what `dump` gave."""
        for name, raw in zip(("values", "told"), msgspec.msgpack.decode(stored, type=tuple[bytes, bytes]), strict=True):
            kept = array("f")
            kept.frombytes(raw)
            setattr(self, name, kept)
            self.mask = len(kept) - 1
        for at, told in enumerate(self.told):
            if told < VISITED:  # it was waiting for something that is forgotten now
                self.told[at] = VISITED
