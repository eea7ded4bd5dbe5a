"""Divide a collection into shards, and join the shards of a set, while no crawl runs. Only for SQLite.

WARC files are hard links with new names: a crawl appends only to files that it has named, so no file gets two writers.
The folder becomes a set when `shards.db` appears, and a collection when it is removed; a crash before changes nothing.
"""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from msgspec import structs

from sanderling.db.connection import Connection, apply_migrations, connect_sqlite, transaction
from sanderling.db.id_range import RANGE_BITS
from sanderling.db.schema.control import MIGRATIONS as CONTROL
from sanderling.db.schema.revisit import MIGRATIONS as REVISIT
from sanderling.errors import CollectionError, UsageError
from sanderling.frontier.shard_links import VIRTUAL_SHARDS, compute_virtual_shard
from sanderling.storage.collection import (
    DATABASE_FILE,
    DATABASE_URL_FILE,
    SCHEMA_MIGRATIONS,
    has_collection,
    open_collection,
)
from sanderling.storage.link_graph import LinkGraph, pack_links, unpack_links
from sanderling.storage.shard_control import ShardControl
from sanderling.storage.shard_set import (
    CONTROL_FILE,
    MAX_SQLITE_SHARDS,
    build_shard_row,
    get_shard_folder,
    is_shard_set,
    list_tables,
    open_control,
    open_united,
)
from sanderling.warc.cdxj_index import open_cdxj_index

BY_HOST = {"hosts": "id", "urls": "host", "queue": "host", "leases": "host", "change_lists": "host",
           "page_transitions": "host"}  # fmt: skip
BY_PAGE = {"pages": "url", "visits": "url", "fingerprints": "url", "sitemap_hints": "url", "changes": "url",
           "page_resources": "page", "near_duplicates": "url", "due": "url", "announcements": "url",
           "sitemap_schedule": "url", "tvi_files": "page"}  # fmt: skip
BY_VISIT = {"digests": "visit"}
BY_SITE = {"noise": "site", "render_templates": "host"}
BY_COLLECTION = frozenset({"files", "meta", "blobs", "policies", "intervals", "counters", "runs", "patterns",
                           "near_duplicate_progress", "duplicate_counts"})  # fmt: skip # copied to every shard
REBUILT = frozenset({"backlinks", "backlink_buckets", "foreign_urls", "outbox", "inbox", "schema_versions"})
NOT_CONVERTED = frozenset({"imports", "forms", "form_queries", "form_sites"})  # must be empty
SHARED_PREFIX = "shared-"  # of WARC files that several shards read
BATCH_ROWS = 2_000
OWNER = "conversion"
CONVERSION_SECONDS = 86_400.0


def split_collection(folder: Path, count: int, now: float) -> None:
    """Divide a collection into shards. A set is joined first."""
    if not 2 <= count <= MAX_SQLITE_SHARDS:
        raise UsageError(f"a set in SQLite has 2 to {MAX_SQLITE_SHARDS} shards, not {count}")
    if is_shard_set(folder):
        join_shards(folder, now)
    if (folder / DATABASE_URL_FILE).is_file():
        raise CollectionError("a collection with --store cannot be divided yet; crawl into a new set with --shards")
    if not has_collection(folder):
        raise CollectionError(f"there is no collection in {folder}; create one with: sanderling crawl URL --shards 4")
    owners = [virtual % count for virtual in range(VIRTUAL_SHARDS)]
    with open_collection(folder) as collection:
        apply_migrations(collection.db, {"revisit": REVISIT})
        _check_no_imports(collection.db)
        first_range = 1 + (_find_max_id(collection.db) >> RANGE_BITS)
        _place_hosts(collection.db, owners)
        for shard in range(count):
            _build_shard(collection.db, folder, shard, owners)
        _write_control(folder, [first_range + shard for shard in range(count)], owners)
    _delete_collection_files(folder)


def join_shards(folder: Path, now: float) -> None:
    """Make one collection of the shards of a set."""
    with _own_all_shards(folder, now) as control:
        shards = [row.id for row in control.load_shards()]
        if any(row.database_url for row in control.load_shards()):
            raise CollectionError("shards in PostgreSQL cannot be joined yet")
        target = folder / "joined.db"
        _remove_database(target)
        stubs = _join_rows(folder, target)
        with closing(connect_sqlite(target)) as db:
            _replace_stub_ids(db, stubs)
            _rebuild_backlinks(db)
        _build_cdxj_index(folder, target)
    target.rename(folder / DATABASE_FILE)
    _remove_database(folder / CONTROL_FILE)
    for shard in shards:
        shutil.rmtree(get_shard_folder(folder, shard), ignore_errors=True)


