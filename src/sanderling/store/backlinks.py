"""Back links as they lie on the disk: the sources of 4,096 neighbouring targets in one blob, written once.

A row per target and segment would touch a leaf of the table for nearly every known URL, each time. A blob per shelf of
targets is appended instead, whatever the number of known URLs.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, groupby

from sanderling.database import Connection

SHELF_BITS = 12
SHELF = 1 << SHELF_BITS  # targets of one blob
WIDTH = 8  # bytes of a source


def pack_source(source: int) -> bytes:
    """A source as it is gathered and stored."""
    return source.to_bytes(WIDTH, "little")


def pack(places: Sequence[int], sources: Sequence[bytes | bytearray]) -> bytes:
    """One shelf: how many targets, where the sources of each end, their places in order, the sources."""
    ends = array("I", accumulate(len(packed) // WIDTH for packed in sources))
    return b"".join((len(places).to_bytes(4, "little"), ends.tobytes(), array("H", places).tobytes(), *sources))


def unpack(packed: bytes, place: int) -> list[int]:
    """The sources of the target at this place of a shelf."""
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


def write(db: Connection, pending: Mapping[int, bytes | bytearray]) -> None:
    """Append what was gathered, shelf by shelf."""
    rows = []
    for shelf, group in groupby(sorted(pending), lambda target: target >> SHELF_BITS):
        targets = list(group)
        first = shelf << SHELF_BITS
        rows.append((shelf, pack([target - first for target in targets], [pending[target] for target in targets])))
    db.executemany("INSERT INTO shelves (shelf, packed) VALUES (?, ?)", rows)


def read(db: Connection, url: int) -> Iterator[int]:
    """Ids of the pages that ever linked to this one, as they were met; one may come twice."""
    for (old,) in db.execute("SELECT sources FROM backlinks WHERE url = ? ORDER BY segment", (url,)):
        sources = array("q")
        sources.frombytes(old)
        yield from sources
    for (packed,) in db.execute("SELECT packed FROM shelves WHERE shelf = ? ORDER BY id", (url >> SHELF_BITS,)):
        yield from unpack(packed, url % SHELF)
