"""The link graph: forward links kept with each page, back links gathered in memory and written down now and then.

A row per link would cost more than the crawl itself. So each page row holds its targets as one packed list, and back
links are appended one segment at a time: those met since the last one, by shelves of targets (`backlinks.py`).
"""

import sys
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from msgspec import DecodeError

try:
    from isal.isal_zlib import compress
except ImportError:  # no wheel for this machine
    from zlib import compress

import struct
import zlib
from collections.abc import Collection

import msgspec
from msgspec import Struct

from sanderling.db.connection import Connection

BUCKET_BITS = 12
BUCKET_SIZE = 1 << BUCKET_BITS  # targets of one blob
SOURCE_BITS = 48
SOURCE_MASK = (1 << SOURCE_BITS) - 1
SLOT_OFFSET = 3 if sys.byteorder == "little" else 0  # of the four parts of a link, the one that is the place
SOURCE_BYTES = 8  # bytes of a source, where they are sorted
FORMAT_SORTED, FORMAT_APPENDED = (
    0,
    1,
)  # what a blob holds: sources by target, in older collections, or links as they were met


class BacklinkBuckets(defaultdict[int, "array[int]"]):
    """Links that were met, by shelf."""

    def __init__(self) -> None:
        super().__init__(lambda: array("Q"))

    def add(self, source_id: int, target_ids: Iterable[int]) -> None:
        """One page links to these."""
        place = BUCKET_SIZE - 1
        for target in target_ids:
            self[target >> BUCKET_BITS].append((target & place) << SOURCE_BITS | source_id)


def unpack_sources(packed: bytes, slot: int) -> Iterator[int]:
    """The sources of the target at this place of a shelf."""
    links, places, at = array("Q", packed), array("H", packed)[SLOT_OFFSET::4], -1
    for _ in range(places.count(slot)):
        at = places.index(slot, at + 1)
        yield links[at] & SOURCE_MASK


def unpack_sorted_sources(packed: bytes, slot: int) -> list[int]:
    """The same of a blob as it once was: how many targets, where the sources of each end, their places, the sources."""
    count = int.from_bytes(packed[:4], "little")
    view = memoryview(packed)
    ends, places = view[4 : 4 + 4 * count].cast("I"), view[4 + 4 * count : 4 + 6 * count].cast("H")
    at = bisect_left(places, slot)
    if at == count or places[at] != slot:
        return []
    start = 4 + 6 * count
    first, end = ends[at - 1] if at else 0, ends[at]
    found = packed[start + SOURCE_BYTES * first : start + SOURCE_BYTES * end]
    return [int.from_bytes(found[n : n + SOURCE_BYTES], "little") for n in range(0, len(found), SOURCE_BYTES)]


def write_backlinks(db: Connection, buckets: Mapping[int, "array[int]"]) -> None:
    """Append what was gathered, shelf by shelf."""
    db.executemany(
        "INSERT INTO shelves (shelf, packed, form) VALUES (?, ?, ?)",
        [(shelf, links.tobytes(), FORMAT_APPENDED) for shelf, links in sorted(buckets.items())],
    )


def read_backlinks(db: Connection, url_id: int) -> Iterator[int]:
    """Ids of the pages that ever linked to this one, as they were met; one may come twice."""
    for (old,) in db.execute("SELECT sources FROM backlinks WHERE url = ? ORDER BY segment", (url_id,)):
        sources = array("q")
        sources.frombytes(old)
        yield from sources
    for packed, form in db.execute(
        "SELECT packed, form FROM shelves WHERE shelf = ? ORDER BY id", (url_id >> BUCKET_BITS,)
    ):
        if form == FORMAT_APPENDED and len(packed) % SOURCE_BYTES:
            raise DecodeError(f"{len(packed)} bytes are no back links")
        yield from (
            unpack_sources(packed, url_id % BUCKET_SIZE)
            if form == FORMAT_APPENDED
            else unpack_sorted_sources(packed, url_id % BUCKET_SIZE)
        )


