"""A storage backend: an encrypted SQLite database at `encrypted:///path/of/file.db` (package apsw-sqlite3mc).

The key is in the environment variable `ENCRYPTED_DATABASE_KEY`. The archive is not encrypted: put it on an encrypted
disk, or use `--archive`.
"""

import os
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import unquote

from sanderling import CollectionError, DiskFull, UsageError

KEY_VARIABLE = "ENCRYPTED_DATABASE_KEY"
BUSY_MILLISECONDS = 30_000


class EncryptedCursor:
    """A cursor of apsw with the number of changed rows."""

    def __init__(self, cursor: Any, rowcount: int) -> None:
        self.cursor, self.rowcount = cursor, rowcount

    def fetchone(self) -> Any:
        return self.cursor.fetchone()

    def fetchall(self) -> list[Any]:
        return list(self.cursor)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.cursor)


class EncryptedConnection:
    """A connection with the interface that Sanderling uses. Its SQL is that of SQLite."""

    def __init__(self, path: str, key: str, *, read_only: bool) -> None:
        import apsw

        self.apsw = apsw
        flags = apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        try:
            self.db = apsw.Connection(path, flags=flags)
            self.db.set_busy_timeout(BUSY_MILLISECONDS)
            self.db.pragma("key", key)
            self.db.pragma("journal_mode" if not read_only else "user_version", *(() if read_only else ("wal",)))
        except (apsw.NotADBError, apsw.CantOpenError) as error:
            raise CollectionError(f"{path} cannot be opened with the key in {KEY_VARIABLE}: {error}") from None

    def execute(self, sql: str, parameters: Any = (), /) -> EncryptedCursor:
        try:
            cursor = self.db.execute(sql, parameters)
        except self.apsw.FullError as error:
            raise DiskFull(f"no space left for the database: {error}") from error
        return EncryptedCursor(cursor, self.db.changes())

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> object:
        try:
            return self.db.executemany(sql, parameters)
        except self.apsw.FullError as error:
            raise DiskFull(f"no space left for the database: {error}") from error

    def close(self) -> None:
        self.db.close()

    @property
    def in_transaction(self) -> bool:
        return bool(self.db.in_transaction)


def connect_encrypted(url: str, *, read_only: bool) -> EncryptedConnection:
    """Open the database of `encrypted:///path`."""
    key = os.environ.get(KEY_VARIABLE, "")
    if not key:
        raise UsageError(f"set {KEY_VARIABLE}: the key of the encrypted database")
    return EncryptedConnection(unquote(url.partition("://")[2]), key, read_only=read_only)
