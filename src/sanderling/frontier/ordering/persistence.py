"""What an ordering remembers, across runs: tallies are written down now and then, what came since is learned again."""

import msgspec

from sanderling.db.connection import Connection
from sanderling.frontier.ordering.protocol import Ordering

BLOB_NAME = "ordering"


class OrderingState(msgspec.Struct, frozen=True):
    """The tallies of an ordering, and the last visit that is in them."""

    ordering_name: str
    last_visit: int
    score_tables: dict[str, bytes]


def save_ordering(db: Connection, ordering_name: str, ordering: Ordering, last_visit: int) -> None:
    """Write down what is remembered; call inside a transaction."""
    memory = OrderingState(
        ordering_name, last_visit, {name: tally.dump() for name, tally in ordering.get_score_tables().items()}
    )
    db.execute(
        "INSERT INTO blobs VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (BLOB_NAME, msgspec.msgpack.encode(memory)),
    )


def load_ordering(db: Connection, ordering_name: str, ordering: Ordering) -> int:
    """Take up what was written down for the same ordering; say up to which visit it goes."""
    row = db.execute("SELECT value FROM blobs WHERE name = ?", (BLOB_NAME,)).fetchone()
    memory = msgspec.msgpack.decode(row[0], type=OrderingState) if row else None
    if memory is None or memory.ordering_name != ordering_name:
        return 0
    for name, tally in ordering.get_score_tables().items():
        if name in memory.score_tables:
            tally.load(memory.score_tables[name])
    return memory.last_visit
