from pathlib import Path

from msgspec.msgpack import encode

from sanderling.db.connection import Connection
from sanderling.storage.collection import open_collection
from sanderling.storage.link_graph import (
    LinkGraph,
    OutgoingLinks,
    load_outgoing_links,
    load_source_ids,
    pack_links,
    unpack_links,
)


def test_links_survive_packing() -> None:
    forward = OutgoingLinks([3, 1, 2], ["three", "", "two"], [1])
    assert unpack_links(pack_links(forward)) == forward
    assert unpack_links(b"").target_ids == []


def test_links_survive_packing_however_many() -> None:
    for count in range(1, 200):
        forward = OutgoingLinks(list(range(count)), [f"page {n}" for n in range(count)])
        assert unpack_links(pack_links(forward)) == forward
    assert len(pack_links(forward)) < len(encode(forward))


def store(db: Connection, url: int, targets: list[int]) -> None:
    packed = pack_links(OutgoingLinks(targets, [""] * len(targets)))
    page = (url, 200, "", "", "", "", 0, 0, 0, b"", 0, "", "", "", 0, 0, url, 1, 0, 0, 0, "", 0, packed)
    db.execute(f"INSERT OR REPLACE INTO pages VALUES ({', '.join('?' * len(page))})", page)
    visit = (url, url, 0, 1, "fetched", "", 200, 1, b"", 0, 0, 0, 0, 0, 0, "", "")
    db.execute(f"INSERT OR REPLACE INTO visits VALUES ({', '.join('?' * len(visit))})", visit)


def test_back_links_are_found_over_several_segments(tmp_path: Path) -> None:
    with open_collection(tmp_path) as collection:
        graph = LinkGraph(collection.db)
        for url, targets in ((1, [9, 2]), (2, [9]), (3, [1])):
            store(collection.db, url, targets)
            graph.add(url, targets)
            graph.flush()
        assert load_source_ids(collection.db, 9) == [1, 2]
        assert load_source_ids(collection.db, 1) == [3]
        assert load_outgoing_links(collection.db, 1).target_ids == [9, 2]


def test_a_link_that_was_dropped_is_no_back_link(tmp_path: Path) -> None:
    with open_collection(tmp_path) as collection:
        graph = LinkGraph(collection.db)
        store(collection.db, 1, [9])
        graph.add(1, [9])
        graph.flush()
        store(collection.db, 1, [8])
        assert load_source_ids(collection.db, 9) == []


def test_what_a_crash_kept_from_being_written_is_gathered_again(tmp_path: Path) -> None:
    with open_collection(tmp_path) as collection:
        store(collection.db, 1, [9])
        graph = LinkGraph(collection.db)
        graph.restore_pending()
        graph.flush()
        assert load_source_ids(collection.db, 9) == [1]
        after = LinkGraph(collection.db)
        after.restore_pending()
        assert after.pending_count == 0
