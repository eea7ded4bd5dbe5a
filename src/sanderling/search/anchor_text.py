"""Words of links: for each target the texts others link to it with, and how many pages do.

Gathered while the index follows the crawl, written down once per batch: a row per link would cost more than the index.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from sanderling.db.connection import Connection, Cursor, connect, is_damage, migrate
from sanderling.errors import CollectionError
from sanderling.search import canonical

DATABASE = "anchors.db"
MOST_TEXTS = 8  # different texts kept per target
LONGEST_TEXT = 80
SCHEMA = [
    """
    CREATE TABLE anchors (
        url INTEGER PRIMARY KEY,
        pages INTEGER NOT NULL,
        texts BLOB NOT NULL,
        fresh INTEGER NOT NULL DEFAULT 1
    );
    CREATE TABLE sources (url INTEGER PRIMARY KEY);
    CREATE INDEX anchors_fresh ON anchors (fresh) WHERE fresh = 1
    """,
    canonical.SCHEMA,
]
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[str]).decode


class Anchors:
    """What links say of their targets."""

    def __init__(self, db: Connection, folder: Path) -> None:
        self.db = db
        self.folder = folder
        self.pending: dict[int, tuple[int, list[str]]] = {}
        self.counted: set[int] = set()  # pages of this batch

    def add(self, source: int, targets: Sequence[int], texts: Sequence[str]) -> None:
        """Take the links of one page; they are counted the first time only, their words each time."""
        new = source not in self.counted
        if new:
            new = self.db.execute("SELECT 1 FROM sources WHERE url = ?", (source,)).fetchone() is None
            self.counted.add(source)
        for target, text in zip(targets, texts, strict=False):
            pages, known = self.pending.get(target, (0, []))
            flat = " ".join(text[:LONGEST_TEXT].split())
            if flat and len(known) < MOST_TEXTS and flat not in known:
                known.append(flat)
            self.pending[target] = pages + new, known

    def flush(self) -> None:
        """Write the batch down in key order; a target whose words changed is marked to be indexed again."""
        ids = sorted(self.pending)
        known = self._rows(ids)
        rows = []
        for url in ids:
            pages, texts = self.pending[url]
            before, old = known.get(url, (0, []))
            merged = [*old, *(text for text in texts if text not in old)][:MOST_TEXTS]
            fresh = merged != old or (before + pages).bit_length() > before.bit_length()
            rows.append((url, before + pages, _encode(merged), fresh))
        self.db.execute("BEGIN IMMEDIATE")
        self.db.executemany(
            "INSERT INTO anchors (url, pages, texts, fresh) VALUES (?, ?, ?, ?) ON CONFLICT (url) DO UPDATE SET"
            " pages = excluded.pages, texts = excluded.texts, fresh = max(fresh, excluded.fresh)",
            rows,
        )
        self.db.executemany("INSERT OR IGNORE INTO sources VALUES (?)", [(url,) for url in self.counted])
        self.db.execute("COMMIT")
        self.pending = {}
        self.counted = set()

    def of(self, urls: Sequence[int]) -> dict[int, tuple[int, list[str]]]:
        """Pages that link to each of these, and the words they use."""
        return self._rows(urls)

    def average(self) -> float:
        """How many pages link to a linked page on average."""
        pages, targets = self.db.execute("SELECT coalesce(sum(pages), 0), count(*) FROM anchors").fetchone()
        return pages / targets if targets else 1.0

    def fresh(self, most: int) -> list[int]:
        """Targets whose words are newer than their entry in the index."""
        return [row[0] for row in self.db.execute("SELECT url FROM anchors WHERE fresh = 1 LIMIT ?", (most,))]

    def settle(self, urls: Iterable[int]) -> None:
        """These are in the index as they are."""
        self.db.execute("BEGIN IMMEDIATE")
        self.db.executemany("UPDATE anchors SET fresh = 0 WHERE url = ?", [(url,) for url in urls])
        self.db.execute("COMMIT")

    def _rows(self, urls: Sequence[int]) -> dict[int, tuple[int, list[str]]]:
        found = {}
        for start in range(0, len(urls), 400):
            part = list(urls[start : start + 400])
            marks = ",".join("?" * len(part))
            for url, pages, texts in self.db.execute(
                f"SELECT url, pages, texts FROM anchors WHERE url IN ({marks})", part
            ):
                found[url] = pages, self._read(texts)
        return found

    def _read(self, texts: bytes) -> list[str]:
        try:
            return _decode(texts)
        except msgspec.DecodeError as error:
            raise damaged_anchors(self.folder, error) from None

    def close(self) -> None:
        """Close the database."""
        self.db.close()


class AnchorConnection:
    """A connection that names `anchors.db` and its remedy when SQLite finds it damaged."""

    def __init__(self, db: Connection, folder: Path) -> None:
        self.db = db
        self.folder = folder

    def execute(self, sql: str, parameters: Any = (), /) -> Cursor:
        with naming_damage(self.folder):
            return self.db.execute(sql, parameters)

    def executemany(self, sql: str, parameters: Any, /) -> object:
        with naming_damage(self.folder):
            return self.db.executemany(sql, parameters)

    def close(self) -> None:
        self.db.close()

    @property
    def in_transaction(self) -> bool:
        return self.db.in_transaction


@contextmanager
def naming_damage(folder: Path) -> Iterator[None]:
    """Report damage of the anchor database as such, not as damage of the collection it is derived from."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        raise damaged_anchors(folder, error) from None


def damaged_anchors(folder: Path, error: object) -> CollectionError:
    """Make the error that names the file and the remedy: the index is built again from the archive."""
    return CollectionError(
        f"{folder / DATABASE} is damaged: {error}; delete {folder}: it is made anew from the archive"
    )


def open_anchors(folder: Path) -> Anchors:
    """Open the words of links beside the index."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        db = AnchorConnection(connect(folder / DATABASE), folder)
    except CollectionError as error:
        if isinstance(error.__context__, sqlite3.DatabaseError) and is_damage(error.__context__):
            raise damaged_anchors(folder, error.__context__) from None
        raise
    db.execute("PRAGMA synchronous=FULL")  # the commit of the index must not come without it, not even in a power cut
    migrate(db, {"anchors": SCHEMA})
    return Anchors(db, folder)
