"""Storage of revisit plans, indexed by due time and by plan age: in a table, or in memory for simulations."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from msgspec import Struct

from sanderling.db.connection import Connection, select_by_ids
from sanderling.revisit.change_lists import TRUSTED_SQL
from sanderling.revisit.visit_history import VisitHistory, decode_history, encode_history, start_history


class PlanRow(Struct, frozen=True):
    """The plan of a page."""

    id: int
    url: str
    history: VisitHistory
    due_at: float = 0.0  # infinite: not before an announcement
    planned_at: float = 0.0  # monotonic
    weight: float = 1.0  # importance


class PlanStore(Protocol):
    """Storage of plans; every query uses an index."""

    def load_due(self, limit: int, until: float) -> list[PlanRow]:
        """Load plans due by this time, earliest first, without those that are never due."""

    def load_oldest(self, limit: int) -> list[PlanRow]:
        """Load the plans made longest ago."""

    def update_rows(self, rows: Iterable[PlanRow]) -> None:
        """Replace these rows."""

    def __len__(self) -> int: ...


SELECT_ROWS = (
    "SELECT d.url, h.name, u.path, d.state, d.due_at, d.planned_at, d.weight"
    " FROM due AS d JOIN urls AS u ON u.id = d.url JOIN hosts AS h ON h.id = u.host"
)
KNOWN_SQL = f"{SELECT_ROWS} WHERE d.url IN ({{}}) AND length(d.state) > 0"
DUE_SQL = (
    f"{SELECT_ROWS} LEFT JOIN announcements AS t ON t.url = d.url LEFT JOIN (SELECT host FROM change_lists"
    f" WHERE {TRUSTED_SQL}) AS l"
    " ON l.host = u.host WHERE d.due_at <= ? AND (u.state = 'visited' OR (u.state = 'gone' AND t.url IS NOT NULL))"
    " AND (l.host IS NULL OR t.priority > ?) ORDER BY d.due_at, d.url LIMIT ?"
)
OLDEST_SQL = (
    f"{SELECT_ROWS} WHERE length(d.state) > 0 AND NOT EXISTS (SELECT 1 FROM announcements AS t WHERE t.url = d.url)"
    " ORDER BY d.planned_at, d.url LIMIT ?"
)
UPDATE_SQL = (  # pages named by a change list stay due until visited
    "UPDATE due SET state = ?, due_at = ?, planned_at = ?"
    " WHERE url = ? AND NOT EXISTS (SELECT 1 FROM announcements AS t WHERE t.url = due.url)"
)
MAX_DUE_TIME = 1e300  # excludes infinity
EMPTY_HISTORY = start_history(0.0)  # named by a change list before its first visit


class TablePlanStore:
    """Plans of a collection."""

    def __init__(self, db: Connection) -> None:
        self.db = db
        self.min_priority = -1.0  # of pages named by a trusted change list
        self.may_write = True
        self._row_count: int | None = None

    def load_due(self, limit: int, until: float) -> list[PlanRow]:
        """Load plans of visitable pages due by this time, earliest first."""
        return self._select_rows(DUE_SQL, (min(until, MAX_DUE_TIME), self.min_priority, limit))

    def load_oldest(self, limit: int) -> list[PlanRow]:
        return self._select_rows(OLDEST_SQL, (limit,))

    def load_rows(self, ids: Sequence[int]) -> dict[int, PlanRow]:
        """Load the plans of these pages that have a history."""
        return {row.id: row for row in map(_parse_row, select_by_ids(self.db, KNOWN_SQL, ids))}

    def update_rows(self, rows: Iterable[PlanRow]) -> None:
        """Update existing rows. Does nothing if the store is read-only."""
        if not self.may_write:
            return
        self.db.executemany(
            UPDATE_SQL,
            [
                (encode_history(row.history), row.due_at, row.planned_at, row.id)
                for row in rows
                if row.history.last_visit
            ],
        )

    def upsert_rows(self, rows: Iterable[tuple[PlanRow, str]], new_count: int = 0) -> None:
        """Insert or update rows with the reasons of their plans."""
        self._row_count = len(self) + new_count
        self.db.executemany(
            "INSERT INTO due (url, due_at, why, state, planned_at, weight) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (url) DO UPDATE SET due_at = excluded.due_at, why = excluded.why, state = excluded.state,"
            " planned_at = excluded.planned_at",
            [(row.id, row.due_at, why, encode_history(row.history), row.planned_at, row.weight) for row, why in rows],
        )

    def delete_rows(self, ids: Sequence[int]) -> None:
        self._row_count = max(len(self) - len(ids), 0)
        self.db.executemany("DELETE FROM due WHERE url = ?", [(id_,) for id_ in ids])

    def __len__(self) -> int:
        if self._row_count is None:
            self._row_count = int(self.db.execute("SELECT count(*) FROM due").fetchone()[0])
        return self._row_count

    def _select_rows(self, sql: str, parameters: Sequence[Any]) -> list[PlanRow]:
        return list(map(_parse_row, self.db.execute(sql, parameters)))


def _parse_row(values: Sequence[Any]) -> PlanRow:
    id_, name, path, state, due_at, planned_at, weight = values
    return PlanRow(
        id_,
        name + path,
        decode_history(state) if state else EMPTY_HISTORY,
        due_at,
        planned_at,
        weight,
    )
