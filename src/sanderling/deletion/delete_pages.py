"""Forget pages of a collection for good: out of the catalogue, the archive, the indexes, and not fetched again.

One chunk after the other: its rows go, with a note of what is left to do; its records are erased, its words leave the
full-text index; then the next. Whatever stops it, the next call goes on.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from sanderling.clock import real
from sanderling.crawl.worker_pool import KEEP
from sanderling.db.connection import connect, migrate, transaction
from sanderling.db.schema import changes, frontier
from sanderling.db.schema import dedup as dedupe
from sanderling.db.schema import revisit as refresh
from sanderling.db.schema import storage as store
from sanderling.deletion.rows import Forgetter, Terms, Work, done, pending
from sanderling.deletion.selection import UNFINISHED, Choice, begin, chosen, end
from sanderling.errors import CollectionError, MissingExtra
from sanderling.fetch.template_filter import FILE as KEPT
from sanderling.fetch.template_filter import is_kept
from sanderling.models import State
from sanderling.search.background_indexer import can_index
from sanderling.storage.catalog import Catalogue
from sanderling.storage.collection import Collection, get_meta, open_collection
from sanderling.urls.normalize import normalise
from sanderling.warc.archive import Archive, open_archive
from sanderling.warc.cdxj import Entry
from sanderling.warc.cdxj_index import drop, open_index, wipe
from sanderling.warc.erase import erase
from sanderling.warc.remote import POINTER

KEPT_OF_PAGES = (
    *frontier.OF_PAGE, *dedupe.OF_PAGE, *changes.OF_PAGE, *store.OF_PAGE, *refresh.OF_PAGE
)  # fmt: skip
STRUCTURE = "structure.db*"  # derived: it is made again when it is wanted
WORDS = "index"  # folder of the full-text index


class Forgotten(Struct):
    """What was."""

    urls: int = 0
    pages: int = 0
    records: int = 0  # of the archive, erased
    elsewhere: int = 0  # of files that are not here: they stay as they are
    copies: str = ""  # where copies of the archive are that were not touched


class Erased(Struct):
    """What has gone, for the indexes."""

    places: set[tuple[str, int]] = set()
    urls: set[str] = set()


def forget(folder: Path, choice: Choice) -> Forgotten:
    """Forget what is meant, and finish what an earlier call left (what it left by age, if nothing else is meant)."""
    report, erased = Forgotten(), Erased()
    with open_collection(folder) as collection, _opened(collection) as archive:
        db = collection.db
        migrate(db, {"refresh": refresh.MIGRATIONS})
        resumed = get_meta(db, UNFINISHED) == "1"
        with transaction(db):
            choices = begin(db, choice)
        left = pending(db)
        if left is not None:
            _complete(left, collection, archive, report, erased)
            done(db)
        for one in choices:
            _forget(one, collection, archive, report, erased)
        _settle(collection, archive, erased, resumed)
        end(db, choice)
        if isinstance(db, sqlite3.Connection):
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        report.copies = (archive.folder / POINTER).read_text().strip() if (archive.folder / POINTER).is_file() else ""
    return report


def _forget(choice: Choice, collection: Collection, archive: Archive, report: Forgotten, erased: Erased) -> None:
    """Forget what one choice means, chunk by chunk."""
    db, ids = collection.db, chosen(collection.db, choice)
    state = State.GONE if choice.is_by_age else State.SKIPPED
    forgetter = Forgetter(db, archive, ids, Terms(real(), int(get_meta(db, "session", "1")), KEPT_OF_PAGES, state))
    for work in forgetter.chunks():
        _complete(work, collection, archive, report, erased)
    report.urls += len(ids)
    report.pages += forgetter.pages


@contextmanager
def _opened(collection: Collection) -> Iterator[Archive]:
    catalogue = Catalogue(collection.db)
    with open_archive(collection.archive, catalogue.committed(), clock=real) as archive:
        with transaction(collection.db):
            for name, length in archive.lengths().items():
                catalogue.file_id(name, length)
        yield archive


def _complete(work: Work, collection: Collection, archive: Archive, report: Forgotten, erased: Erased) -> None:
    """Do what is left of one chunk; to do it twice does no harm."""
    erase(archive.folder, work.places, time.time())
    erased.places.update((place.file, place.offset) for place in work.places)
    erased.urls.update(work.urls)
    report.records += len(work.places)
    report.elsewhere += work.elsewhere
    if (collection.folder / WORDS).is_dir():
        if not can_index():
            raise MissingExtra(f"taking pages out of the full-text index in {collection.folder / WORDS}", "search")
        _leave_search(collection.folder / WORDS, work)
    if is_kept(collection.folder / KEEP):
        kept = connect(collection.folder / KEEP / KEPT)
        kept.executemany("DELETE FROM kept WHERE url = ?", [(url,) for url in work.urls])
        kept.close()


def _leave_search(folder: Path, work: Work) -> None:
    from sanderling.search.index import open_index as open_words  # brings the search engine with it

    try:
        words = open_words(folder, write=True)
    except CollectionError:
        raise CollectionError(f"another process writes to {folder}; stop it, then: sanderling forget") from None
    assert words is not None  # it was opened for writing
    try:
        words.forget(work.urls)
        words.commit(words.missing_since)
    finally:
        words.close()


def _settle(collection: Collection, archive: Archive, erased: Erased, resumed: bool) -> None:
    """Bring what is derived up to date: counts of hosts, the index of the archive, the index of structures."""
    db = collection.db
    with transaction(db):
        db.execute("UPDATE hosts SET waiting = (SELECT count(*) FROM queue WHERE queue.host = hosts.id)")
    if resumed:
        wipe(collection.indexes)
    else:
        drop(collection.indexes, lambda entry: _place(entry) in erased.places or _key(entry) in erased.urls)
    open_index(collection.indexes, collection.archive, Catalogue(db).committed() | archive.lengths()).close()
    for path in collection.indexes.glob(STRUCTURE):
        path.unlink()


def _place(entry: Entry) -> tuple[str, int]:
    return entry.place.file, entry.place.offset


def _key(entry: Entry) -> str:
    spelling = normalise(entry.url)
    return spelling.url if spelling else entry.url
