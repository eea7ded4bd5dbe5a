"""Schemas of several PostgreSQL servers in one connection, through `postgres_fdw` of the first server."""

import zlib
from typing import Any

from sanderling.db.postgres import PostgresConnection, connect_postgres
from sanderling.errors import CollectionError

FETCH_ROWS = "10000"  # read at once from another server


def import_foreign_schema(db: PostgresConnection, database_url: str, schema: str, version: int) -> str:
    """Import the tables of a schema on another server, once per schema version. Returns the name of the schema here."""
    import psycopg
    from psycopg import sql

    options: dict[str, Any] = psycopg.conninfo.conninfo_to_dict(database_url)
    place = {"host": "localhost", "port": "5432"} | {
        n: str(options[n]) for n in ("host", "port", "dbname") if n in options
    }
    login: dict[str, str] = {name: str(options[name]) for name in ("user", "password") if name in options}
    server = f"sanderling_{zlib.crc32(repr(sorted(place.items())).encode()):08x}"
    name = f"{server}_{schema}_{version}"

    def build_options(values: dict[str, str]) -> sql.Composable:
        pairs = [sql.SQL("{} {}").format(sql.Identifier(key), sql.Literal(value)) for key, value in values.items()]
        return sql.SQL("OPTIONS ({})").format(sql.SQL(", ").join(pairs))

    raw = db.raw_connection
    try:
        with raw.transaction():
            raw.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (name,))
            if raw.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (name,)).fetchone():
                return name
            raw.execute("CREATE EXTENSION IF NOT EXISTS postgres_fdw WITH SCHEMA public")
            raw.execute(
                sql.SQL("CREATE SERVER IF NOT EXISTS {} FOREIGN DATA WRAPPER postgres_fdw {}").format(
                    sql.Identifier(server), build_options(place | {"fetch_size": FETCH_ROWS})
                )
            )
            raw.execute(
                sql.SQL("CREATE USER MAPPING IF NOT EXISTS FOR CURRENT_USER SERVER {} {}").format(
                    sql.Identifier(server), build_options(login)
                )
            )
            raw.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(name)))
            raw.execute(
                sql.SQL("IMPORT FOREIGN SCHEMA {} FROM SERVER {} INTO {}").format(
                    *map(sql.Identifier, (schema, server, name))
                )
            )
    except (psycopg.errors.InsufficientPrivilege, psycopg.errors.UndefinedFile, psycopg.errors.FeatureNotSupported):
        raise CollectionError(
            "reading shards of several servers needs postgres_fdw on the first one; as its administrator run:"
            " CREATE EXTENSION postgres_fdw; GRANT USAGE ON FOREIGN DATA WRAPPER postgres_fdw TO your_user"
        ) from None
    return name


def connect_with_foreign_schemas(urls: list[tuple[str, str]], version: int) -> tuple[PostgresConnection, list[str]]:
    """Connect to the server of the first (URL, schema). Returns the names there of all schemas."""
    first = urls[0][0]
    db = connect_postgres(first)
    try:
        return db, [s if url == first else import_foreign_schema(db, url, s, version) for url, s in urls]
    except BaseException:
        db.close()
        raise
