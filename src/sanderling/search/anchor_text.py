"""Anchor texts and inlink counts of link targets, written per batch of visits."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from sanderling.db.connection import Connection, Cursor, apply_migrations, connect_sqlite, is_corruption
from sanderling.errors import CollectionError, IndexDamaged
from sanderling.search import canonical

DATABASE = "anchors.db"
MAX_TEXTS = 8  # distinct texts per target
MAX_TEXT_LENGTH = 80
MIGRATIONS = [
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
    canonical.WATCH_SCHEMA,
]
_encode_texts = msgspec.msgpack.Encoder().encode
_decode_texts = msgspec.msgpack.Decoder(list[str]).decode


class AnchorStore:
    def __init__(self, db: Connection, folder: Path) -> None:
        self.db = db
        self.folder = folder
        self.pending_targets: dict[int, tuple[int, list[str]]] = {}
        self.counted_sources: set[int] = set()  # of this batch

    def add(self, source: int, targets: Sequence[int], texts: Sequence[str]) -> None:
        """Add the links of a page, which counts as a single inlink however often it is indexed."""
        is_new = source not in self.counted_sources
        if is_new:
            is_new = self.db.execute("SELECT 1 FROM sources WHERE url = ?", (source,)).fetchone() is None
            self.counted_sources.add(source)
        for target, text in zip(targets, texts, strict=False):
            pages, known_texts = self.pending_targets.get(target, (0, []))
            line = " ".join(text[:MAX_TEXT_LENGTH].split())
            if line and len(known_texts) < MAX_TEXTS and line not in known_texts:
                known_texts.append(line)
            self.pending_targets[target] = pages + is_new, known_texts

    def flush(self) -> None:
        """Write the batch, and mark targets with new texts or twice the inlinks for reindexing."""
        ids = sorted(self.pending_targets)
        stored = self._load_rows(ids)
        rows = []
        for url in ids:
            pages, texts = self.pending_targets[url]
            old_pages, old_texts = stored.get(url, (0, []))
            merged = [*old_texts, *(text for text in texts if text not in old_texts)][:MAX_TEXTS]
            needs_indexing = merged != old_texts or (old_pages + pages).bit_length() > old_pages.bit_length()
            rows.append((url, old_pages + pages, _encode_texts(merged), needs_indexing))
        self.db.execute("BEGIN IMMEDIATE")
        self.db.executemany(
            "INSERT INTO anchors (url, pages, texts, fresh) VALUES (?, ?, ?, ?) ON CONFLICT (url) DO UPDATE SET"
            " pages = excluded.pages, texts = excluded.texts, fresh = max(fresh, excluded.fresh)",
            rows,
        )
        self.db.executemany("INSERT OR IGNORE INTO sources VALUES (?)", [(url,) for url in self.counted_sources])
        self.db.execute("COMMIT")
        self.pending_targets = {}
        self.counted_sources = set()

    def get_texts(self, url_ids: Sequence[int]) -> dict[int, tuple[int, list[str]]]:
        """Return `(inlinks, texts)` of each target."""
        return self._load_rows(url_ids)

    def compute_average_inlinks(self) -> float:
        pages, targets = self.db.execute("SELECT coalesce(sum(pages), 0), count(*) FROM anchors").fetchone()
        return pages / targets if targets else 1.0

    def find_unindexed(self, limit: int) -> list[int]:
        """Return targets with newer texts than their index entry."""
        return [row[0] for row in self.db.execute("SELECT url FROM anchors WHERE fresh = 1 LIMIT ?", (limit,))]

    def mark_indexed(self, url_ids: Iterable[int]) -> None:
        self.db.execute("BEGIN IMMEDIATE")
        self.db.executemany("UPDATE anchors SET fresh = 0 WHERE url = ?", [(url,) for url in url_ids])
        self.db.execute("COMMIT")

    def _load_rows(self, url_ids: Sequence[int]) -> dict[int, tuple[int, list[str]]]:
        found = {}
        for start in range(0, len(url_ids), 400):
            part = list(url_ids[start : start + 400])
            marks = ",".join("?" * len(part))
            for url, pages, texts in self.db.execute(
                f"SELECT url, pages, texts FROM anchors WHERE url IN ({marks})", part
            ):
                found[url] = pages, self._read_texts(texts)
        return found

    def _read_texts(self, texts: bytes) -> list[str]:
        try:
            return _decode_texts(texts)
        except msgspec.DecodeError as error:
            raise make_damage_error(self.folder, error) from None

    def close(self) -> None:
        self.db.close()


class AnchorConnection:
    """A connection that reports corruption of `anchors.db` with the remedy."""

    def __init__(self, db: Connection, folder: Path) -> None:
        self.db = db
        self.folder = folder

    def execute(self, sql: str, parameters: Any = (), /) -> Cursor:
        with report_damage(self.folder):
            return self.db.execute(sql, parameters)

    def executemany(self, sql: str, parameters: Any, /) -> object:
        with report_damage(self.folder):
            return self.db.executemany(sql, parameters)

    def close(self) -> None:
        self.db.close()

    @property
    def in_transaction(self) -> bool:
        return self.db.in_transaction


@contextmanager
def report_damage(folder: Path) -> Iterator[None]:
    """Report corruption as damage of the anchor database only."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if not is_corruption(error):
            raise
        raise make_damage_error(folder, error) from None


def make_damage_error(folder: Path, error: object) -> IndexDamaged:
    return IndexDamaged(
        f"{folder / DATABASE} is damaged: {error}; delete {folder}, the next command rebuilds it from the archive"
    )


def open_anchor_store(folder: Path) -> AnchorStore:
    folder.mkdir(parents=True, exist_ok=True)
    try:
        db = AnchorConnection(connect_sqlite(folder / DATABASE), folder)
    except CollectionError as error:
        if isinstance(error.__context__, sqlite3.DatabaseError) and is_corruption(error.__context__):
            raise make_damage_error(folder, error.__context__) from None
        raise
    db.execute("PRAGMA synchronous=FULL")  # anchors must be durable before the index commit
    apply_migrations(db, {"anchors": MIGRATIONS})
    return AnchorStore(db, folder)
