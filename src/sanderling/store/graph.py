"""The link graph: forward links kept with each page, back links gathered in memory and written down now and then.

A row per link would cost more than the crawl itself. So each page row holds its targets as one packed list, and back
links are appended one segment at a time: those met since the last one, by shelves of targets (`backlinks.py`).
"""

import struct
import zlib
from collections.abc import Collection

import msgspec
from msgspec import Struct

try:
    from isal.isal_zlib import compress
except ImportError:  # no wheel for this machine
    from zlib import compress

from sanderling.database import Connection
from sanderling.store.backlinks import Shelves, read, write

FLUSH_PAIRS = 400_000
SHORT = 256  # bytes; most pages of most sites have fewer
STORED, LENGTH, SUM = b"\x78\x01\x01", struct.Struct("<HH"), struct.Struct(">I")


class Forward(Struct, frozen=True, array_like=True):
    """The links of one page: ids of the targets, with the words of each link, and which ask not to be followed."""

    targets: list[int]
    anchors: list[str]
    nofollow: list[int] = []


def pack_links(forward: Forward) -> bytes:
    """Pack the links of a page into a few bytes each; a short list would not become shorter."""
    if not forward.targets:
        return b""
    plain = msgspec.msgpack.encode(forward)
    return _stored(plain) if len(plain) <= SHORT else bytes(compress(plain, 1))


def _stored(plain: bytes) -> bytes:
    """Write what zlib writes of a block that it does not compress (RFC 1950, 1951): a tenth of the work."""
    return STORED + LENGTH.pack(len(plain), 0xFFFF ^ len(plain)) + plain + SUM.pack(zlib.adler32(plain))


def unpack_links(packed: bytes) -> Forward:
    """The links of a page, as they were packed."""
    return msgspec.msgpack.decode(zlib.decompress(packed), type=Forward) if packed else Forward([], [])


class Graph:
    """Collects back links; `flush` writes a segment."""

    def __init__(self, db: Connection) -> None:
        self.db = db
        self.pairs = 0
        self.pending = Shelves()

    def recover(self) -> None:
        """Gather again what a crash kept from being written: links of pages stored since the last segment."""
        row = self.db.execute("SELECT value FROM meta WHERE name = 'graph_until'").fetchone()
        until = int(row[0]) if row else 0
        if self.db.execute("SELECT 1 FROM visits WHERE id > ? LIMIT 1", (until,)).fetchone():
            for url, links in self.db.execute(
                "SELECT url, links FROM pages WHERE visit > ? AND length(links) > 0", (until,)
            ):
                self.add(url, unpack_links(links).targets)

    def add(self, source: int, targets: Collection[int]) -> None:
        """One page links to these."""
        self.pending.add(source, targets)
        self.pairs += len(targets)

    def flush(self) -> None:
        """Write what was gathered; call inside a transaction."""
        if self.pending:
            write(self.db, self.pending)
            self.pending = Shelves()
            self.pairs = 0
        self.db.execute(
            "INSERT INTO meta SELECT 'graph_until', CAST(coalesce(max(id), 0) AS TEXT) FROM visits WHERE true"
            " ON CONFLICT (name) DO UPDATE SET value = excluded.value"
        )


def sources_of(db: Connection, url: int) -> list[int]:
    """Ids of the pages that link to this one now; a page that dropped its link is left out."""
    found = dict.fromkeys(read(db, url))
    return [source for source in found if url in set(targets_of(db, source).targets)]


def count_sources(db: Connection, url: int) -> int:
    """How many pages ever linked to this one."""
    return len(set(read(db, url)))


def targets_of(db: Connection, url: int) -> Forward:
    """The links of a stored page."""
    row = db.execute("SELECT links FROM pages WHERE url = ?", (url,)).fetchone()
    return unpack_links(row[0]) if row else Forward([], [])
