"""Open the database of a collection by its URL: PostgreSQL, or a storage plugin by scheme."""

import time
from typing import Protocol

from sanderling.db.connection import Connection
from sanderling.errors import CollectionError, DatabaseUnavailable, SanderlingError, UsageError
from sanderling.plugins.plugin_registry import (
    PluginGroup,
    describe_plugin,
    has_plugin,
    list_plugin_names,
    load_plugin,
)

RECONNECT_SECONDS = 300.0  # a lost database may come back within this time
POSTGRES_SCHEMES = ("postgresql", "postgres")


class StorageBackend(Protocol):
    """Opens a database by its URL. It is a plugin, found by the scheme of the URL.

    Statements are written for SQLite with parameters `?` and `:name`; the backend translates them if necessary. A
    connection is in autocommit mode until `BEGIN IMMEDIATE`, and may be used by several threads, one at a time. Raise
    `DatabaseUnavailable` if the database cannot be reached (the crawl waits and continues), `DiskFull`, or
    `CollectionError`.
    """

    def __call__(self, url: str, *, read_only: bool) -> Connection:
        """Open the database, and create it if necessary unless `read_only`. One process at a time writes."""
        ...


def is_postgres_url(url: str) -> bool:
    return url.partition("://")[0] in POSTGRES_SCHEMES


def validate_database_url(url: str) -> None:
    """Raise UsageError if the URL is not empty, and neither a PostgreSQL URL nor one of a plugin."""
    scheme, separator, _ = url.partition("://")
    if not url or (separator and (scheme in POSTGRES_SCHEMES or has_plugin(PluginGroup.STORAGE, scheme))):
        return
    others = "".join(f", or {name}://..." for name in list_plugin_names(PluginGroup.STORAGE))
    raise UsageError(f"--store: not the address of a database; use postgresql://user@host/database{others}")


def connect_database(
    url: str, *, read_only: bool = False, wait_seconds: float = 0.0, is_exclusive: bool = False
) -> Connection:
    """Open a database, retrying for up to `wait_seconds` while it is unavailable.

    `is_exclusive`: raise CollectionError if another coordinator has it open.
    """
    if not is_postgres_url(url):
        return _connect_plugin(url, read_only, time.monotonic() + wait_seconds)
    from sanderling.db import postgres

    db = postgres.connect_postgres(url, wait_seconds)
    if is_exclusive:
        postgres.acquire_coordinator_lock(db)
    return db


def _connect_plugin(url: str, read_only: bool, deadline: float) -> Connection:
    scheme = url.partition("://")[0]
    connect: StorageBackend = load_plugin(PluginGroup.STORAGE, scheme)
    while True:
        try:
            return connect(url, read_only=read_only)
        except DatabaseUnavailable:
            if time.monotonic() >= deadline:
                raise
            time.sleep(1.0)
        except SanderlingError:
            raise
        except Exception as error:
            problem = f"{type(error).__name__}: {error}".replace(url, f"{scheme}://...")[:300]
            name = describe_plugin(PluginGroup.STORAGE, scheme)
            raise CollectionError(f"{name} cannot open its database: {problem}") from error
