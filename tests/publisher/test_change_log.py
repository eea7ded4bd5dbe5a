"""Tests of recording changes, and of the conditions for listing a page."""

import sqlite3
from pathlib import Path

import pytest
from tests.publisher.conftest import NOW, publish

from sanderling.errors import CollectionError, UsageError
from sanderling.publisher.change_log import ActivityBatch, apply_robots_rules, purge_deletions, write_batch
from sanderling.publisher.listings import ChangesQuery, load_changes
from sanderling.publisher.published_site import DAY_MS, PublishedSite
from sanderling.publisher.robots_rules import PathRules, parse_robots_rules
from sanderling.publisher.state_db import Connection, load_publisher_state, open_state_db, write_transaction


def list_changes(db: Connection, since: int) -> list[tuple[str, str]]:
    return [
        (entry.path, entry.change_type)
        for entry in load_changes(db, load_publisher_state(db), ChangesQuery(since)).entries
    ]


def test_commit_times_increase_when_the_clock_is_set_back(db: Connection, site: PublishedSite) -> None:
    first = publish(db, site, {"/a": 1}, NOW)
    second = publish(db, site, {"/b": 1}, NOW - 5000)
    assert second == first + 1
    assert list_changes(db, first) == [("/b", "created")]


def test_same_validator_is_not_a_change(db: Connection, site: PublishedSite) -> None:
    first = write_batch(db, site, PathRules(), ActivityBatch(served_pages={"/a": (None, "v1")}), NOW)
    write_batch(db, site, PathRules(), ActivityBatch(served_pages={"/a": (None, "v1")}), NOW + 1000)
    assert list_changes(db, first) == []
    write_batch(db, site, PathRules(), ActivityBatch(served_pages={"/a": (None, "v2")}), NOW + 2000)
    assert list_changes(db, first) == [("/a", "updated")]


def test_future_modification_time_is_limited_to_now(db: Connection, site: PublishedSite) -> None:
    stamp = write_batch(db, site, PathRules(), ActivityBatch(served_pages={"/a": (NOW + DAY_MS, "v")}), NOW)
    assert db.execute("SELECT modified FROM pages").fetchone() == (stamp,)


def test_new_page_with_an_old_time_is_a_change(db: Connection, site: PublishedSite) -> None:
    before = publish(db, site, {"/": 1}, NOW)
    write_batch(db, site, PathRules(), ActivityBatch(served_pages={"/restored": (NOW - 400 * DAY_MS, "v")}), NOW + 1000)
    assert list_changes(db, before) == [("/restored", "created")]


def test_restored_page_is_listed_as_created(db: Connection, site: PublishedSite) -> None:
    first = publish(db, site, {"/a": 5, "/b": 1}, NOW)
    second = write_batch(db, site, PathRules(), ActivityBatch(gone_paths={"/a", "/never-was"}), NOW + 1000)
    assert list_changes(db, first) == [("/a", "deleted")]
    write_batch(db, site, PathRules(), ActivityBatch(served_pages={"/a": (None, "v")}), NOW + 2000)
    assert list_changes(db, second) == [("/a", "created")]


def test_old_deletions_are_purged(db: Connection, site: PublishedSite) -> None:
    publish(db, site, {"/a": 1}, NOW)
    write_batch(db, site, PathRules(), ActivityBatch(gone_paths={"/a"}), NOW)
    assert purge_deletions(db, site, NOW + DAY_MS) == 0
    assert purge_deletions(db, site, NOW + 200 * DAY_MS) == 1
    assert list_changes(db, 0) == []


def test_page_with_login_is_hidden_until_served_publicly(db: Connection, site: PublishedSite) -> None:
    publish(db, site, {"/a": 1, "/b": 1}, NOW)
    hidden = write_batch(db, site, PathRules(), ActivityBatch(private_paths={"/a"}), NOW + 1000)
    assert list_changes(db, 0) == [("/b", "created")]
    write_batch(db, site, PathRules(), ActivityBatch(public_paths={"/a", "/b"}), NOW + 2000)
    assert list_changes(db, hidden) == [("/a", "updated")]


def test_private_prefix_is_never_listed(db: Connection, site: PublishedSite) -> None:
    careful = PublishedSite(site.base_url, site.state_file, private_prefixes=("/staff",))
    write_batch(
        db,
        careful,
        PathRules(),
        ActivityBatch(served_pages={"/staff/x": (None, "v"), "/x": (None, "v")}, public_paths={"/staff/x"}),
        NOW,
    )
    assert list_changes(db, 0) == [("/x", "created")]


def test_disallowed_pages_are_hidden_and_listed_again_when_allowed(db: Connection, site: PublishedSite) -> None:
    publish(db, site, {"/a": 2, "/b": 1}, NOW)
    apply_robots_rules(db, site, parse_robots_rules("User-agent: *\nDisallow: /a"), NOW + 1000)
    assert list_changes(db, 0) == [("/b", "created")]
    stamp = load_publisher_state(db).last_commit_time
    apply_robots_rules(db, site, parse_robots_rules("User-agent: *\nDisallow: /a"), NOW + 2000)
    assert load_publisher_state(db).last_commit_time == stamp  # the same rules write nothing
    apply_robots_rules(db, site, PathRules(), NOW + 3000)
    assert list_changes(db, stamp) == [("/a", "updated")]


def test_new_pages_are_hidden_by_current_rules(db: Connection, site: PublishedSite) -> None:
    rules = parse_robots_rules("User-agent: *\nDisallow: /a")
    write_batch(db, site, rules, ActivityBatch(served_pages={"/a1": (None, ""), "/b": (None, "")}), NOW)
    assert list_changes(db, 0) == [("/b", "created")]


def test_page_limit_rejects_new_pages_but_counts_views(db: Connection, site: PublishedSite) -> None:
    small = PublishedSite(site.base_url, site.state_file, max_urls=2)
    publish(db, small, {"/a": 1, "/b": 1}, NOW)
    publish(db, small, {"/c": 1, "/a": 5}, NOW + 1)
    assert dict(db.execute("SELECT path, hits FROM pages")) == {"/a": 6, "/b": 1}


def test_failed_write_is_rolled_back(db: Connection, site: PublishedSite) -> None:
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        write_and_fail(db)
    assert load_publisher_state(db).last_commit_time == 0


def write_and_fail(db: Connection) -> None:
    with write_transaction(db):
        db.execute("UPDATE facts SET stamp = 99")
        db.execute("SELECT * FROM nowhere")


def test_invalid_state_file_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a database " * 100)
    with pytest.raises(CollectionError, match="is not a valid publisher state file"):
        open_state_db(tmp_path / "notes.txt")
    with sqlite3.connect(tmp_path / "newer.db") as other:
        other.execute("PRAGMA user_version=99")
    other.close()
    with pytest.raises(CollectionError, match="has schema version 99"):
        open_state_db(tmp_path / "newer.db")


@pytest.mark.parametrize("base", ["example.org", "ftp://example.org", "https://example.org/x", "https://", ""])
def test_invalid_base_url_is_rejected(base: str) -> None:
    with pytest.raises(UsageError, match="scheme and a host"):
        PublishedSite(base, Path("x"))
