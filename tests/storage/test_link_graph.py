"""Tests of outgoing links and back links, in the current and in older formats."""

from array import array
from itertools import accumulate
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from msgspec.msgpack import encode

from sanderling.db.connection import Connection
from sanderling.storage.collection import open_collection
from sanderling.storage.link_graph import (
    BUCKET_SIZE,
    SOURCE_MASK,
    BacklinkBuckets,
    LinkGraph,
    OutgoingLinks,
    load_outgoing_links,
    load_source_ids,
    pack_links,
    read_backlinks,
    unpack_links,
    unpack_sorted_sources,
    unpack_sources,
    write_backlinks,
)

IDS = st.integers(1, SOURCE_MASK)


def test_packed_links_are_unpacked() -> None:
    links = OutgoingLinks([3, 1, 2], ["three", "", "two"], [1])
    assert unpack_links(pack_links(links)) == links
    assert unpack_links(b"").target_ids == []


def test_packed_links_of_any_number_are_unpacked() -> None:
    for count in range(1, 200):
        links = OutgoingLinks(list(range(count)), [f"page {n}" for n in range(count)])
        assert unpack_links(pack_links(links)) == links
    assert len(pack_links(links)) < len(encode(links))


def store_page(db: Connection, url: int, targets: list[int]) -> None:
    packed = pack_links(OutgoingLinks(targets, [""] * len(targets)))
    page = (url, 200, "", "", "", "", 0, 0, 0, b"", 0, "", "", "", 0, 0, url, 1, 0, 0, 0, "", 0, packed)
    db.execute(f"INSERT OR REPLACE INTO pages VALUES ({', '.join('?' * len(page))})", page)
    visit = (url, url, 0, 1, "fetched", "", 200, 1, b"", 0, 0, 0, 0, 0, 0, "", "")
    db.execute(f"INSERT OR REPLACE INTO visits VALUES ({', '.join('?' * len(visit))})", visit)


def test_back_links_are_found_in_several_segments(tmp_path: Path) -> None:
    with open_collection(tmp_path) as collection:
        graph = LinkGraph(collection.db)
        for url, targets in ((1, [9, 2]), (2, [9]), (3, [1])):
            store_page(collection.db, url, targets)
            graph.add(url, targets)
            graph.flush()
        assert load_source_ids(collection.db, 9) == [1, 2]
        assert load_source_ids(collection.db, 1) == [3]
        assert load_outgoing_links(collection.db, 1).target_ids == [9, 2]


def test_removed_link_is_not_a_back_link(tmp_path: Path) -> None:
    with open_collection(tmp_path) as collection:
        graph = LinkGraph(collection.db)
        store_page(collection.db, 1, [9])
        graph.add(1, [9])
        graph.flush()
        store_page(collection.db, 1, [8])
        assert load_source_ids(collection.db, 9) == []


def test_unwritten_back_links_are_restored_after_a_crash(tmp_path: Path) -> None:
    with open_collection(tmp_path) as collection:
        store_page(collection.db, 1, [9])
        graph = LinkGraph(collection.db)
        graph.restore_pending()
        graph.flush()
        assert load_source_ids(collection.db, 9) == [1]
        after = LinkGraph(collection.db)
        after.restore_pending()
        assert after.pending_count == 0


@given(st.lists(st.tuples(IDS, st.integers(0, BUCKET_SIZE - 1))))
def test_bucket_returns_the_sources_of_each_target_in_order(links: list[tuple[int, int]]) -> None:
    buckets = BacklinkBuckets()
    for source, target in links:
        buckets.add(source, [target])
    packed = buckets[0].tobytes()
    for slot in {0, 7, BUCKET_SIZE - 1, *(target for _, target in links)}:
        assert list(unpack_sources(packed, slot)) == [source for source, target in links if target == slot]


def test_targets_of_many_buckets_are_found_after_several_writes(tmp_path: Path) -> None:
    with open_collection(tmp_path) as collection:
        targets = (1, BUCKET_SIZE - 1, BUCKET_SIZE, 5 * BUCKET_SIZE + 3, 2**40)
        for source in (7, 8):
            buckets = BacklinkBuckets()
            buckets.add(source, targets)
            write_backlinks(collection.db, buckets)
        assert [list(read_backlinks(collection.db, target)) for target in targets] == [[7, 8]] * len(targets)
        assert list(read_backlinks(collection.db, 2)) == []
        assert collection.db.execute("SELECT count(*) FROM backlink_buckets").fetchone() == (8,)


def pack_sorted_bucket(sources: dict[int, list[int]]) -> bytes:
    """Pack a bucket in the older, sorted format."""
    ends = array("I", accumulate(map(len, sources.values())))
    packed_sources = b"".join(
        source.to_bytes(8, "little") for target_sources in sources.values() for source in target_sources
    )
    return len(sources).to_bytes(4, "little") + ends.tobytes() + array("H", sources).tobytes() + packed_sources


def test_sorted_buckets_of_an_older_collection_are_read(tmp_path: Path) -> None:
    packed = pack_sorted_bucket({3: [7, 8], 9: [5]})
    assert [unpack_sorted_sources(packed, slot) for slot in (2, 3, 9)] == [[], [7, 8], [5]]
    with open_collection(tmp_path) as collection:
        collection.db.execute("INSERT INTO backlink_buckets (bucket, packed) VALUES (0, ?)", (packed,))
        buckets = BacklinkBuckets()
        buckets.add(6, [9])
        write_backlinks(collection.db, buckets)
        assert list(read_backlinks(collection.db, 9)) == [5, 6]


def test_rows_of_an_older_collection_are_read_first(tmp_path: Path) -> None:
    with open_collection(tmp_path) as collection:
        packed = "INSERT INTO backlinks VALUES (?, ?, ?)"
        collection.db.execute(packed, (9, 1, array("q", [4, 5]).tobytes()))
        buckets = BacklinkBuckets()
        buckets.add(6, [9])
        write_backlinks(collection.db, buckets)
        assert list(read_backlinks(collection.db, 9)) == [4, 5, 6]
