"""Back links as they lie on the disk: the links to 4,096 neighbouring targets in one blob, as they were met.

A row per target and segment would touch a leaf of the table for nearly every known URL, each time. A blob per shelf of
targets is appended instead, whatever the number of known URLs. A link in it is one number of eight bytes, in the byte
order of the machine: the place of its target on the shelf above the id of its source. Who wants the sources of one
target looks for its place; sorting all links of a crawl would cost more than all that are ever looked for.
"""

import sys
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from msgspec import DecodeError

from sanderling.database import Connection

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
