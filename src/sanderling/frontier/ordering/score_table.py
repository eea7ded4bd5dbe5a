"""Score tables: a float per URL id, and the score that the queue was last updated with.

URL ids count from 1, so arrays suffice. They grow with the crawl up to a limit; beyond it ids share slots, which blurs
scores but never fails. Scores are positive; 0 means not seen. Visited pages have VISITED_MARKER as queued score, since
they are no longer queued.
"""

from array import array
from collections.abc import Callable, Iterable
from heapq import nlargest

import msgspec

MAX_SIZE = 1 << 21  # 8 MB per array; a power of two
INITIAL_SIZE = 1 << 12
MAX_PENDING = 100_000  # further changes wait until the URL changes again
MAX_GAINS = 2_000  # queue rows updated at once
VISITED_MARKER = -1.0


class SumTable:
    """Sums by URL id, not tracked against the queue."""

    def __init__(self, max_size: int = MAX_SIZE) -> None:
        self.max_size = max_size
        self.mask = INITIAL_SIZE - 1
        self.values = array("f", bytes(4 * INITIAL_SIZE))

    def get_columns(self) -> tuple["array[float]", ...]:
        return (self.values,)

    def ensure_size(self, id_: int) -> None:
        """Grow the arrays for this id, up to `max_size`. Ids of a shard do not begin at 1: their low bits count."""
        size, id_ = self.mask + 1, id_ & (self.max_size - 1)
        if id_ < size or size >= self.max_size:
            return
        while size <= id_ and size < self.max_size:
            size *= 2
        new_slots = bytes(4 * (size - self.mask - 1))
        for column in self.get_columns():
            column.frombytes(new_slots)
        self.mask = size - 1

    def __getitem__(self, id_: int) -> float:
        return self.values[id_ & self.mask]

    def add(self, id_: int, value: float) -> None:
        self.ensure_size(id_)
        self.values[id_ & self.mask] += value

    def dump(self) -> bytes:
        """Serialize the arrays."""
        return msgspec.msgpack.encode([column.tobytes() for column in self.get_columns()])

    def load(self, stored: bytes) -> None:
        """Replace the arrays by the output of `dump`."""
        for column, raw in zip(self.get_columns(), msgspec.msgpack.decode(stored, type=list[bytes]), strict=True):
            del column[:]
            column.frombytes(raw)
        self.mask = len(self.values) - 1


class ScoreTable(SumTable):
    """Scores by URL id with queued scores. Hot loops use `values[id & mask]` after `ensure_size(id)`."""

    def __init__(self, max_size: int = MAX_SIZE) -> None:
        super().__init__(max_size)
        self.queued_scores = array("f", bytes(4 * INITIAL_SIZE))
        self.pending: set[int] = set()

    def get_columns(self) -> tuple["array[float]", ...]:
        return self.values, self.queued_scores

    def mark_changed(self, ids: Iterable[int]) -> None:
        """Record that scores changed, for the next `pop_gains`."""
        if len(self.pending) < MAX_PENDING:
            self.pending.update(ids)

    def raise_score(self, id_: int, value: float) -> None:
        """Raise a score to at least `value`; the first score counts as queued."""
        at = id_ & self.mask
        before = self.values[at]
        if value > before:
            self.values[at] = value
            if not self.queued_scores[at]:
                self.queued_scores[at] = value
            elif len(self.pending) < MAX_PENDING:
                self.pending.add(id_)

    def is_visited(self, id_: int) -> bool:
        return self.queued_scores[id_ & self.mask] < 0

    def mark_visited(self, id_: int) -> None:
        """Exclude a stored page from further gains."""
        self.ensure_size(id_)
        self.queued_scores[id_ & self.mask] = VISITED_MARKER

    def pop_gains(self, to_score: Callable[[float], float], min_gain: float) -> dict[int, float]:
        """Return score gains above `min_gain` since the last update of the queue, at most `MAX_GAINS`."""
        values, queued, mask = self.values, self.queued_scores, self.mask
        gains = {}
        for id_ in self.pending:
            at = id_ & mask
            old = queued[at]
            if old > 0 and values[at] != old:
                gain = to_score(values[at]) - to_score(old)
                if gain > min_gain:
                    gains[id_] = gain
        self.pending.clear()
        if len(gains) > MAX_GAINS:
            gains = {id_: gains[id_] for id_ in nlargest(MAX_GAINS, gains, key=gains.__getitem__)}
        for id_ in gains:
            queued[id_ & mask] = values[id_ & mask]
        return gains

    def load(self, stored: bytes) -> None:
        super().load(stored)
        for at, queued in enumerate(self.queued_scores):
            if queued < VISITED_MARKER:  # pending push, whose queue is not stored
                self.queued_scores[at] = VISITED_MARKER
