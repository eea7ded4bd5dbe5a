"""The rows of all known pages, by due time and by age of their plan: a seam, for a table or for memory."""

import heapq
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Protocol

from msgspec import Struct

from sanderling.db.connection import Connection, rows_of
from sanderling.revisit.change_lists import TRUSTED
from sanderling.revisit.visit_history import History, begin, decode, encode
from sanderling.urls.scope import site_of


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


READ = (
    "SELECT d.url, h.name, u.path, d.state, d.due_at, d.planned_at, d.weight, d.ripe"
    " FROM due AS d JOIN urls AS u ON u.id = d.url JOIN hosts AS h ON h.id = u.host"
)
KNOWN = f"{READ} WHERE d.url IN ({{}}) AND length(d.state) > 0"
WANTED = (
    f"{READ} LEFT JOIN told AS t ON t.url = d.url LEFT JOIN (SELECT host FROM lists WHERE {TRUSTED}) AS l"
    " ON l.host = u.host WHERE d.due_at <= ? AND (u.state = 'visited' OR (u.state = 'gone' AND t.url IS NOT NULL))"
    " AND (l.host IS NULL OR t.priority > ?) ORDER BY d.due_at, d.url LIMIT ?"
)
LONGEST_PLANNED = (
    f"{READ} WHERE length(d.state) > 0 AND NOT EXISTS (SELECT 1 FROM told AS t WHERE t.url = d.url)"
    " ORDER BY d.planned_at, d.url LIMIT ?"
)
WRITE = (  # what a list of changes named stays due until it was visited
    "UPDATE due SET state = ?, due_at = ?, planned_at = ?, ripe = ?"
    " WHERE url = ? AND NOT EXISTS (SELECT 1 FROM told AS t WHERE t.url = due.url)"
)
NEVER = 1e300  # due times that are none
UNKNOWN = begin(0.0)  # of a page that is due though nothing is known of it: named by a list of changes


class TableShelf:
    """The rows of a collection."""

    def __init__(self, db: Connection) -> None:
        self.db = db
        self.least = -1.0  # priority above which pages named by a trusted list are wanted
        self.may_write = True  # False: for somebody who only wants to know
        self._count: int | None = None

    def earliest(self, limit: int, until: float) -> list[Row]:
        """Rows due by this time that may be visited, earliest first."""
        return self._read(WANTED, (min(until, NEVER), self.least, limit))

    def oldest(self, limit: int) -> list[Row]:
        """Rows whose plan was made longest ago."""
        return self._read(LONGEST_PLANNED, (limit,))

    def find(self, ids: Sequence[int]) -> dict[int, Row]:
        """The rows of these pages, as far as there is something to know of them."""
        return {row.id: row for row in map(_row, rows_of(self.db, KNOWN, ids))}

    def put(self, rows: Iterable[Row]) -> None:
        """Keep these rows, that are there already, as they are now."""
        if not self.may_write:
            return
        self.db.executemany(
            WRITE,
            [(encode(row.history), row.due_at, row.planned_at, row.ripe, row.id) for row in rows if row.history.last],
        )

    def write(self, rows: Iterable[tuple[Row, str]], new: int = 0) -> None:
        """Keep these rows, some of them new, with the reasons of their plans."""
        self._count = len(self) + new
        self.db.executemany(
            "INSERT INTO due (url, due_at, why, state, planned_at, weight, ripe) VALUES (?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (url) DO UPDATE SET due_at = excluded.due_at, why = excluded.why, state = excluded.state,"
            " planned_at = excluded.planned_at, ripe = excluded.ripe",
            [(row.id, row.due_at, why, encode(row.history), row.planned_at, row.weight, row.ripe) for row, why in rows],
        )

    def drop(self, ids: Sequence[int]) -> None:
        """Forget these pages."""
        self._count = max(len(self) - len(ids), 0)
        self.db.executemany("DELETE FROM due WHERE url = ?", [(id_,) for id_ in ids])

    def __len__(self) -> int:
        if self._count is None:
            self._count = int(self.db.execute("SELECT count(*) FROM due").fetchone()[0])
        return self._count

    def _read(self, sql: str, parameters: Sequence[Any]) -> list[Row]:
        return list(map(_row, self.db.execute(sql, parameters)))


def _row(read: Sequence[Any]) -> Row:
    id_, name, path, state, due_at, planned_at, weight, ripe = read
    return Row(id_, address(name, path), decode(state) if state else UNKNOWN, due_at, planned_at, weight, ripe)


def address(name: str, path: str) -> str:
    """The URL as far as groups of pages are concerned: what scheme and `www.` do not change."""
    return f"http://{_site(name)}{path}"


@lru_cache(4096)
def _site(name: str) -> str:
    return site_of(name + "/")