FLUSH_LINK_COUNT = 400_000
MAX_UNCOMPRESSED_BYTES = 256  # bytes; most pages of most sites have fewer
ZLIB_STORED_HEADER, ZLIB_BLOCK_LENGTHS, ZLIB_CHECKSUM = b"\x78\x01\x01", struct.Struct("<HH"), struct.Struct(">I")


class OutgoingLinks(Struct, frozen=True, array_like=True):
    """The links of one page: ids of the targets, with the words of each link, and which ask not to be followed."""

    target_ids: list[int]
    anchor_texts: list[str]
    nofollow_positions: list[int] = []


def pack_links(outgoing_links: OutgoingLinks) -> bytes:
    """Pack the links of a page into a few bytes each; a short list would not become shorter."""
    if not outgoing_links.target_ids:
        return b""
    plain = msgspec.msgpack.encode(outgoing_links)
    return _wrap_uncompressed(plain) if len(plain) <= MAX_UNCOMPRESSED_BYTES else bytes(compress(plain, 1))


def _wrap_uncompressed(data: bytes) -> bytes:
    """Write what zlib writes of a block that it does not compress (RFC 1950, 1951): a tenth of the work."""
    return (
        ZLIB_STORED_HEADER
        + ZLIB_BLOCK_LENGTHS.pack(len(data), 0xFFFF ^ len(data))
        + data
        + ZLIB_CHECKSUM.pack(zlib.adler32(data))
    )


def unpack_links(packed: bytes) -> OutgoingLinks:
    """The links of a page, as they were packed."""
    return msgspec.msgpack.decode(zlib.decompress(packed), type=OutgoingLinks) if packed else OutgoingLinks([], [])


class LinkGraph:
    """Collects back links; `flush` writes a segment."""

    def __init__(self, db: Connection) -> None:
        self.db = db
        self.pending_count = 0
        self.pending_backlinks = BacklinkBuckets()

    def restore_pending(self) -> None:
        """Gather again what a crash kept from being written: links of pages stored since the last segment."""
        row = self.db.execute("SELECT value FROM meta WHERE name = 'graph_until'").fetchone()
        until = int(row[0]) if row else 0
        if self.db.execute("SELECT 1 FROM visits WHERE id > ? LIMIT 1", (until,)).fetchone():
            for url, links in self.db.execute(
                "SELECT url, links FROM pages WHERE visit > ? AND length(links) > 0", (until,)
            ):
                self.add(url, unpack_links(links).target_ids)

    def add(self, source_id: int, target_ids: Collection[int]) -> None:
        """One page links to these."""
        self.pending_backlinks.add(source_id, target_ids)
        self.pending_count += len(target_ids)

    def flush(self) -> None:
        """Write what was gathered; call inside a transaction."""
        if self.pending_backlinks:
            write_backlinks(self.db, self.pending_backlinks)
            self.pending_backlinks = BacklinkBuckets()
            self.pending_count = 0
        self.db.execute(
            "INSERT INTO meta SELECT 'graph_until', CAST(coalesce(max(id), 0) AS TEXT) FROM visits WHERE true"
            " ON CONFLICT (name) DO UPDATE SET value = excluded.value"
        )


def load_source_ids(db: Connection, url_id: int) -> list[int]:
    """Ids of the pages that link to this one now; a page that dropped its link is left out."""
    found = dict.fromkeys(read_backlinks(db, url_id))
    return [source for source in found if url_id in set(load_outgoing_links(db, source).target_ids)]


def count_sources(db: Connection, url_id: int) -> int:
    """How many pages ever linked to this one."""
    return len(set(read_backlinks(db, url_id)))


def load_outgoing_links(db: Connection, url_id: int) -> OutgoingLinks:
    """The links of a stored page."""
    row = db.execute("SELECT links FROM pages WHERE url = ?", (url_id,)).fetchone()
    return unpack_links(row[0]) if row else OutgoingLinks([], [])
