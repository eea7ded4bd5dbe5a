"""Plans in memory, for simulations."""

import heapq
from collections.abc import Iterable

from sanderling.revisit.plan_store import PlanRow


class MemoryPlanStore:
    """Plans in a dict. Ties are ordered by id, as in the table."""

    def __init__(self) -> None:
        self.rows: dict[int, PlanRow] = {}
        self._due_heap: list[tuple[float, int]] = []
        self._planned_heap: list[tuple[float, int]] = []

    def load_due(self, limit: int, until: float) -> list[PlanRow]:
        found: dict[int, PlanRow] = {}
        while self._due_heap and len(found) < limit and self._due_heap[0][0] <= until:
            time, id = heapq.heappop(self._due_heap)
            row = self.rows.get(id)
            if row is not None and row.due_at == time < float("inf"):
                found[id] = row
        for row in found.values():
            heapq.heappush(self._due_heap, (row.due_at, row.id))
        return list(found.values())

    def load_oldest(self, limit: int) -> list[PlanRow]:
        found: dict[int, PlanRow] = {}
        while self._planned_heap and len(found) < limit:
            time, id = heapq.heappop(self._planned_heap)
            row = self.rows.get(id)
            if row is not None and row.planned_at == time:
                found[id] = row
        for row in found.values():
            heapq.heappush(self._planned_heap, (row.planned_at, row.id))
        return list(found.values())

    def update_rows(self, rows: Iterable[PlanRow]) -> None:
        for row in rows:
            self.rows[row.id] = row
            heapq.heappush(self._due_heap, (row.due_at, row.id))
            heapq.heappush(self._planned_heap, (row.planned_at, row.id))
        if len(self._due_heap) > 8 * len(self.rows) + 1000:  # mostly entries of old plans
            self._due_heap = [(row.due_at, row.id) for row in self.rows.values()]
            heapq.heapify(self._due_heap)
            self._planned_heap = sorted((row.planned_at, row.id) for row in self.rows.values())

    def delete_row(self, id: int) -> None:
        self.rows.pop(id, None)

    def __len__(self) -> int:
        return len(self.rows)
