"""Open other collections whose stored bodies a crawl refers to instead of storing them again."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from sanderling.errors import UsageError
from sanderling.storage.catalog import PageCatalog
from sanderling.storage.collection import StoredCollection, has_collection, open_collection_read_only
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