def _check_no_imports(db: Connection) -> None:
    if db.execute("SELECT 1 FROM imports LIMIT 1").fetchone():
        raise CollectionError("an import is not finished; run it again before the collection is divided")


@contextmanager
def _own_all_shards(folder: Path, now: float) -> Iterator[ShardControl]:
    """Own all shards of a set whose mail has been applied."""
    control = open_control(folder)
    tokens: dict[int, int] = {}
    try:
        for row in control.load_shards():
            tokens[row.id] = control.acquire_shard(row.id, OWNER, now, CONVERSION_SECONDS)
            if not tokens[row.id]:
                raise CollectionError(f"shard {row.id} of {folder} is in use by another process; wait for it")
        _check_mail(folder, control)
        yield control
    finally:
        for shard, token in tokens.items():
            control.release_shard(shard, token, now)
        control.close()


def _check_mail(folder: Path, control: ShardControl) -> None:
    """Raise CollectionError if a shard has sent links that their receiver has not applied."""
    for row in control.load_shards():
        positions = control.load_positions(row.id)
        with open_collection(get_shard_folder(folder, row.id)) as collection:
            sent = collection.db.execute("SELECT receiver, max(sequence) FROM outbox GROUP BY receiver").fetchall()
        if any(last > positions.get(receiver, 0) for receiver, last in sent):
            raise CollectionError(
                "links between shards are not delivered yet; start the crawl again, and stop it after a few seconds"
            )


def _find_max_id(db: Connection) -> int:
    return max(int(db.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()[0])
               for table in ("urls", "visits", "hosts", "files", "foreign_urls"))  # fmt: skip


def _place_hosts(db: Connection, owners: Sequence[int]) -> None:
    """Store the shard of each host in a temporary table."""
    db.execute("CREATE TEMP TABLE placement (host INTEGER PRIMARY KEY, shard INTEGER NOT NULL)")
    hosts = db.execute("SELECT id, name FROM hosts").fetchall()
    db.executemany(
        "INSERT INTO placement VALUES (?, ?)", [(id_, owners[compute_virtual_shard(name)]) for id_, name in hosts]
    )


def _build_shard(db: Connection, folder: Path, shard: int, owners: Sequence[int]) -> None:
    """Copy the rows of a shard into a database of its own, and link the WARC files."""
    shard_folder = get_shard_folder(folder, shard)
    shutil.rmtree(shard_folder, ignore_errors=True)
    with open_collection(shard_folder) as collection:
        apply_migrations(collection.db, {"revisit": REVISIT})
    db.execute("ATTACH ? AS part", (str(shard_folder / DATABASE_FILE),))
    try:
        with transaction(db):
            for table in list_tables(db, "main"):
                _copy_rows(db, table, shard, owners)
            _rename_files(db)
    finally:
        db.execute("DETACH part")
    for name, length in db.execute("SELECT name, committed FROM files").fetchall():
        _link(folder / "archive" / name, shard_folder / "archive" / _get_shared_name(name), length)
    with closing(connect_sqlite(shard_folder / DATABASE_FILE)) as part:
        _rebuild_backlinks(part)
    _build_cdxj_index(shard_folder, shard_folder / DATABASE_FILE)


def _copy_rows(db: Connection, table: str, shard: int, owners: Sequence[int]) -> None:
    hosts = f"SELECT host FROM placement WHERE shard = {shard}"
    pages = f"SELECT id FROM main.urls WHERE host IN ({hosts})"
    if table in REBUILT or table in NOT_CONVERTED:
        return
    db.execute(f"DELETE FROM part.{table}")
    copy = f"INSERT INTO part.{table} SELECT * FROM main.{table}"
    if table in BY_HOST:
        db.execute(f"{copy} WHERE {BY_HOST[table]} IN ({hosts})")
    elif table in BY_PAGE:
        db.execute(f"{copy} WHERE {BY_PAGE[table]} IN ({pages})")
    elif table in BY_VISIT:
        db.execute(f"{copy} WHERE {BY_VISIT[table]} IN (SELECT id FROM main.visits WHERE url IN ({pages}))")
    elif table in BY_SITE:
        column = BY_SITE[table]
        sites = [site for (site,) in db.execute(f"SELECT {column} FROM main.{table}").fetchall()]
        own = [(site,) for site in sites if owners[compute_virtual_shard(site)] == shard]
        db.executemany(f"{copy} WHERE {column} = ?", own)
    elif table in BY_COLLECTION and (table != "duplicate_counts" or shard == 0):
        db.execute(copy)


