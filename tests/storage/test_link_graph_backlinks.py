"""Back links on the disk: blobs of neighbouring targets, and the rows of older collections."""

from array import array
from itertools import accumulate
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from sanderling.storage.collection import open_collection
from sanderling.storage.link_graph import (
    BUCKET_SIZE,
    SOURCE_MASK,
    BacklinkBuckets,
    read_backlinks,
    unpack_sorted_sources,
    unpack_sources,
    write_backlinks,
)

IDS = st.integers(1, SOURCE_MASK)


@given(st.lists(st.tuples(IDS, st.integers(0, BUCKET_SIZE - 1))))
def test_a_shelf_gives_each_target_its_sources_as_they_were_met(links: list[tuple[int, int]]) -> None:
    shelves = BacklinkBuckets()
    for source, target in links:
        shelves.add(source, [target])
    packed = shelves[0].tobytes()
    for place in {0, 7, BUCKET_SIZE - 1, *(target for _, target in links)}:
        assert list(unpack_sources(packed, place)) == [source for source, target in links if target == place]


def test_targets_of_many_shelves_are_found_over_several_writes(tmp_path: Path) -> None:
    with open_collection(tmp_path) as collection:
        targets = (1, BUCKET_SIZE - 1, BUCKET_SIZE, 5 * BUCKET_SIZE + 3, 2**40)
        for source in (7, 8):
            shelves = BacklinkBuckets()
            shelves.add(source, targets)
            write_backlinks(collection.db, shelves)
        assert [list(read_backlinks(collection.db, target)) for target in targets] == [[7, 8]] * len(targets)
        assert list(read_backlinks(collection.db, 2)) == []
        assert collection.db.execute("SELECT count(*) FROM shelves").fetchone() == (8,)


def sorted_blob(sources: dict[int, list[int]]) -> bytes:
    """A shelf as it was once written."""
    ends = array("I", accumulate(map(len, sources.values())))
    packed = b"".join(source.to_bytes(8, "little") for of_one in sources.values() for source in of_one)
    return len(sources).to_bytes(4, "little") + ends.tobytes() + array("H", sources).tobytes() + packed


def test_sorted_shelves_of_an_older_collection_are_still_read(tmp_path: Path) -> None:
    old = sorted_blob({3: [7, 8], 9: [5]})
    assert [unpack_sorted_sources(old, place) for place in (2, 3, 9)] == [[], [7, 8], [5]]
    with open_collection(tmp_path) as collection:
        collection.db.execute("INSERT INTO shelves (shelf, packed) VALUES (0, ?)", (old,))
        shelves = BacklinkBuckets()
        shelves.add(6, [9])
        write_backlinks(collection.db, shelves)
        assert list(read_backlinks(collection.db, 9)) == [5, 6]


def test_rows_of_an_older_collection_are_read_first(tmp_path: Path) -> None:
    with open_collection(tmp_path) as collection:
        old = "INSERT INTO backlinks VALUES (?, ?, ?)"
        collection.db.execute(old, (9, 1, array("q", [4, 5]).tobytes()))
        shelves = BacklinkBuckets()
        shelves.add(6, [9])
        write_backlinks(collection.db, shelves)
        assert list(read_backlinks(collection.db, 9)) == [4, 5, 6]
