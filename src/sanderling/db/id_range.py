"""Ranges of row ids: the shards of a set number their rows in disjoint ranges, so that all can be read together."""

from msgspec import Struct

from sanderling.db.connection import Connection

RANGE_BITS = 32  # four billion URLs or visits per shard; url ids have 48 bits


class IdRange(Struct, frozen=True):
    """Row ids available to a database; the default is unlimited."""

    first: int = 1
    last: int = 2**48 - 1


ALL_IDS = IdRange()


def build_id_range(number: int) -> IdRange:
    """Return the range with this number, from 1; the ids below the first range belong to collections without shards."""
    return IdRange((number << RANGE_BITS) + 1, (number + 1 << RANGE_BITS) - 1)


def find_next_id(db: Connection, table: str, id_range: IdRange = ALL_IDS) -> int:
    """Return the first unused id of a range."""
    sql = f"SELECT coalesce(max(id), ?) + 1 FROM {table} WHERE id BETWEEN ? AND ?"
    return int(db.execute(sql, (id_range.first - 1, id_range.first, id_range.last)).fetchone()[0])
