"""The rows of all known pages, by due time and by age of their plan: a seam, for a table or for memory."""

import heapq
from collections.abc import Iterable
from typing import Protocol

from msgspec import Struct

from sanderling.refresh.history import History


class Row(Struct, frozen=True):
    """One page on the shelf."""

    id: int
    url: str
    history: History
    due_at: float = 0.0  # infinite: not before something is heard of it
    planned_at: float = 0.0  # never goes back, even if the clock does
    weight: float = 1.0  # importance
    ripe: int = 0  # the planner's note (View.ripe)


class Shelf(Protocol):
    """Where rows are kept; each question is one look-up in an index."""

    def earliest(self, limit: int, until: float) -> list[Row]:
        """Rows due by this time, earliest first; never those due at no time."""

    def oldest(self, limit: int) -> list[Row]:
        """Rows whose plan was made longest ago."""

    def put(self, rows: Iterable[Row]) -> None:
        """Keep these rows as they are now."""

    def __len__(self) -> int:
        """How many pages there are."""


class MemoryShelf:
    """Rows in a dict: for simulations and tests. Of equals the lowest id comes first, as in the table."""

    def __init__(self) -> None:
        self.rows: dict[int, Row] = {}
        self._due: list[tuple[float, int]] = []
        self._planned: list[tuple[float, int]] = []

    def earliest(self, limit: int, until: float) -> list[Row]:
        found: dict[int, Row] = {}
        while self._due and len(found) < limit and self._due[0][0] <= until:
            at, id = heapq.heappop(self._due)
            row = self.rows.get(id)
            if row is not None and row.due_at == at < float("inf"):
                found[id] = row
        for row in found.values():
            heapq.heappush(self._due, (row.due_at, row.id))
        return list(found.values())

    def oldest(self, limit: int) -> list[Row]:
        found: dict[int, Row] = {}
        while self._planned and len(found) < limit:
            at, id = heapq.heappop(self._planned)
            row = self.rows.get(id)
            if row is not None and row.planned_at == at:
                found[id] = row
        for row in found.values():
            heapq.heappush(self._planned, (row.planned_at, row.id))
        return list(found.values())

    def put(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self.rows[row.id] = row
            heapq.heappush(self._due, (row.due_at, row.id))
            heapq.heappush(self._planned, (row.planned_at, row.id))
        if len(self._due) > 8 * len(self.rows) + 1000:  # entries of old plans, for the most part
            self._due = [(row.due_at, row.id) for row in self.rows.values()]
            heapq.heapify(self._due)
            self._planned = sorted((row.planned_at, row.id) for row in self.rows.values())

    def drop(self, id: int) -> None:
        self.rows.pop(id, None)

    def __len__(self) -> int:
        return len(self.rows)
