"""Store the link graph: outgoing links with each page, back links in packed buckets.

A row per link would cost more than the crawl itself. Each page row holds its targets as a packed list. Back links are
collected in memory and appended as segments, by buckets of neighboring targets.
"""

import struct
import sys
import zlib
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec
from msgspec import DecodeError, Struct

from sanderling.db.connection import Connection

try:
    from isal.isal_zlib import compress
except ImportError:  # no wheel for this platform
    from zlib import compress

BUCKET_BITS = 12
BUCKET_SIZE = 1 << BUCKET_BITS  # targets per bucket
SOURCE_BITS = 48
SOURCE_MASK = (1 << SOURCE_BITS) - 1
SLOT_OFFSET = 3 if sys.byteorder == "little" else 0  # position of the slot among the four 16-bit parts of a link
SOURCE_BYTES = 8  # size of a source id in the sorted format
FORMAT_SORTED, FORMAT_APPENDED = 0, 1  # sources by target (older collections), or links in order of discovery
FLUSH_LINK_COUNT = 400_000
MAX_UNCOMPRESSED_BYTES = 256  # most pages have fewer
ZLIB_STORED_HEADER, ZLIB_BLOCK_LENGTHS, ZLIB_CHECKSUM = b"\x78\x01\x01", struct.Struct("<HH"), struct.Struct(">I")


class BacklinkBuckets(defaultdict[int, "array[int]"]):
    """Collected links by bucket of targets."""

    def __init__(self) -> None:
        super().__init__(lambda: array("Q"))

    def add(self, source_id: int, target_ids: Iterable[int]) -> None:
        slot_mask = BUCKET_SIZE - 1
        for target in target_ids:
            self[target >> BUCKET_BITS].append((target & slot_mask) << SOURCE_BITS | source_id)


def unpack_sources(packed: bytes, slot: int) -> Iterator[int]:
    """Yield the sources of a target, given by its slot in a bucket."""
    links, slots, position = array("Q", packed), array("H", packed)[SLOT_OFFSET::4], -1
    for _ in range(slots.count(slot)):
        position = slots.index(slot, position + 1)
        yield links[position] & SOURCE_MASK


def unpack_sorted_sources(packed: bytes, slot: int) -> list[int]:
    """Return the sources from a blob of the older sorted format: target count, ends, slots, sources."""
    count = int.from_bytes(packed[:4], "little")
    view = memoryview(packed)
    ends, slots = view[4 : 4 + 4 * count].cast("I"), view[4 + 4 * count : 4 + 6 * count].cast("H")
    position = bisect_left(slots, slot)
    if position == count or slots[position] != slot:
        return []
    start = 4 + 6 * count
    first, end = ends[position - 1] if position else 0, ends[position]
    found = packed[start + SOURCE_BYTES * first : start + SOURCE_BYTES * end]
    return [int.from_bytes(found[n : n + SOURCE_BYTES], "little") for n in range(0, len(found), SOURCE_BYTES)]


def write_backlinks(db: Connection, buckets: Mapping[int, "array[int]"]) -> None:
    """Append the collected links, a row per bucket."""
    db.executemany(
        "INSERT INTO backlink_buckets (bucket, packed, form) VALUES (?, ?, ?)",
        [(bucket, links.tobytes(), FORMAT_APPENDED) for bucket, links in sorted(buckets.items())],
    )


def read_backlinks(db: Connection, url_id: int) -> Iterator[int]:
    """Yield the ids of all pages that ever linked to this page, with repetitions."""
    for (old,) in db.execute("SELECT sources FROM backlinks WHERE url = ? ORDER BY segment", (url_id,)):
        sources = array("q")
        sources.frombytes(old)
        yield from sources
    for packed, form in db.execute(
        "SELECT packed, form FROM backlink_buckets WHERE bucket = ? ORDER BY id", (url_id >> BUCKET_BITS,)
    ):
        if form == FORMAT_APPENDED and len(packed) % SOURCE_BYTES:
            raise DecodeError(f"invalid back links: {len(packed)} bytes")
        yield from (
            unpack_sources(packed, url_id % BUCKET_SIZE)
            if form == FORMAT_APPENDED
            else unpack_sorted_sources(packed, url_id % BUCKET_SIZE)
        )


class OutgoingLinks(Struct, frozen=True, array_like=True):
    """The links of a page, with the positions of nofollow links."""

    target_ids: list[int]
    anchor_texts: list[str]
    nofollow_positions: list[int] = []


def pack_links(outgoing_links: OutgoingLinks) -> bytes:
    """Pack the links of a page. Short lists are not compressed, because they would not shrink."""
    if not outgoing_links.target_ids:
        return b""
    encoded = msgspec.msgpack.encode(outgoing_links)
    return _wrap_uncompressed(encoded) if len(encoded) <= MAX_UNCOMPRESSED_BYTES else bytes(compress(encoded, 1))


def _wrap_uncompressed(data: bytes) -> bytes:
    """Write a stored zlib block (RFC 1950, 1951), which takes a tenth of the time."""
    return (
        ZLIB_STORED_HEADER
        + ZLIB_BLOCK_LENGTHS.pack(len(data), 0xFFFF ^ len(data))
        + data
        + ZLIB_CHECKSUM.pack(zlib.adler32(data))
    )


def unpack_links(packed: bytes) -> OutgoingLinks:
    return msgspec.msgpack.decode(zlib.decompress(packed), type=OutgoingLinks) if packed else OutgoingLinks([], [])


class LinkGraph:
    """Collect back links. `flush` writes a segment."""

    def __init__(self, db: Connection) -> None:
        self.db = db
        self.pending_count = 0
        self.pending_backlinks = BacklinkBuckets()

    def restore_pending(self) -> None:
        """Collect the links of pages stored after the last segment, which a crash has lost."""
        row = self.db.execute("SELECT value FROM meta WHERE name = 'graph_until'").fetchone()
        until = int(row[0]) if row else 0
        if self.db.execute("SELECT 1 FROM visits WHERE id > ? LIMIT 1", (until,)).fetchone():
            for url, links in self.db.execute(
                "SELECT url, links FROM pages WHERE visit > ? AND length(links) > 0", (until,)
            ):
                self.add(url, unpack_links(links).target_ids)

    def add(self, source_id: int, target_ids: Collection[int]) -> None:
        self.pending_backlinks.add(source_id, target_ids)
        self.pending_count += len(target_ids)

    def flush(self) -> None:
        """Write the collected links. Call inside a transaction."""
        if self.pending_backlinks:
            write_backlinks(self.db, self.pending_backlinks)
            self.pending_backlinks = BacklinkBuckets()
            self.pending_count = 0
        self.db.execute(
            "INSERT INTO meta SELECT 'graph_until', CAST(coalesce(max(id), 0) AS TEXT) FROM visits WHERE true"
            " ON CONFLICT (name) DO UPDATE SET value = excluded.value"
        )


def load_source_ids(db: Connection, url_id: int) -> list[int]:
    """Return the ids of the pages that link to this page now."""
    found = dict.fromkeys(read_backlinks(db, url_id))
    return [source for source in found if url_id in set(load_outgoing_links(db, source).target_ids)]


def count_sources(db: Connection, url_id: int) -> int:
    return len(set(read_backlinks(db, url_id)))


def load_outgoing_links(db: Connection, url_id: int) -> OutgoingLinks:
    row = db.execute("SELECT links FROM pages WHERE url = ?", (url_id,)).fetchone()
    return unpack_links(row[0]) if row else OutgoingLinks([], [])
