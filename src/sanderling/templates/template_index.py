"""Inverted index of page features: which stored pages of a site share a feature.

The index is derived from the catalog, lies in a file of its own, and is brought up to date when it is opened. Pages of
a site are numbered; each segment of `SEGMENT_PAGES` pages has one compressed bit set per feature. A segment is written
anew when one of its pages changed. The size and coherence of the whole set of each feature are stored too, so that a
query reads the pages of the few concepts only that its samples make likely.
"""

import os
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from xxhash import xxh64, xxh64_intdigest

from sanderling.db.connection import Connection, apply_migrations, connect_sqlite, open_memory_copy
from sanderling.db.schema.templates import MIGRATIONS
from sanderling.models import Reason, UrlState
from sanderling.storage.collection import StoredCollection
from sanderling.templates.concept_averaging import PageSet
from sanderling.templates.page_features import PageView, extract_features
from sanderling.templates.page_partition import ReferencePages, is_concept_size

DATABASE = "structure.db"
SEGMENT_PAGES = 16_384
MIN_INDEXED_PAGES = 2  # a feature of one page of a segment is no concept
MAX_PARKED_PAGES = 50_000  # pages that workers keep; they show what is common on a site
REFERENCE_PAGES = 600
CHUNK = 500
PAGE_COLUMNS = (
    "SELECT u.id, u.host, h.name || u.path, coalesce(p.title, ''), m.value, p.status FROM urls AS u"
    " JOIN hosts AS h ON h.id = u.host LEFT JOIN pages AS p ON p.url = u.id"
    " LEFT JOIN fingerprints AS m ON m.url = u.id AND m.kind = 'structure'"
)


class SiteConcepts:
    """Concept source of a stored site."""

    def __init__(self, db: Connection, site: int) -> None:
        self.db = db
        self.site = site
        row = db.execute("SELECT page_count FROM template_sites WHERE site = ?", (site,)).fetchone()
        self.page_count: int = row[0] if row else 0

    def load_sets(self, features: Collection[int]) -> dict[int, PageSet]:
        """Return the sets of pages of these features, without those that are too small for a concept."""
        found: dict[int, PageSet] = {}
        wanted = sorted(features)
        for start in range(0, len(wanted), CHUNK):
            part = wanted[start : start + CHUNK]
            rows = self.db.execute(
                "SELECT feature, digest, size, saving FROM template_sets WHERE site = ?"
                f" AND feature IN ({','.join('?' * len(part))})",
                (self.site, *part),
            )
            found |= {feature: PageSet(digest, size, saving) for feature, digest, size, saving in rows}
        return found

    def load_pages(self, features: Collection[int]) -> dict[int, int]:
        """Return the pages that have each of these features."""
        query = "SELECT segment, pages FROM template_postings WHERE site = ? AND feature = ? ORDER BY segment"
        return {feature: join_segments(self.db.execute(query, (self.site, feature))) for feature in features}

    def load_ids(self, numbers: Collection[int]) -> dict[int, int]:
        """Return the URL ids of pages by their numbers."""
        if len(numbers) > CHUNK:
            rows = self.db.execute("SELECT number, url FROM template_pages WHERE site = ?", (self.site,))
            return {number: url for number, url in rows if number in numbers}
        marks = ",".join("?" * len(numbers))
        return dict(
            self.db.execute(
                f"SELECT number, url FROM template_pages WHERE site = ? AND number IN ({marks})",
                (self.site, *numbers),
            )
        )


