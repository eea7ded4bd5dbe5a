"""Save the score tables of an ordering across runs. Visits since the last save are learned again."""

import msgspec

from sanderling.db.connection import Connection
from sanderling.frontier.ordering.protocol import Ordering

BLOB_NAME = "ordering"


class OrderingState(msgspec.Struct, frozen=True):
    """Score tables of an ordering and the last visit they include.

    The stored keys keep their first names, so that existing collections can be read.
    """

    ordering_name: str
    last_visit: int
    score_tables: dict[str, bytes]


def save_ordering(db: Connection, ordering_name: str, ordering: Ordering, last_visit: int) -> None:
    """Store the score tables. Call inside a transaction."""
    state = OrderingState(
        ordering_name, last_visit, {name: table.dump() for name, table in ordering.get_score_tables().items()}
    )
    db.execute(
        "INSERT INTO blobs VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (BLOB_NAME, msgspec.msgpack.encode(state)),
    )


def load_ordering(db: Connection, ordering_name: str, ordering: Ordering) -> int:
    """Load the score tables of the same ordering; return the last visit they include, or 0."""
    row = db.execute("SELECT value FROM blobs WHERE name = ?", (BLOB_NAME,)).fetchone()
    state = msgspec.msgpack.decode(row[0], type=OrderingState) if row else None
    if state is None or state.ordering_name != ordering_name:
        return 0
    for name, table in ordering.get_score_tables().items():
        if name in state.score_tables:
            table.load(state.score_tables[name])
    return state.last_visit
