"""Forget pages of a collection for good: out of the catalogue, the archive, the indexes, and not fetched again.

One chunk after the other: its rows go, with a note of what is left to do; its records are erased, its words leave the
full-text index; then the next. Whatever stops it, the next call goes on.
"""

import json
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from sanderling.clock import real
from sanderling.database import Connection, connect, migrate, transaction
from sanderling.errors import CollectionError, MissingExtra
from sanderling.home.offers import ARRIVALS
from sanderling.index.beside import can_index
from sanderling.migrants.briefed import FILE as KEPT
from sanderling.migrants.briefed import is_kept
from sanderling.opening import FORGOTTEN
from sanderling.organise.forgotten import matcher
from sanderling.organise.normalise import normalise
from sanderling.quarters import KEEP
from sanderling.refresh.schema import MIGRATIONS as REFRESH
from sanderling.store.catalogue import Catalogue
from sanderling.store.cdxj import Entry
from sanderling.store.cdxj_index import drop, open_index, wipe
from sanderling.store.collection import Collection, get_meta, open_collection, read_collection, set_meta
from sanderling.store.erase import erase
from sanderling.store.forget import Forgetter, Work, done, known, pending
from sanderling.store.listing import urls_of
from sanderling.store.offsite import POINTER
from sanderling.store.warc import Archive, open_archive
from sanderling.wanted import RULES

OTHERS = "others"  # rules that no run has: what was skipped is judged again
UNFINISHED = "forgetting"  # in the meta table, while it goes on
STRUCTURE = "structure.db*"  # derived: it is made again when it is wanted
WORDS = "index"  # folder of the full-text index
SHOWN = 5


class Meant(Struct, frozen=True):
    """What would be forgotten."""

    urls: int
    pages: int
    some: list[str]


class Forgotten(Struct):
    """What was."""

    urls: int = 0
    pages: int = 0
    records: int = 0  # of the archive, erased
    elsewhere: int = 0  # of files that are not here: they stay as they are
    copies: str = ""  # where copies of the archive are that were not touched


def meant(folder: Path, patterns: Sequence[str]) -> Meant:
    """Say what patterns mean, and change nothing."""
    with read_collection(folder) as collection:
        expression = matcher(patterns)
        ids = known(collection.db, expression.fullmatch) if expression else []
        wanted = set(ids)
        pages = sum(url in wanted for (url,) in collection.db.execute("SELECT url FROM pages"))
        return Meant(len(ids), pages, list(urls_of(collection.db, ids[:SHOWN]).values()))


def banned(folder: Path) -> list[str]:
    """The patterns of what is forgotten, and stays out."""
    with read_collection(folder) as collection:
        found: list[str] = json.loads(get_meta(collection.db, FORGOTTEN, "[]"))
        return found


def is_unfinished(folder: Path) -> bool:
    """Was a forgetting cut short?"""
    with read_collection(folder) as collection:
        return get_meta(collection.db, UNFINISHED) == "1"


def allow(folder: Path, patterns: Sequence[str]) -> list[str]:
    """Let the next crawl fetch again what these patterns kept out; say which of them did."""
    with open_collection(folder) as collection:
        known_ones: list[str] = json.loads(get_meta(collection.db, FORGOTTEN, "[]"))
        set_meta(collection.db, FORGOTTEN, json.dumps([one for one in known_ones if one not in patterns]))
        set_meta(collection.db, RULES, OTHERS)
        return [one for one in known_ones if one in patterns]


def forget(folder: Path, patterns: Sequence[str]) -> Forgotten:
    """Forget what is like these patterns, and finish what an earlier call left."""
    report = Forgotten()
    with open_collection(folder) as collection, _opened(collection) as archive:
        db = collection.db
        migrate(db, {"refresh": REFRESH})
        resumed = get_meta(db, UNFINISHED) == "1"
        with transaction(db):
            set_meta(db, UNFINISHED, "1")
            every = [*json.loads(get_meta(db, FORGOTTEN, "[]")), *patterns]
            set_meta(db, FORGOTTEN, json.dumps(list(dict.fromkeys(every))))
            _drop_seeds(db, every)
        erased: set[tuple[str, int]] = set()
        left = pending(db)
        if left is not None:
            _complete(left, collection, archive, report, erased)
            done(db)
        expression = matcher(every)
        ids = known(db, expression.fullmatch) if expression else []
        forgetter = Forgetter(db, archive, ids, real(), int(get_meta(db, "session", "1")))
        for work in forgetter.chunks():
            _complete(work, collection, archive, report, erased)
        report.urls, report.pages = len(ids), forgetter.pages
        _settle(collection, archive, every, erased, resumed)
        report.copies = (archive.folder / POINTER).read_text().strip() if (archive.folder / POINTER).is_file() else ""
    return report


def _drop_seeds(db: Connection, patterns: Sequence[str]) -> None:
    """What is forgotten is no place to begin at."""
    expression = matcher(patterns)
    if expression is None:
        return
    for name in ("seeds", ARRIVALS):
        kept = [url for url in json.loads(get_meta(db, name, "[]")) if not expression.fullmatch(url)]
        set_meta(db, name, json.dumps(kept))


@contextmanager
def _opened(collection: Collection) -> Iterator[Archive]:
    catalogue = Catalogue(collection.db)
    with open_archive(collection.archive, catalogue.committed(), clock=real) as archive:
        with transaction(collection.db):
            for name, length in archive.lengths().items():
                catalogue.file_id(name, length)
        yield archive


def _complete(
    work: Work, collection: Collection, archive: Archive, report: Forgotten, erased: set[tuple[str, int]]
) -> None:
    """Do what is left of one chunk; to do it twice does no harm."""
    erase(archive.folder, work.places, time.time())
    erased.update((place.file, place.offset) for place in work.places)
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
    from sanderling.index.store import open_index as open_words  # brings the search engine with it

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


def _settle(
    collection: Collection, archive: Archive, patterns: Sequence[str], erased: set[tuple[str, int]], resumed: bool
) -> None:
    """Bring what is derived up to date: counts of hosts, the index of the archive, the index of structures."""
    db, expression = collection.db, matcher(patterns)
    with transaction(db):
        db.execute("UPDATE hosts SET waiting = (SELECT count(*) FROM queue WHERE queue.host = hosts.id)")
    if resumed:
        wipe(collection.indexes)
    elif expression:
        drop(collection.indexes, lambda entry: _place(entry) in erased or bool(expression.fullmatch(_key(entry))))
    open_index(collection.indexes, collection.archive, Catalogue(db).committed() | archive.lengths()).close()
    for path in collection.indexes.glob(STRUCTURE):
        path.unlink()
    set_meta(db, UNFINISHED, "0")
    if isinstance(db, sqlite3.Connection):
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _place(entry: Entry) -> tuple[str, int]:
    return entry.place.file, entry.place.offset


def _key(entry: Entry) -> str:
    spelling = normalise(entry.url)
    return spelling.url if spelling else entry.url
