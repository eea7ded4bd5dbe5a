"""The link graph: forward links kept with each page, back links gathered in memory and written down in sorted runs.

A row per link would cost more than the crawl itself. So each page row holds its targets as one packed list, and back
links are added to `backlinks` one segment at a time: for every target, the sources met since the last segment.
"""

import zlib
from array import array
from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct

try:
    from isal.isal_zlib import compress
except ImportError:  # no wheel for this machine
    from zlib import compress

from sanderling.database import Connection

FLUSH_PAIRS = 400_000


class Forward(Struct, frozen=True, array_like=True):
    """The links of one page: ids of the targets, with the words of each link, and which ask not to be followed."""

    targets: list[int]
    anchors: list[str]
    nofollow: list[int] = []


def pack_links(forward: Forward) -> bytes:
    """Pack the links of a page into a few bytes each."""
    return bytes(compress(msgspec.msgpack.encode(forward), 1)) if forward.targets else b""


def unpack_links(packed: bytes) -> Forward:
    """The links of a page, as they were packed."""
    return msgspec.msgpack.decode(zlib.decompress(packed), type=Forward) if packed else Forward([], [])


class Graph:
    """Collects back links; `flush` writes a segment."""

    def __init__(self, db: Connection) -> None:
        self.db = db
        self.pairs = 0
        self.pending: dict[int, array[int]] = {}

    def recover(self) -> None:
        """Gather again what a crash kept from being written: links of pages stored since the last segment."""
        row = self.db.execute("SELECT value FROM meta WHERE name = 'graph_until'").fetchone()
        until = int(row[0]) if row else 0
        if self.db.execute("SELECT 1 FROM visits WHERE id > ? LIMIT 1", (until,)).fetchone():
            for url, links in self.db.execute(
                "SELECT url, links FROM pages WHERE visit > ? AND length(links) > 0", (until,)
            ):
                self.add(url, unpack_links(links).targets)

    def add(self, source: int, targets: Iterable[int]) -> None:
        """One page links to these."""
        pending = self.pending
        for target in targets:
            sources = pending.get(target)
            if sources is None:
                sources = pending[target] = array("q")
            sources.append(source)
            self.pairs += 1

    def flush(self) -> None:
        """Write what was gathered as one segment, in key order; call inside a transaction."""
        if self.pending:
            segment = 1 + int(self.db.execute("SELECT coalesce(max(id), 0) FROM visits").fetchone()[0])
            self.db.executemany(
                "INSERT INTO backlinks VALUES (?, ?, ?) ON CONFLICT (url, segment)"
                " DO UPDATE SET sources = backlinks.sources || excluded.sources",
                [(url, segment, self.pending[url].tobytes()) for url in sorted(self.pending)],
            )
            self.pending = {}
            self.pairs = 0
        self.db.execute(
            "INSERT INTO meta SELECT 'graph_until', CAST(coalesce(max(id), 0) AS TEXT) FROM visits WHERE true"
            " ON CONFLICT (name) DO UPDATE SET value = excluded.value"
        )


def sources_of(db: Connection, url: int) -> list[int]:
    """Ids of the pages that link to this one now; a page that dropped its link is left out."""
    found: dict[int, None] = {}
    for (packed,) in db.execute("SELECT sources FROM backlinks WHERE url = ? ORDER BY segment", (url,)):
        sources = array("q")
        sources.frombytes(packed)
        found.update(dict.fromkeys(sources))
    return [source for source in found if url in set(targets_of(db, source).targets)]


def count_sources(db: Connection, url: int) -> int:
    """How many pages ever linked to this one."""
    found: set[int] = set()
    for (packed,) in db.execute("SELECT sources FROM backlinks WHERE url = ?", (url,)):
        sources = array("q")
        sources.frombytes(packed)
        found.update(sources)
    return len(found)


def targets_of(db: Connection, url: int) -> Forward:
    """The links of a stored page."""
    row = db.execute("SELECT links FROM pages WHERE url = ?", (url,)).fetchone()
    return unpack_links(row[0]) if row else Forward([], [])


def in_links(db: Connection, urls: Sequence[int]) -> dict[int, int]:
    """How many links to each of these were written down so far."""
    out = {}
    for url in urls:
        row = db.execute("SELECT coalesce(sum(length(sources)), 0) / 8 FROM backlinks WHERE url = ?", (url,)).fetchone()
        out[url] = int(row[0])
    return out
