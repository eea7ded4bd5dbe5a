"""Rename keys of JSON and msgpack values that an earlier version stored."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import msgpack

from sanderling.db.connection import Connection

BATCH_ROWS = 500


def rename_keys(value: Any, names: Mapping[str, str]) -> Any:
    """Return a decoded value with other keys, on all levels."""
    if isinstance(value, dict):
        return {names.get(key, key): rename_keys(item, names) for key, item in value.items()}
    return [rename_keys(item, names) for item in value] if isinstance(value, list) else value


def rename_msgpack_keys(
    db: Connection, table: str, key_columns: Sequence[str], column: str, names: Mapping[str, str]
) -> None:
    """Rename keys in a column of msgpack values; the rows are read in batches, in the order of the primary key."""
    keys, placeholders = ", ".join(key_columns), ", ".join("?" * len(key_columns))
    select, order = f"SELECT {keys}, {column} FROM {table}", f"ORDER BY {keys} LIMIT {BATCH_ROWS}"
    batch = db.execute(f"{select} {order}").fetchall()
    while batch:
        db.executemany(
            f"UPDATE {table} SET {column} = ? WHERE ({keys}) = ({placeholders})",
            [(rename_value_keys(value, names), *key) for *key, value in batch],
        )
        last = tuple(batch[-1][:-1])
        batch = db.execute(f"{select} WHERE ({keys}) > ({placeholders}) {order}", last).fetchall()


def rename_value_keys(value: bytes, names: Mapping[str, str]) -> bytes:
    return msgpack.encode(rename_keys(msgpack.decode(value), names)) if value else value