def _rename_files(db: Connection) -> None:
    names = db.execute("SELECT id, name FROM part.files").fetchall()
    db.executemany(
        "UPDATE part.files SET name = ? WHERE id = ?", [(_get_shared_name(name), id_) for id_, name in names]
    )


def _get_shared_name(name: str) -> str:
    return SHARED_PREFIX + name.removeprefix(SHARED_PREFIX)


def _link(source: Path, target: Path, length: int) -> None:
    """Link a WARC file, or copy it to another file system."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    if not length and not source.exists():
        return
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _write_control(folder: Path, ranges: Sequence[int], owners: Sequence[int]) -> None:
    """Write the control database; its appearance makes the folder a set."""
    new = folder / (CONTROL_FILE + ".new")
    _remove_database(new)
    db = connect_sqlite(new)
    apply_migrations(db, {"control": CONTROL})
    ShardControl(db).store_shards([build_shard_row(shard, number) for shard, number in enumerate(ranges)], owners)
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    new.rename(folder / CONTROL_FILE)


def _delete_collection_files(folder: Path) -> None:
    """Delete what the shards have copies of. The index of each shard is built again."""
    _remove_database(folder / DATABASE_FILE)
    for name in ("indexes", "index"):
        shutil.rmtree(folder / name, ignore_errors=True)
    for path in (folder / "archive").glob("*.warc.gz"):
        path.unlink()


def _remove_database(path: Path) -> None:
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
        (path.parent / name).unlink(missing_ok=True)


def _join_rows(folder: Path, target: Path) -> dict[int, int]:
    """Copy the rows of all shards. Returns the ids of URLs of other shards with the ids of their rows."""
    with closing(connect_sqlite(target)) as db:
        apply_migrations(db, {**SCHEMA_MIGRATIONS, "revisit": REVISIT})
    with open_united(folder) as united:
        united.db.execute("ATTACH ? AS target", (f"file:{target}?mode=rw",))
        tables = [name for name in list_tables(united.db, "target") if name not in REBUILT | NOT_CONVERTED]
        with transaction(united.db):
            for table in tables:
                united.db.execute(f"DELETE FROM target.{table}")
                united.db.execute(f"INSERT OR IGNORE INTO target.{table} SELECT * FROM {table}")
            _join_files(united.db, folder)
        stubs = united.db.execute(
            "SELECT f.id, u.id FROM foreign_urls AS f JOIN target.hosts AS h"
            " ON h.name = substr(f.url, 1, 8 + instr(substr(f.url, 9), '/') - 1)"
            " JOIN target.urls AS u ON u.host = h.id AND u.path = substr(f.url, 8 + instr(substr(f.url, 9), '/'))"
        ).fetchall()
    return dict(stubs)


def _join_files(db: Connection, folder: Path) -> None:
    """Link the WARC files of all shards into one folder, with names that no shard appends to."""
    for id_, name, length in db.execute("SELECT id, name, committed FROM target.files").fetchall():
        _, shard, _, base = name.split("/", 3)
        joined = base if base.startswith(SHARED_PREFIX) else f"{shard}-{base}"
        _link(folder / "archive" / name, folder / "archive" / joined, length)
        db.execute("UPDATE target.files SET name = ? WHERE id = ?", (joined, id_))


def _replace_stub_ids(db: Connection, stubs: Mapping[int, int]) -> None:
    """Let links to URLs of other shards point to their rows."""
    after = 0
    sql = "SELECT url, links FROM pages WHERE url > ? AND length(links) > 0 ORDER BY url LIMIT ?"
    while stubs and (rows := db.execute(sql, (after, BATCH_ROWS)).fetchall()):
        after = rows[-1][0]
        changed = []
        for url, packed in rows:
            links = unpack_links(packed)
            if any(target in stubs for target in links.target_ids):
                target_ids = [stubs.get(target, target) for target in links.target_ids]
                changed.append((pack_links(structs.replace(links, target_ids=target_ids)), url))
        with transaction(db):
            db.executemany("UPDATE pages SET links = ? WHERE url = ?", changed)


def _rebuild_backlinks(db: Connection) -> None:
    graph = LinkGraph(db)
    with transaction(db):
        db.execute("DELETE FROM meta WHERE name = 'graph_until'")
        graph.restore_pending()
        graph.flush()


def _build_cdxj_index(folder: Path, database: Path) -> None:
    shutil.rmtree(folder / "indexes", ignore_errors=True)
    with closing(connect_sqlite(database)) as db:
        lengths = dict(db.execute("SELECT name, committed FROM files").fetchall())
    (folder / "indexes").mkdir()
    open_cdxj_index(folder / "indexes", folder / "archive", lengths).close()
