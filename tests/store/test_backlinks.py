"""Back links on the disk: blobs of neighbouring targets, and the rows of older collections."""

from array import array
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from sanderling.store.backlinks import SHELF, pack, pack_source, read, unpack, write
from sanderling.store.collection import open_collection

IDS = st.integers(1, 2**48)


@given(st.dictionaries(st.integers(0, SHELF - 1), st.lists(IDS, min_size=1)))
def test_a_shelf_gives_each_target_its_sources(sources: dict[int, list[int]]) -> None:
    places = sorted(sources)
    packed = pack(places, [b"".join(map(pack_source, sources[place])) for place in places])
    assert {place: unpack(packed, place) for place in places} == sources
    assert all(unpack(packed, place) == [] for place in (0, 7, SHELF - 1) if place not in sources)


def test_targets_of_many_shelves_are_found_over_several_writes(tmp_path: Path) -> None:
    with open_collection(tmp_path) as collection:
        targets = (1, SHELF - 1, SHELF, 5 * SHELF + 3, 2**40)
        for source in (7, 8):
            write(collection.db, dict.fromkeys(targets, pack_source(source)))
        assert [list(read(collection.db, target)) for target in targets] == [[7, 8]] * len(targets)
        assert list(read(collection.db, 2)) == []
        assert collection.db.execute("SELECT count(*) FROM shelves").fetchone() == (8,)


def test_rows_of_an_older_collection_are_read_first(tmp_path: Path) -> None:
    with open_collection(tmp_path) as collection:
        old = "INSERT INTO backlinks VALUES (?, ?, ?)"
        collection.db.execute(old, (9, 1, array("q", [4, 5]).tobytes()))
        write(collection.db, {9: pack_source(6)})
        assert list(read(collection.db, 9)) == [4, 5, 6]
