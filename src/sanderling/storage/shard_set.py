"""Shard sets: a folder with a control database and an ordinary collection per shard, readable together.

    collection/shards.db        who owns which shard, and mail between them (or `shards.url`: a PostgreSQL database)
    collection/shard-00/        a collection: database, WARC files, index
    collection/shard-01/        ...

Row ids of the shards are in disjoint ranges, so views that unite the tables of all shards read like one collection.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote, urlsplit

from sanderling.db.backend import RECONNECT_SECONDS
from sanderling.db.connection import Connection, apply_migrations, connect_sqlite, is_schema_current, open_united_sqlite
from sanderling.db.id_range import build_id_range
from sanderling.db.schema.control import MIGRATIONS
from sanderling.db.schema.revisit import MIGRATIONS as REVISIT
from sanderling.errors import CollectionError, UsageError
from sanderling.frontier.shard_links import VIRTUAL_SHARDS, ShardIdentity
from sanderling.storage.collection import (
    DATABASE_FILE,
    SCHEMA_MIGRATIONS,
    StoredCollection,
    open_collection,
    open_collection_read_only,
    read_database_url,
)
from sanderling.storage.collection_meta import CollectionMeta
from sanderling.storage.shard_control import ShardControl, ShardRow

CONTROL_FILE = "shards.db"
CONTROL_URL_FILE = "shards.url"  # contains the PostgreSQL URL of the control database, unless it is SQLite
CONTROL_SCHEMA = "sanderling_control"
MAX_SQLITE_SHARDS = 10  # files that SQLite attaches to one connection
TABLES_OF_ALL = {  # tables whose rows are not those of pages or hosts
    "meta": "SELECT * FROM {0}.meta WHERE name NOT IN ('is_complete', 'unrecorded_skips')"
    " UNION ALL SELECT name, CAST(min(CAST(value AS INTEGER)) AS TEXT) FROM ({rows}) AS r"
    " WHERE name = 'is_complete' GROUP BY name"
    " UNION ALL SELECT name, CAST(sum(CAST(value AS INTEGER)) AS TEXT) FROM ({rows}) AS r"
    " WHERE name = 'unrecorded_skips' GROUP BY name",
    "blobs": "SELECT * FROM {0}.blobs",
    "policies": "SELECT * FROM {0}.policies",
    "schema_versions": "SELECT * FROM {0}.schema_versions",
    "runs": "SELECT * FROM {0}.runs",
    "intervals": "SELECT * FROM {0}.intervals",
    "near_duplicate_progress": "SELECT * FROM {0}.near_duplicate_progress",
    "counters": "SELECT name, sum(value) AS value FROM ({rows}) AS r GROUP BY name",
    "duplicate_counts": "SELECT name, sum(count) AS count FROM ({rows}) AS r GROUP BY name",
}


def is_shard_set(folder: Path) -> bool:
    return (folder / CONTROL_FILE).is_file() or (folder / CONTROL_URL_FILE).is_file()


def get_shard_folder(folder: Path, shard: int) -> Path:
    return folder / f"shard-{shard:02}"


def list_shard_folders(folder: Path) -> list[Path]:
    control = open_control(folder)
    try:
        return [get_shard_folder(folder, shard.id) for shard in control.load_shards()]
    finally:
        control.close()


def open_control(folder: Path) -> ShardControl:
    """Open the control database of a shard set. Raises CollectionError if it is missing."""
    if (folder / CONTROL_URL_FILE).is_file():
        from sanderling.db.postgres import connect_postgres

        return ShardControl(connect_postgres((folder / CONTROL_URL_FILE).read_text().strip(), RECONNECT_SECONDS))
    if not (folder / CONTROL_FILE).is_file():
        raise CollectionError(f"{folder} is no shard set; create one with: sanderling crawl URL --shards 4 -C {folder}")
    return ShardControl(connect_sqlite(folder / CONTROL_FILE))


def create_shard_set(folder: Path, count: int, database_urls: Sequence[str] = ()) -> None:
    """Create the control database and empty shards; `database_urls`: PostgreSQL servers, used in turn."""
    if not 1 <= count <= (VIRTUAL_SHARDS if database_urls else MAX_SQLITE_SHARDS):
        limit = f"up to {MAX_SQLITE_SHARDS}; with --store postgresql://... up to {VIRTUAL_SHARDS}"
        raise UsageError(f"--shards {count}: a set in SQLite has {limit}")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "archive").mkdir(exist_ok=True)
    if database_urls:
        _write_private(folder / CONTROL_URL_FILE, create_schema(database_urls[0], CONTROL_SCHEMA))
    else:
        connect_sqlite(folder / CONTROL_FILE).close()
    control = open_control(folder)
    try:
        apply_migrations(control.db, {"control": MIGRATIONS})
        rows = []
        for number in range(count):
            url = database_urls[number % len(database_urls)] if database_urls else ""
            rows.append(build_shard_row(number, number + 1, create_schema(url, f"shard_{number:02}") if url else ""))
        control.store_shards(rows, [virtual % count for virtual in range(VIRTUAL_SHARDS)])
    finally:
        control.close()
    for row in rows:
        open_collection(get_shard_folder(folder, row.id), row.database_url).close()


def build_shard_row(number: int, range_number: int, database_url: str = "") -> ShardRow:
    return ShardRow(number, database_url, range_number, "", 0, 0.0, -1, "", b"", b"")


def load_identity(control: ShardControl, shard: int) -> ShardIdentity:
    row = next((row for row in control.load_shards() if row.id == shard), None)
    if row is None:
        raise UsageError(f"there is no shard {shard}")
    return ShardIdentity(shard, build_id_range(row.range_number), control.load_owners())


def create_schema(database_url: str, schema: str) -> str:
    """Create a schema in a PostgreSQL database, and return the URL that selects it."""
    from sanderling.db.postgres import connect_postgres

    db = connect_postgres(database_url)
    db.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    db.close()
    return f"{database_url}{'&' if urlsplit(database_url).query else '?'}options={quote(f'-csearch_path={schema}')}"


def _write_private(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text)


def open_united(folder: Path) -> StoredCollection:
    """Open all shards for reading, united by views."""
    control = open_control(folder)
    try:
        shards = control.load_shards()
    finally:
        control.close()
    for shard in shards:
        with open_collection_read_only(get_shard_folder(folder, shard.id)) as collection:  # migrates an older schema
            if not is_schema_current(collection.db, {"revisit": REVISIT}):
                _create_revisit_tables(collection.folder)
    db, _ = connect_united(folder, [shard.id for shard in shards])
    return StoredCollection(folder, db, -1)


def connect_united(folder: Path, shards: Sequence[int]) -> tuple[Connection, list[str]]:
    """Open the databases of some shards for reading, united by views. Also returns the schema of each."""
    folders = [get_shard_folder(folder, shard) for shard in shards]
    urls = [read_database_url(shard_folder) for shard_folder in folders]
    if any(urls):
        from sanderling.db.foreign_schemas import connect_with_foreign_schemas

        version = sum(map(len, (*SCHEMA_MIGRATIONS.values(), REVISIT)))
        places = [(_get_server(url), f"shard_{shard:02}") for url, shard in zip(urls, shards, strict=True)]
        db, schemas = connect_with_foreign_schemas(places, version)
        create_views(db, folders, schemas)
        return db, schemas
    united = open_united_sqlite([f / DATABASE_FILE for f in folders])
    names = [f"s{n}" for n in range(len(shards))]
    create_views(united, folders, names)
    return united, names


def find_siblings(folder: Path, owners: Sequence[int]) -> list[int]:
    """Return the other shards of the set of a shard whose tables are on the same server."""

    def get_server(shard_folder: Path) -> str:
        return _get_server(read_database_url(shard_folder))

    shards = [shard for shard in sorted(set(owners)) if get_shard_folder(folder.parent, shard) != folder]
    return [s for s in shards if get_server(get_shard_folder(folder.parent, s)) == get_server(folder)]


def _create_revisit_tables(folder: Path) -> None:
    with open_collection(folder) as collection:
        apply_migrations(collection.db, {"revisit": REVISIT})


def _get_server(database_url: str) -> str:
    return re.split("[?&]options=", database_url)[0]


def create_views(db: Connection, folders: Sequence[Path], schemas: Sequence[str]) -> None:
    """Create a view per table that unites the rows of all shards."""
    for table in list_tables(db, schemas[0]):
        db.execute(f"CREATE TEMP VIEW {table} AS {_build_view(table, folders, schemas)}")


def _build_view(table: str, folders: Sequence[Path], schemas: Sequence[str]) -> str:
    rows = " UNION ALL ".join(f"SELECT * FROM {schema}.{table}" for schema in schemas)
    if table in TABLES_OF_ALL:
        return TABLES_OF_ALL[table].format(*schemas, rows=rows)
    if table == "files":  # names relative to the archive folder of the set
        return " UNION ALL ".join(
            f"SELECT id, '../{folder.name}/archive/' || name AS name, committed FROM {schema}.files"
            for folder, schema in zip(folders, schemas, strict=True)
        )
    return rows


def list_tables(db: Connection, schema: str) -> list[str]:
    """Return the tables of a schema or attached database."""
    if schema.startswith("shard_"):
        rows = db.execute("SELECT tablename FROM pg_tables WHERE schemaname = ?", (schema,)).fetchall()
    else:
        rows = db.execute(f"SELECT name FROM {schema}.sqlite_master WHERE type = 'table'").fetchall()
    return [name for (name,) in rows if not name.startswith("sqlite_")]


def has_complete_pass(folder: Path) -> bool:
    """Return whether every shard ended its last run with nothing queued."""
    for shard_folder in list_shard_folders(folder):
        with open_collection_read_only(shard_folder) as collection:
            if not CollectionMeta(collection.db).is_complete:
                return False
    return True
