"""Back links on the disk: blobs of neighbouring targets, and the rows of older collections."""

from array import array
from itertools import accumulate
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from sanderling.storage.collection import open_collection
from sanderling.storage.link_graph import SHELF, SOURCE, Shelves, read, unpack, unpack_sorted, write

IDS = st.integers(1, SOURCE)


@given(st.lists(st.tuples(IDS, st.integers(0, SHELF - 1))))
def test_a_shelf_gives_each_target_its_sources_as_they_were_met(links: list[tuple[int, int]]) -> None:
    shelves = Shelves()
    for source, target in links:
        shelves.add(source, [target])
    packed = shelves[0].tobytes()
    for place in {0, 7, SHELF - 1, *(target for _, target in links)}:
        assert list(unpack(packed, place)) == [source for source, target in links if target == place]


def test_targets_of_many_shelves_are_found_over_several_writes(tmp_path: Path) -> None:
    with open_collection(tmp_path) as collection:
        targets = (1, SHELF - 1, SHELF, 5 * SHELF + 3, 2**40)
        for source in (7, 8):
            shelves = Shelves()
            shelves.add(source, targets)
            write(collection.db, shelves)
        assert [list(read(collection.db, target)) for target in targets] == [[7, 8]] * len(targets)
        assert list(read(collection.db, 2)) == []
        assert collection.db.execute("SELECT count(*) FROM shelves").fetchone() == (8,)


def sorted_blob(sources: dict[int, list[int]]) -> bytes:
    """A shelf as it was once written."""
    ends = array("I", accumulate(map(len, sources.values())))
    packed = b"".join(source.to_bytes(8, "little") for of_one in sources.values() for source in of_one)
    return len(sources).to_bytes(4, "little") + ends.tobytes() + array("H", sources).tobytes() + packed


def test_sorted_shelves_of_an_older_collection_are_still_read(tmp_path: Path) -> None:
    old = sorted_blob({3: [7, 8], 9: [5]})
    assert [unpack_sorted(old, place) for place in (2, 3, 9)] == [[], [7, 8], [5]]
    with open_collection(tmp_path) as collection:
        collection.db.execute("INSERT INTO shelves (shelf, packed) VALUES (0, ?)", (old,))
        shelves = Shelves()
        shelves.add(6, [9])
        write(collection.db, shelves)
        assert list(read(collection.db, 9)) == [5, 6]


def test_rows_of_an_older_collection_are_read_first(tmp_path: Path) -> None:
    with open_collection(tmp_path) as collection:
        old = "INSERT INTO backlinks VALUES (?, ?, ?)"
        collection.db.execute(old, (9, 1, array("q", [4, 5]).tobytes()))
        shelves = Shelves()
        shelves.add(6, [9])
        write(collection.db, shelves)
        assert list(read(collection.db, 9)) == [4, 5, 6]
