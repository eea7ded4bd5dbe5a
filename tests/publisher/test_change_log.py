"""What is written down, and when a page may be listed."""

import sqlite3
from pathlib import Path

import pytest
from tests.publisher.conftest import NOW, publish

from sanderling.errors import CollectionError, UsageError
from sanderling.publisher.change_log import Batch, apply_rules, forget, record
from sanderling.publisher.listings import Wish, changes
from sanderling.publisher.published_site import DAY, Site
from sanderling.publisher.robots import Rules, read_rules
from sanderling.publisher.state_db import Connection, connect, facts, writing


def told(db: Connection, since: int) -> list[tuple[str, str]]:
    return [(entry.path, entry.change) for entry in changes(db, facts(db), Wish(since)).entries]


def test_stamps_grow_even_when_the_clock_jumps_back(db: Connection, site: Site) -> None:
    first = publish(db, site, {"/a": 1}, NOW)
    second = publish(db, site, {"/b": 1}, NOW - 5000)
    assert second == first + 1
    assert told(db, first) == [("/b", "created")]


def test_a_page_with_the_same_validator_is_no_news(db: Connection, site: Site) -> None:
    first = record(db, site, Rules(), Batch(seen={"/a": (None, "v1")}), NOW)
    record(db, site, Rules(), Batch(seen={"/a": (None, "v1")}), NOW + 1000)
    assert told(db, first) == []
    record(db, site, Rules(), Batch(seen={"/a": (None, "v2")}), NOW + 2000)
    assert told(db, first) == [("/a", "updated")]


def test_a_page_of_tomorrow_was_changed_now(db: Connection, site: Site) -> None:
    stamp = record(db, site, Rules(), Batch(seen={"/a": (NOW + DAY, "v")}), NOW)
    assert db.execute("SELECT modified FROM pages").fetchone() == (stamp,)


def test_an_old_file_that_appears_now_is_news_now(db: Connection, site: Site) -> None:
    before = publish(db, site, {"/": 1}, NOW)
    record(db, site, Rules(), Batch(seen={"/restored": (NOW - 400 * DAY, "v")}), NOW + 1000)
    assert told(db, before) == [("/restored", "created")]


def test_deleted_then_back_is_deleted_then_created(db: Connection, site: Site) -> None:
    first = publish(db, site, {"/a": 5, "/b": 1}, NOW)
    second = record(db, site, Rules(), Batch(gone={"/a", "/never-was"}), NOW + 1000)
    assert told(db, first) == [("/a", "deleted")]
    record(db, site, Rules(), Batch(seen={"/a": (None, "v")}), NOW + 2000)
    assert told(db, second) == [("/a", "created")]


def test_deletions_are_forgotten_after_a_while(db: Connection, site: Site) -> None:
    publish(db, site, {"/a": 1}, NOW)
    record(db, site, Rules(), Batch(gone={"/a"}), NOW)
    assert forget(db, site, NOW + DAY) == 0
    assert forget(db, site, NOW + 200 * DAY) == 1
    assert told(db, 0) == []


def test_a_page_that_asks_for_a_login_is_hidden_until_served_to_anybody(db: Connection, site: Site) -> None:
    publish(db, site, {"/a": 1, "/b": 1}, NOW)
    hidden = record(db, site, Rules(), Batch(private={"/a"}), NOW + 1000)
    assert told(db, 0) == [("/b", "created")]
    record(db, site, Rules(), Batch(public={"/a", "/b"}), NOW + 2000)
    assert told(db, hidden) == [("/a", "updated")]


def test_a_private_prefix_is_never_listed(db: Connection, site: Site) -> None:
    careful = Site(site.base, site.state, private=("/staff",))
    record(db, careful, Rules(), Batch(seen={"/staff/x": (None, "v"), "/x": (None, "v")}, public={"/staff/x"}), NOW)
    assert told(db, 0) == [("/x", "created")]


def test_what_robots_forbids_is_hidden_at_once_and_news_when_allowed_again(db: Connection, site: Site) -> None:
    publish(db, site, {"/a": 2, "/b": 1}, NOW)
    apply_rules(db, site, read_rules("User-agent: *\nDisallow: /a"), NOW + 1000)
    assert told(db, 0) == [("/b", "created")]
    stamp = facts(db).stamp
    apply_rules(db, site, read_rules("User-agent: *\nDisallow: /a"), NOW + 2000)
    assert facts(db).stamp == stamp  # the same rules cost nothing
    apply_rules(db, site, Rules(), NOW + 3000)
    assert told(db, stamp) == [("/a", "updated")]


def test_new_pages_are_hidden_by_the_rules_in_force(db: Connection, site: Site) -> None:
    rules = read_rules("User-agent: *\nDisallow: /a")
    record(db, site, rules, Batch(seen={"/a1": (None, ""), "/b": (None, "")}), NOW)
    assert told(db, 0) == [("/b", "created")]


def test_a_full_store_takes_up_no_more_but_still_counts(db: Connection, site: Site) -> None:
    small = Site(site.base, site.state, most_urls=2)
    publish(db, small, {"/a": 1, "/b": 1}, NOW)
    publish(db, small, {"/c": 1, "/a": 5}, NOW + 1)
    assert dict(db.execute("SELECT path, hits FROM pages")) == {"/a": 6, "/b": 1}


def test_a_failed_write_leaves_nothing_behind(db: Connection, site: Site) -> None:
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        write_and_fail(db)
    assert facts(db).stamp == 0


def write_and_fail(db: Connection) -> None:
    with writing(db):
        db.execute("UPDATE facts SET stamp = 99")
        db.execute("SELECT * FROM nowhere")


def test_a_file_that_is_no_state_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear crawler, " * 100)
    with pytest.raises(CollectionError, match="cannot be the publisher's state file"):
        connect(tmp_path / "letter.txt")
    with sqlite3.connect(tmp_path / "newer.db") as other:
        other.execute("PRAGMA user_version=99")
    other.close()
    with pytest.raises(CollectionError, match="has version 99"):
        connect(tmp_path / "newer.db")


@pytest.mark.parametrize("base", ["example.org", "ftp://example.org", "https://example.org/x", "https://", ""])
def test_a_base_that_is_none_is_refused(base: str) -> None:
    with pytest.raises(UsageError, match="scheme and a host"):
        Site(base, Path("x"))