class TemplateIndex:
    """Reads and updates the index of a collection."""

    def __init__(self, db: Connection, catalog: Connection) -> None:
        self.db = db
        self.catalog = catalog

    def open_site(self, site: int) -> SiteConcepts:
        return SiteConcepts(self.db, site)

    def list_pages(self, site: int, limit: int = -1) -> list[PageView]:
        """Return the indexed pages of a site in the order of their numbers."""
        rows = self.db.execute("SELECT url FROM template_pages WHERE site = ? ORDER BY number LIMIT ?", (site, limit))
        return list(self.load_views([url for (url,) in rows]).values())

    def load_views(self, ids: Sequence[int]) -> dict[int, PageView]:
        """Return the views of pages that have a structure, in the given order."""
        found = {}
        for id_, _, url, title, fingerprint, _ in self._load_rows(ids):
            if fingerprint:
                found[id_] = PageView(id_, url, title, bytes(fingerprint))
        return {id_: found[id_] for id_ in ids if id_ in found}

    def update(self) -> int:
        """Index pages visited since the last update, and pages that workers keep; return how many changed."""
        row = self.db.execute("SELECT value FROM template_state WHERE name = 'visit'").fetchone()
        done = row[0] if row else 0
        (last,) = self.catalog.execute("SELECT coalesce(max(id), 0) FROM visits").fetchone()
        parked = self.catalog.execute(
            "SELECT id FROM urls WHERE state = ? AND reason = ? ORDER BY id LIMIT ?",
            (UrlState.SKIPPED, Reason.NOT_SIMILAR, MAX_PARKED_PAGES),
        ).fetchall()
        visited = self.catalog.execute(
            "SELECT DISTINCT url FROM visits WHERE id > ? AND id <= ? ORDER BY url", (done, last)
        ).fetchall()
        ids = [url for (url,) in dict.fromkeys([*visited, *parked])]
        if not ids:
            return 0
        self.db.execute("BEGIN IMMEDIATE")
        changed, dirty = 0, set[tuple[int, int]]()
        for start in range(0, len(ids), CHUNK):
            segments = self._update_pages(ids[start : start + CHUNK])
            changed += len(segments)
            dirty.update(segments)
        for site, segment in sorted(dirty):
            self._write_segment(site, segment)
        for site in sorted({site for site, _ in dirty}):
            self._measure_sets(site)
        self.db.execute("INSERT OR REPLACE INTO template_state VALUES ('visit', ?)", (last,))
        self.db.execute("COMMIT")
        return changed

    def _load_rows(self, ids: Sequence[int]) -> Iterator[tuple[int, int, str, str, bytes | None, int | None]]:
        for start in range(0, len(ids), CHUNK):
            part = ids[start : start + CHUNK]
            rows = self.catalog.execute(f"{PAGE_COLUMNS} WHERE u.id IN ({','.join('?' * len(part))})", part)
            yield from sorted(rows)

    def _update_pages(self, ids: Sequence[int]) -> list[tuple[int, int]]:
        """Assign numbers to new pages and remove pages that are gone. Returns the segment of each changed page."""
        marks = ",".join("?" * len(ids))
        known = {
            url: (site, number, digest)
            for url, site, number, digest in self.db.execute(
                f"SELECT url, site, number, digest FROM template_pages WHERE url IN ({marks})", list(ids)
            )
        }
        dirty = []
        for id_, site, url, title, fingerprint, status in self._load_rows(ids):
            is_page = bool(fingerprint) and (status is None or 200 <= status < 300)
            if not is_page:
                if id_ in known:
                    self.db.execute("DELETE FROM template_pages WHERE url = ?", (id_,))
                    dirty.append((known[id_][0], known[id_][1] // SEGMENT_PAGES))
                continue
            digest = _digest(url, title, bytes(fingerprint or b""))
            number = known[id_][1] if id_ in known else self._take_number(site)
            if id_ not in known or known[id_][2] != digest:
                self.db.execute(
                    "INSERT OR REPLACE INTO template_pages VALUES (?, ?, ?, ?)", (id_, site, number, digest)
                )
                dirty.append((site, number // SEGMENT_PAGES))
        return dirty

    def _take_number(self, site: int) -> int:
        row = self.db.execute("SELECT max(number) FROM template_pages WHERE site = ?", (site,)).fetchone()
        return 0 if row[0] is None else int(row[0]) + 1

    def _write_segment(self, site: int, segment: int) -> None:
        start = segment * SEGMENT_PAGES
        rows = self.db.execute(
            "SELECT url, number FROM template_pages WHERE site = ? AND number >= ? AND number < ?",
            (site, start, start + SEGMENT_PAGES),
        ).fetchall()
        numbers = dict(rows)
        postings: dict[int, list[int]] = {}
        for view in self.load_views(sorted(numbers)).values():
            for feature in extract_features(view):
                postings.setdefault(feature, []).append(numbers[view.id] - start)
        self.db.execute("DELETE FROM template_postings WHERE site = ? AND segment = ?", (site, segment))
        self.db.executemany(
            "INSERT INTO template_postings VALUES (?, ?, ?, ?)",
            [
                (site, feature, segment, pack_pages(pages))
                for feature, pages in sorted(postings.items())
                if len(pages) >= MIN_INDEXED_PAGES
            ],
        )

    def _measure_sets(self, site: int) -> None:
        """Write the size and the coherence of the set of pages of each feature."""
        (page_count,) = self.db.execute("SELECT count(*) FROM template_pages WHERE site = ?", (site,)).fetchone()
        chosen = self.db.execute(
            "SELECT url FROM template_pages WHERE site = ? ORDER BY digest, url LIMIT ?", (site, REFERENCE_PAGES)
        ).fetchall()
        reference = ReferencePages(
            [extract_features(view) for view in self.load_views([url for (url,) in chosen]).values()]
        )
        self.db.execute("DELETE FROM template_sets WHERE site = ?", (site,))
        self.db.executemany(
            "INSERT INTO template_sets VALUES (?, ?, ?, ?, ?)",
            (
                (site, feature, digest, size, reference.measure_saving(feature))
                for feature, digest, size in self._count_pages(site)
                if is_concept_size(size, page_count)
            ),
        )
        self.db.execute("INSERT OR REPLACE INTO template_sites VALUES (?, ?)", (site, page_count))

    def _count_pages(self, site: int) -> Iterator[tuple[int, int, int]]:
        """Yield features with the digest and the size of their set of pages."""
        rows = self.db.execute(
            "SELECT feature, segment, pages FROM template_postings WHERE site = ? ORDER BY feature, segment", (site,)
        )
        for feature, segments in groupby(rows, key=itemgetter(0)):
            size, digest = 0, xxh64()
            for _, segment, pages in segments:
                size += unpack_pages(pages).bit_count()
                digest.update(segment.to_bytes(4, "little") + pages)
            yield feature, digest.intdigest() >> 1, size


def join_segments(rows: Iterable[tuple[int, bytes]]) -> int:
    """Return the pages of a feature from its segments in ascending order."""
    joined = bytearray()
    for segment, pages in rows:
        joined.extend(bytes(segment * SEGMENT_PAGES // 8 - len(joined)))
        joined.extend(zlib.decompress(pages))
    return int.from_bytes(joined, "little")


def pack_pages(numbers: Sequence[int]) -> bytes:
    bits = bytearray(max(numbers) // 8 + 1)
    for number in numbers:
        bits[number >> 3] |= 1 << (number & 7)
    return zlib.compress(bytes(bits), 6)


def unpack_pages(packed: bytes) -> int:
    return int.from_bytes(zlib.decompress(packed), "little")


def _digest(url: str, title: str, fingerprint: bytes) -> int:
    return xxh64_intdigest(f"{url}\0{title}\0".encode("utf-8", "surrogatepass") + fingerprint) >> 1


@contextmanager
def open_template_index(collection: StoredCollection) -> Iterator[TemplateIndex]:
    """Open the index of a collection, brought up to date. A crawl may go on writing to the collection."""
    db = _open_database(collection.cdxj_folder)
    try:
        apply_migrations(db, {"templates": MIGRATIONS})
        index = TemplateIndex(db, collection.db)
        index.update()
        yield index
    finally:
        db.close()


def _open_database(folder: Path) -> Connection:
    """Open the file of the index; without write permission, a temporary copy."""
    if not os.access(folder if folder.exists() else folder.parent, os.W_OK):
        return open_memory_copy(folder / DATABASE)
    folder.mkdir(exist_ok=True)
    return connect_sqlite(folder / DATABASE)
