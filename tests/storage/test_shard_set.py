"""Folders of shards, read as one collection."""

from pathlib import Path

import pytest

from sanderling.db.connection import has_table
from sanderling.errors import CollectionError, UsageError
from sanderling.storage.collection import has_collection, open_collection, open_collection_read_only
from sanderling.storage.collection_meta import CollectionMeta
from sanderling.storage.queries import find_url_id
from sanderling.storage.shard_set import (
    MAX_SQLITE_SHARDS,
    create_shard_set,
    get_shard_folder,
    has_complete_pass,
    is_shard_set,
    load_identity,
    open_control,
)


def test_rows_of_all_shards_are_read_together(tmp_path: Path) -> None:
    create_shard_set(tmp_path, 3)
    assert is_shard_set(tmp_path)
    assert has_collection(tmp_path)
    for shard in range(3):
        with open_collection(get_shard_folder(tmp_path, shard)) as collection:
            collection.db.execute("INSERT INTO hosts (id, name) VALUES (?, ?)", (shard + 1, f"http://h{shard}"))
            collection.db.execute(
                "INSERT INTO urls (id, host, path, request_url, state, reason, depth, source, via, hops, found_at)"
                " VALUES (?, ?, '/x', '', 'queued', '', 0, 'link', 0, 0, 0)",
                (shard + 1, shard + 1),
            )
            collection.db.execute("INSERT INTO files VALUES (?, ?, 5)", (shard + 1, f"{shard}.warc.gz"))
            collection.db.execute("INSERT INTO counters VALUES ('token', ?)", (shard,))
            CollectionMeta(collection.db).is_complete = shard > 0
    with open_collection_read_only(tmp_path) as united:
        assert has_table(united.db, "urls")
        assert not has_table(united.db, "other")
        assert [find_url_id(united.db, f"http://h{n}/x") for n in range(3)] == [1, 2, 3]
        assert united.db.execute("SELECT value FROM counters").fetchall() == [(3,)]
        assert united.db.execute("SELECT name FROM files WHERE id = 2").fetchone() == ("../shard-01/archive/1.warc.gz",)
    assert not has_complete_pass(tmp_path)


def test_shard_set_is_not_written_as_one_collection(tmp_path: Path) -> None:
    create_shard_set(tmp_path, 2)
    with pytest.raises(CollectionError, match="set of shards"):
        open_collection(tmp_path)


def test_number_of_sqlite_shards_is_limited(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--shards 11"):
        create_shard_set(tmp_path, MAX_SQLITE_SHARDS + 1)


def test_shards_have_disjoint_ids_and_share_the_virtual_shards(tmp_path: Path) -> None:
    create_shard_set(tmp_path, 2)
    control = open_control(tmp_path)
    first, second = load_identity(control, 0), load_identity(control, 1)
    assert first.id_range.last < second.id_range.first
    assert first.owners == second.owners
    assert set(first.owners) == {0, 1}
    with pytest.raises(UsageError):
        load_identity(control, 2)
    control.close()
