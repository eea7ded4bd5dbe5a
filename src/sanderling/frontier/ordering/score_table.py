"""A number for each known URL in four bytes: what orderings remember; and four more for what the queue was told of it.

Ids of URLs are counted from 1, so arrays are enough. They grow with the crawl up to a limit; beyond it ids share
places, which blurs the numbers a little and never fails. Numbers are positive; 0 is a URL not met, and a visited page
is told VISITED, since it waits no more.
"""

from array import array
from collections.abc import Callable, Iterable
from heapq import nlargest

import msgspec

MAX_SIZE = 1 << 21  # places: 8 MB an array; a power of two
INITIAL_SIZE = 1 << 12
MAX_PENDING = 100_000  # changed URLs remembered between two looks; more than that wait until they change again
MAX_GAINS = 2_000  # rows moved at once at most
VISITED_MARKER = -1.0


class SumTable:
    """Numbers by id that the queue does not look at."""

    def __init__(self, max_size: int = MAX_SIZE) -> None:
        self.max_size = max_size
        self.mask = INITIAL_SIZE - 1
        self.values = array("f", bytes(4 * INITIAL_SIZE))

    def get_columns(self) -> tuple["array[float]", ...]:
        """The arrays, all of one length."""
        return (self.values,)

    def ensure_size(self, id_: int) -> None:
        """Make room for this id, if there may be more."""
        size = self.mask + 1
        if id_ < size or size >= self.max_size:
            return
        while size <= id_ and size < self.max_size:
            size *= 2
        more = bytes(4 * (size - self.mask - 1))
        for column in self.get_columns():
            column.frombytes(more)
        self.mask = size - 1

    def __getitem__(self, id_: int) -> float:
        return self.values[id_ & self.mask]

    def add(self, id_: int, value: float) -> None:
        """Add to the number of a URL."""
        self.ensure_size(id_)
        self.values[id_ & self.mask] += value

    def dump(self) -> bytes:
        """Give what must survive a restart."""
        return msgspec.msgpack.encode([column.tobytes() for column in self.get_columns()])

    def load(self, stored: bytes) -> None:
        """Take over what `dump` gave."""
        for column, raw in zip(self.get_columns(), msgspec.msgpack.decode(stored, type=list[bytes]), strict=True):
            del column[:]
            column.frombytes(raw)
        self.mask = len(self.values) - 1


class ScoreTable(SumTable):
    """Numbers by id, and what the queue knows; loops short of time use `values[id & mask]` after `reach(id)`."""

    def __init__(self, max_size: int = MAX_SIZE) -> None:
        super().__init__(max_size)
        self.queued_scores = array("f", bytes(4 * INITIAL_SIZE))
        self.pending: set[int] = set()

    def get_columns(self) -> tuple["array[float]", ...]:
        return self.values, self.queued_scores

    def mark_changed(self, ids: Iterable[int]) -> None:
        """The numbers of these changed; the queue will hear of it."""
        if len(self.pending) < MAX_PENDING:
            self.pending.update(ids)

    def raise_score(self, id_: int, value: float) -> None:
        """Set a number unless it is larger already; the first one is known to the queue."""
        at = id_ & self.mask
        before = self.values[at]
        if value > before:
            self.values[at] = value
            if not self.queued_scores[at]:
                self.queued_scores[at] = value
            elif len(self.pending) < MAX_PENDING:
                self.pending.add(id_)

    def is_visited(self, id_: int) -> bool:
        """Was this page stored?"""
        return self.queued_scores[id_ & self.mask] < 0

    def mark_visited(self, id_: int) -> None:
        """This page is stored: it waits no more."""
        self.ensure_size(id_)
        self.queued_scores[id_ & self.mask] = VISITED_MARKER

    def pop_gains(self, to_score: Callable[[float], float], min_gain: float) -> dict[int, float]:
        """What rose in score by more than `least` since the queue was told, the largest first."""
        values, told, mask = self.values, self.queued_scores, self.mask
        gains = {}
        for id_ in self.pending:
            at = id_ & mask
            before = told[at]
            if before > 0 and values[at] != before:
                gain = to_score(values[at]) - to_score(before)
                if gain > min_gain:
                    gains[id_] = gain
        self.pending.clear()
        if len(gains) > MAX_GAINS:
            gains = {id_: gains[id_] for id_ in nlargest(MAX_GAINS, gains, key=gains.__getitem__)}
        for id_ in gains:
            told[id_ & mask] = values[id_ & mask]
        return gains

    def load(self, stored: bytes) -> None:
        super().load(stored)
        for at, told in enumerate(self.queued_scores):
            if told < VISITED_MARKER:  # it was waiting for something that is forgotten now
                self.queued_scores[at] = VISITED_MARKER
