"""Databases by URL: PostgreSQL, or a scheme of a plugin."""

from contextlib import closing
from pathlib import Path

import pytest
from tests.support.plugins import Install

from sanderling.db.backend import connect_database, validate_database_url
from sanderling.errors import CollectionError, DatabaseUnavailable, UsageError
from sanderling.storage.collection import open_collection, open_collection_read_only, read_database_url

ENTRY_POINTS = """
[sanderling.storage]
elsewhere = example_plugin_module:connect
broken = example_plugin_module:fail
away = example_plugin_module:refuse
"""
SOURCE = """
from pathlib import Path
from sanderling import DatabaseUnavailable
from sanderling.db.connection import connect_sqlite

def connect(url, *, read_only):
    return connect_sqlite(Path(url.partition("://")[2]), read_only=read_only)

def fail(url, *, read_only):
    raise ValueError("no")

def refuse(url, *, read_only):
    raise DatabaseUnavailable("it does not answer")
"""


def test_collection_keeps_its_database_at_the_url_of_a_plugin(install: Install, tmp_path: Path) -> None:
    install(ENTRY_POINTS, SOURCE)
    url = f"elsewhere://{tmp_path}/pages.db"
    with open_collection(tmp_path / "c", url) as collection:
        collection.db.execute("INSERT INTO meta VALUES ('test', '1')")
    assert read_database_url(tmp_path / "c") == url
    with open_collection_read_only(tmp_path / "c") as collection:
        assert collection.db.execute("SELECT value FROM meta WHERE name = 'test'").fetchone() == ("1",)
    assert not (tmp_path / "c" / "sanderling.db").exists()
    with pytest.raises(CollectionError, match="uses another database"):
        open_collection(tmp_path / "c", f"elsewhere://{tmp_path}/other.db")


def test_broken_backend_is_named(install: Install, tmp_path: Path) -> None:
    install(ENTRY_POINTS, SOURCE)
    with pytest.raises(CollectionError, match=r"'broken' of test-plugin 1\.2 cannot open its database: ValueError: no"):
        connect_database("broken://x")
    with pytest.raises(DatabaseUnavailable), closing(connect_database("away://x")):
        pass
    with pytest.raises(UsageError, match=r"use postgresql://.*, or elsewhere://\.\.\."):
        validate_database_url("nowhere://x")
