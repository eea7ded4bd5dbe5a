"""Typed access to the rows of table `meta`."""

from pathlib import Path

from sanderling.storage.collection import open_collection
from sanderling.storage.collection_meta import CollectionMeta


def test_values_written_by_earlier_versions_are_read(tmp_path: Path) -> None:
    with open_collection(tmp_path) as collection:
        collection.db.executemany(
            "INSERT INTO meta VALUES (?, ?)",
            [
                ("session", "3"),
                ("is_complete", "1"),
                ("seeds", '["http://a/", "http://b/"]'),
                ("refreshed_at", "1795035600.25"),
                ("ordering", "shark"),
                ("drawn_depths", '{"http://a/": 2}'),
            ],
        )
        meta = CollectionMeta(collection.db)
        assert (meta.session, meta.is_complete, meta.refreshed_at, meta.ordering) == (3, True, 1795035600.25, "shark")
        assert (meta.seeds, meta.drawn_depths) == (["http://a/", "http://b/"], {"http://a/": 2})


def test_missing_values_have_defaults(tmp_path: Path) -> None:
    with open_collection(tmp_path) as collection:
        meta = CollectionMeta(collection.db)
        assert (meta.session, meta.is_complete, meta.seeds, meta.settings) == (1, False, [], {})


def test_written_values_keep_the_stored_format(tmp_path: Path) -> None:
    with open_collection(tmp_path) as collection:
        meta = CollectionMeta(collection.db)
        meta.session += 1
        meta.is_complete = True
        meta.is_deletion_unfinished = False
        meta.finish_reason = "1"
        meta.topic = {"word": 1.0}
        stored = dict(collection.db.execute("SELECT name, value FROM meta").fetchall())
        assert (meta.session, meta.finish_reason, meta.topic) == (2, "1", {"word": 1.0})
    expected = {
        "session": "2",
        "is_complete": "1",
        "is_deletion_unfinished": "0",
        "finish_reason": "1",
        "topic": '{"word":1.0}',
    }
    assert expected.items() <= stored.items()
