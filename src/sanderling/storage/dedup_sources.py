"""Open other collections whose stored bodies a crawl refers to instead of storing them again."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from msgspec.structs import replace

from sanderling.db.connection import Connection, select_by_ids
from sanderling.errors import UsageError
from sanderling.storage.catalog import SELECT_IDENTICAL_BODIES, IdenticalBody, PageCatalog, compute_digest_prefix
from sanderling.storage.collection import StoredCollection, has_collection, open_collection_read_only
from sanderling.storage.shard_set import connect_united, find_siblings, get_shard_folder
from sanderling.storage.verify_collection import CollectionFault
from sanderling.warc.other_archives import OTHER_ARCHIVES_FILE, add_other_archive, load_other_archives


@contextmanager
def open_other_catalogs(collection: StoredCollection, folders: Sequence[str]) -> Iterator[dict[str, PageCatalog]]:
    """Yield the catalogs of other collections by the names that records refer to them with."""
    with ExitStack() as stack:
        catalogs = {}
        for folder in map(Path, folders):
            if not has_collection(folder):
                raise UsageError(f"--dedup-from {folder}: there is no collection")
            if folder.resolve() == collection.folder.resolve():
                raise UsageError("--dedup-from names the collection itself, whose bodies are stored once anyway")
            other = stack.enter_context(open_collection_read_only(folder))
            catalogs[add_other_archive(collection.archive_folder, other.archive_folder)] = PageCatalog(other.db)
        yield catalogs


class SiblingCatalog(PageCatalog):
    """Catalog of other shards of a set."""

    def __init__(self, db: Connection, archives_by_schema: Mapping[str, str]) -> None:
        super().__init__(db)
        self.archives_by_schema = archives_by_schema

    def find_identical_bodies(self, digests: Sequence[bytes]) -> dict[bytes, IdenticalBody]:
        """Return the first stored body for each of these digests, with the archive of its shard."""
        # Most pages are new: one look-up for all shards first, of an index alone. SQLite would join whole views.
        prefixes = {compute_digest_prefix(digest): digest for digest in digests}
        rows = select_by_ids(self.db, "SELECT prefix FROM digests WHERE prefix IN ({})", list(prefixes))
        wanted = {prefix: prefixes[prefix] for (prefix,) in rows}
        found: dict[bytes, IdenticalBody] = {}
        for schema, archive in self.archives_by_schema.items() if wanted else ():
            sql = re.sub(r"(FROM|JOIN) (\w+) AS", rf"\1 {schema}.\2 AS", SELECT_IDENTICAL_BODIES)
            for prefix, digest, *columns in select_by_ids(self.db, sql, list(wanted)):
                if wanted[prefix] == digest and digest not in found:
                    found[digest] = replace(IdenticalBody(*columns), archive=archive, is_sibling=True)
        return found


@contextmanager
def open_sibling_catalog(collection: StoredCollection, owners: Sequence[int]) -> Iterator[dict[str, PageCatalog]]:
    """Yield a catalog of the other shards of a set, whose bodies are not stored again."""
    siblings = find_siblings(collection.folder, owners)
    if not siblings:
        yield {}
        return
    for shard in siblings:
        archive = get_shard_folder(collection.folder.parent, shard) / "archive"
        add_other_archive(collection.archive_folder, archive, is_sibling=True)
    db, schemas = connect_united(collection.folder.parent, siblings)
    with closing(db):
        archives = [get_shard_folder(collection.folder.parent, shard).name for shard in siblings]
        yield {"siblings": SiblingCatalog(db, dict(zip(schemas, archives, strict=True)))}


def check_other_archives(archive_folder: Path) -> list[CollectionFault]:
    """Return a fault for each missing archive that revisit records refer to."""
    return [
        CollectionFault(
            OTHER_ARCHIVES_FILE,
            f"the archive {path}, which revisit records refer to, is missing",
            f"restore it, or correct its path in archive/{OTHER_ARCHIVES_FILE}",
        )
        for path in load_other_archives(archive_folder).values()
        if not path.is_dir()
    ]
