"""Unfinished deletions that earlier versions stored with other keys."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from msgspec import convert

from sanderling.db.connection import Connection, apply_migrations, connect_sqlite
from sanderling.db.schema.storage import MIGRATIONS
from sanderling.deletion.page_deleter import PendingDeletion, load_pending_deletion
from sanderling.deletion.selection import DeletionSelection
from sanderling.storage.collection import open_collection
from sanderling.storage.collection_meta import CollectionMeta
from sanderling.warc.records import RecordLocation

STORED_PENDING_DELETION = (
    b"\x83\xa6places\x91\x93\xa9a.warc.gz\n\x14\xa9elsewhere\x03\xa4urls\x81\xb4https://example.org/\x91"
    b"\xcb@\x14\x00\x00\x00\x00\x00\x00"
)
STORED_AGE_SELECTIONS = b'[{"patterns":["a*"],"gone":1.0,"unseen":2.0}]'


@pytest.fixture
def migrated(tmp_path: Path) -> Iterator[Connection]:
    with closing(connect_sqlite(tmp_path / "sanderling.db")) as db:
        apply_migrations(db, {"storage": MIGRATIONS[:4]})
        db.execute("INSERT INTO blobs VALUES ('forgetting', ?)", (STORED_PENDING_DELETION,))
        rows = [("forgetting_by_age", STORED_AGE_SELECTIONS.decode()), ("forgotten", '["b*"]'), ("forgetting", "1")]
        db.executemany("INSERT INTO meta VALUES (?, ?)", rows)
    with open_collection(tmp_path) as collection:
        yield collection.db


def test_pending_deletions_of_earlier_versions_are_migrated(migrated: Connection) -> None:
    expected = PendingDeletion([RecordLocation("a.warc.gz", 10, 20)], 3, {"https://example.org/": [5.0]})
    assert load_pending_deletion(migrated) == expected


def test_selections_of_earlier_versions_are_migrated(migrated: Connection) -> None:
    meta = CollectionMeta(migrated)
    assert convert(meta.age_selections, list[DeletionSelection]) == [
        DeletionSelection(["a*"], gone_since=1.0, unseen_since=2.0)
    ]
    assert (meta.blocked_patterns, meta.is_deletion_unfinished) == (["b*"], True)
