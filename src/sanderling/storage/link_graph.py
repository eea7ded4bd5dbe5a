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

SHELF_BITS = 12
SHELF = 1 << SHELF_BITS  # targets of one blob
SOURCE_BITS = 48
SOURCE = (1 << SOURCE_BITS) - 1
PLACE_AT = 3 if sys.byteorder == "little" else 0  # of the four parts of a link, the one that is the place
WIDTH = 8  # bytes of a source, where they are sorted
SORTED, MET = 0, 1  # what a blob holds: sources by target, in older collections, or links as they were met


class Shelves(defaultdict[int, "array[int]"]):
    """Links that were met, by shelf."""

    def __init__(self) -> None:
        super().__init__(lambda: array("Q"))

    def add(self, source: int, targets: Iterable[int]) -> None:
        """One page links to these."""
        place = SHELF - 1
        for target in targets:
            self[target >> SHELF_BITS].append((target & place) << SOURCE_BITS | source)


def unpack(packed: bytes, place: int) -> Iterator[int]:
    """The sources of the target at this place of a shelf."""
    links, places, at = array("Q", packed), array("H", packed)[PLACE_AT::4], -1
    for _ in range(places.count(place)):
        at = places.index(place, at + 1)
        yield links[at] & SOURCE


def unpack_sorted(packed: bytes, place: int) -> list[int]:
    """The same of a blob as it once was: how many targets, where the sources of each end, their places, the sources."""
    count = int.from_bytes(packed[:4], "little")
    view = memoryview(packed)
    ends, places = view[4 : 4 + 4 * count].cast("I"), view[4 + 4 * count : 4 + 6 * count].cast("H")
    at = bisect_left(places, place)
    if at == count or places[at] != place:
        return []
    start = 4 + 6 * count
    first, end = ends[at - 1] if at else 0, ends[at]
    found = packed[start + WIDTH * first : start + WIDTH * end]
    return [int.from_bytes(found[n : n + WIDTH], "little") for n in range(0, len(found), WIDTH)]


def write(db: Connection, shelves: Mapping[int, "array[int]"]) -> None:
    """Append what was gathered, shelf by shelf."""
    db.executemany(
        "INSERT INTO shelves (shelf, packed, form) VALUES (?, ?, ?)",
        [(shelf, links.tobytes(), MET) for shelf, links in sorted(shelves.items())],
    )


def read(db: Connection, url: int) -> Iterator[int]:
    """Ids of the pages that ever linked to this one, as they were met; one may come twice."""
    for (old,) in db.execute("SELECT sources FROM backlinks WHERE url = ? ORDER BY segment", (url,)):
        sources = array("q")
        sources.frombytes(old)
        yield from sources
    for packed, form in db.execute(
        "SELECT packed, form FROM shelves WHERE shelf = ? ORDER BY id", (url >> SHELF_BITS,)
    ):
        if form == MET and len(packed) % WIDTH:
            raise DecodeError(f"{len(packed)} bytes are no back links")
        yield from unpack(packed, url % SHELF) if form == MET else unpack_sorted(packed, url % SHELF)


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
