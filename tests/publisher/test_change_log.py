"""What is written down, and when a page may be listed."""

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


def told(db: Connection, since: int) -> list[tuple[str, str]]:
    return [
        (entry.path, entry.change_type)
        for entry in load_changes(db, load_publisher_state(db), ChangesQuery(since)).entries
    ]


def test_stamps_grow_even_when_the_clock_jumps_back(db: Connection, site: PublishedSite) -> None:
    first = publish(db, site, {"/a": 1}, NOW)
    second = publish(db, site, {"/b": 1}, NOW - 5000)
    assert second == first + 1
    assert told(db, first) == [("/b", "created")]


def test_a_page_with_the_same_validator_is_no_news(db: Connection, site: PublishedSite) -> None:
    first = write_batch(db, site, PathRules(), ActivityBatch(served_pages={"/a": (None, "v1")}), NOW)
    write_batch(db, site, PathRules(), ActivityBatch(served_pages={"/a": (None, "v1")}), NOW + 1000)
    assert told(db, first) == []
    write_batch(db, site, PathRules(), ActivityBatch(served_pages={"/a": (None, "v2")}), NOW + 2000)
    assert told(db, first) == [("/a", "updated")]


def test_a_page_of_tomorrow_was_changed_now(db: Connection, site: PublishedSite) -> None:
    stamp = write_batch(db, site, PathRules(), ActivityBatch(served_pages={"/a": (NOW + DAY_MS, "v")}), NOW)
    assert db.execute("SELECT modified FROM pages").fetchone() == (stamp,)


def test_an_old_file_that_appears_now_is_news_now(db: Connection, site: PublishedSite) -> None:
    before = publish(db, site, {"/": 1}, NOW)
    write_batch(db, site, PathRules(), ActivityBatch(served_pages={"/restored": (NOW - 400 * DAY_MS, "v")}), NOW + 1000)
    assert told(db, before) == [("/restored", "created")]


def test_deleted_then_back_is_deleted_then_created(db: Connection, site: PublishedSite) -> None:
    first = publish(db, site, {"/a": 5, "/b": 1}, NOW)
    second = write_batch(db, site, PathRules(), ActivityBatch(gone_paths={"/a", "/never-was"}), NOW + 1000)
    assert told(db, first) == [("/a", "deleted")]
    write_batch(db, site, PathRules(), ActivityBatch(served_pages={"/a": (None, "v")}), NOW + 2000)
    assert told(db, second) == [("/a", "created")]


def test_deletions_are_forgotten_after_a_while(db: Connection, site: PublishedSite) -> None:
    publish(db, site, {"/a": 1}, NOW)
    write_batch(db, site, PathRules(), ActivityBatch(gone_paths={"/a"}), NOW)
    assert purge_deletions(db, site, NOW + DAY_MS) == 0
    assert purge_deletions(db, site, NOW + 200 * DAY_MS) == 1
    assert told(db, 0) == []


def test_a_page_that_asks_for_a_login_is_hidden_until_served_to_anybody(db: Connection, site: PublishedSite) -> None:
    publish(db, site, {"/a": 1, "/b": 1}, NOW)
    hidden = write_batch(db, site, PathRules(), ActivityBatch(private_paths={"/a"}), NOW + 1000)
    assert told(db, 0) == [("/b", "created")]
    write_batch(db, site, PathRules(), ActivityBatch(public_paths={"/a", "/b"}), NOW + 2000)
    assert told(db, hidden) == [("/a", "updated")]


def test_a_private_prefix_is_never_listed(db: Connection, site: PublishedSite) -> None:
    careful = PublishedSite(site.base_url, site.state_file, private_prefixes=("/staff",))
    write_batch(
        db,
        careful,
        PathRules(),
        ActivityBatch(served_pages={"/staff/x": (None, "v"), "/x": (None, "v")}, public_paths={"/staff/x"}),
        NOW,
    )
    assert told(db, 0) == [("/x", "created")]


def test_what_robots_forbids_is_hidden_at_once_and_news_when_allowed_again(db: Connection, site: PublishedSite) -> None:
    publish(db, site, {"/a": 2, "/b": 1}, NOW)
    apply_robots_rules(db, site, parse_robots_rules("User-agent: *\nDisallow: /a"), NOW + 1000)
    assert told(db, 0) == [("/b", "created")]
    stamp = load_publisher_state(db).last_commit_time
    apply_robots_rules(db, site, parse_robots_rules("User-agent: *\nDisallow: /a"), NOW + 2000)
    assert load_publisher_state(db).last_commit_time == stamp  # the same rules cost nothing
    apply_robots_rules(db, site, PathRules(), NOW + 3000)
    assert told(db, stamp) == [("/a", "updated")]


def test_new_pages_are_hidden_by_the_rules_in_force(db: Connection, site: PublishedSite) -> None:
    rules = parse_robots_rules("User-agent: *\nDisallow: /a")
    write_batch(db, site, rules, ActivityBatch(served_pages={"/a1": (None, ""), "/b": (None, "")}), NOW)
    assert told(db, 0) == [("/b", "created")]


def test_a_full_store_takes_up_no_more_but_still_counts(db: Connection, site: PublishedSite) -> None:
    small = PublishedSite(site.base_url, site.state_file, max_urls=2)
    publish(db, small, {"/a": 1, "/b": 1}, NOW)
    publish(db, small, {"/c": 1, "/a": 5}, NOW + 1)
    assert dict(db.execute("SELECT path, hits FROM pages")) == {"/a": 6, "/b": 1}


def test_a_failed_write_leaves_nothing_behind(db: Connection, site: PublishedSite) -> None:
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        write_and_fail(db)
    assert load_publisher_state(db).last_commit_time == 0


def write_and_fail(db: Connection) -> None:
    with write_transaction(db):
        db.execute("UPDATE facts SET stamp = 99")
        db.execute("SELECT * FROM nowhere")


def test_a_file_that_is_no_state_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear crawler, " * 100)
    with pytest.raises(CollectionError, match="cannot be the publisher's state file"):
        open_state_db(tmp_path / "letter.txt")
    with sqlite3.connect(tmp_path / "newer.db") as other:
        other.execute("PRAGMA user_version=99")
    other.close()
    with pytest.raises(CollectionError, match="has version 99"):
        open_state_db(tmp_path / "newer.db")


@pytest.mark.parametrize("base", ["example.org", "ftp://example.org", "https://example.org/x", "https://", ""])
def test_a_base_that_is_none_is_refused(base: str) -> None:
    with pytest.raises(UsageError, match="scheme and a host"):
        PublishedSite(base, Path("x"))
