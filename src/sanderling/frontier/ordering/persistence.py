"""What an ordering remembers, across runs: tallies are written down now and then, what came since is learned again."""

import msgspec

from sanderling.db.connection import Connection
from sanderling.frontier.ordering.protocol import Ordering

NAME = "ordering"


class Memory(msgspec.Struct, frozen=True):
    """The tallies of an ordering, and the last visit that is in them."""

    order: str
    until: int
    tallies: dict[str, bytes]


def save(db: Connection, order: str, ordering: Ordering, until: int) -> None:
    """Write down what is remembered; call inside a transaction."""
    memory = Memory(order, until, {name: tally.dump() for name, tally in ordering.tallies().items()})
    db.execute(
        "INSERT INTO blobs VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (NAME, msgspec.msgpack.encode(memory)),
    )


def load(db: Connection, order: str, ordering: Ordering) -> int:
    """Take up what was written down for the same ordering; say up to which visit it goes."""
    row = db.execute("SELECT value FROM blobs WHERE name = ?", (NAME,)).fetchone()
    memory = msgspec.msgpack.decode(row[0], type=Memory) if row else None
    if memory is None or memory.order != order:
        return 0
    for name, tally in ordering.tallies().items():
        if name in memory.tallies:
            tally.load(memory.tallies[name])
    return memory.until
