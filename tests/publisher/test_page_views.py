"""Tests of following a log that is appended, rotated, compressed, and truncated."""

import gzip
import shutil
from pathlib import Path

import pytest
from tests.publisher.conftest import BROWSER, NOW, publish

from sanderling.publisher.page_views import LogReadResult, follow_access_log
from sanderling.publisher.published_site import PublishedSite
from sanderling.publisher.robots_rules import PathRules
from sanderling.publisher.state_db import Connection, load_publisher_state

LINE = '1.2.3.4 - - [10/Oct/2023:13:55:{:02} +0000] "GET {} HTTP/1.1" {} 5 "-" "{}"\n'


def format_line(path: str = "/a", status: int = 200, second: int = 0, agent: str = BROWSER) -> str:
    return LINE.format(second, path, status, agent)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "access.log"


@pytest.fixture
def db_with_pages(db: Connection, site: PublishedSite) -> Connection:
    publish(db, site, {"/a": 0, "/b": 0})
    return db


def append_lines(log: Path, *lines: str) -> None:
    with log.open("a") as file:
        file.writelines(lines)


def load_hits(db: Connection) -> dict[str, int]:
    return dict(db.execute("SELECT path, hits FROM pages"))


def read_log(db: Connection, site: PublishedSite, log: Path) -> LogReadResult:
    return follow_access_log(db, site, PathRules(), log, NOW + 1000)


def test_appended_lines_are_counted_once(db_with_pages: Connection, site: PublishedSite, log: Path) -> None:
    append_lines(
        log,
        format_line(),
        format_line("/b"),
        format_line(agent="curl/8"),
        format_line("/other"),
        format_line(status=404),
        "nonsense\n",
    )
    assert read_log(db_with_pages, site, log) == LogReadResult(lines=6, malformed=1)
    assert read_log(db_with_pages, site, log) == LogReadResult()
    assert load_hits(db_with_pages) == {"/a": 1, "/b": 1}
    append_lines(log, format_line()[:30])
    assert read_log(db_with_pages, site, log) == LogReadResult()  # an incomplete line waits
    append_lines(log, format_line()[30:])
    assert read_log(db_with_pages, site, log).lines == 1
    assert load_hits(db_with_pages)["/a"] == 2


def test_renamed_log_is_finished_before_the_new_log(db_with_pages: Connection, site: PublishedSite, log: Path) -> None:
    append_lines(log, format_line(second=1))
    read_log(db_with_pages, site, log)
    append_lines(log, format_line(second=2))
    log.rename(log.with_name("access.log.1"))
    append_lines(log, format_line("/b", second=3))
    read_log(db_with_pages, site, log)
    assert load_hits(db_with_pages) == {"/a": 2, "/b": 1}


def test_log_rotated_twice_and_compressed_is_continued(
    db_with_pages: Connection, site: PublishedSite, log: Path
) -> None:
    append_lines(log, format_line(second=1))
    read_log(db_with_pages, site, log)
    append_lines(log, format_line(second=2))
    with log.open("rb") as plain, gzip.open(log.with_name("access.log.2.gz"), "wb") as packed:
        shutil.copyfileobj(plain, packed)
    log.unlink()
    append_lines(log.with_name("access.log.1"), format_line("/b", second=3))
    append_lines(log, format_line("/b", second=4))
    read_log(db_with_pages, site, log)
    assert load_hits(db_with_pages) == {"/a": 2, "/b": 2}
    assert read_log(db_with_pages, site, log) == LogReadResult()


def test_log_rotated_by_copytruncate_is_continued(db_with_pages: Connection, site: PublishedSite, log: Path) -> None:
    append_lines(log, format_line(second=1), format_line(second=2))
    read_log(db_with_pages, site, log)
    shutil.copy(log, log.with_name("access.log.1"))
    log.write_text("")
    read_log(db_with_pages, site, log)
    append_lines(log, format_line("/b", second=3))
    read_log(db_with_pages, site, log)
    assert load_hits(db_with_pages) == {"/a": 2, "/b": 1}


def test_truncated_log_is_read_from_its_start(db_with_pages: Connection, site: PublishedSite, log: Path) -> None:
    append_lines(log.with_name("access.log.1"), format_line("/b", second=0))
    append_lines(log, format_line(second=1), format_line(second=2))
    read_log(db_with_pages, site, log)
    log.write_text(format_line(second=3))
    read_log(db_with_pages, site, log)
    assert load_hits(db_with_pages) == {"/a": 3, "/b": 1}


def test_rotated_files_are_read_the_first_time(db_with_pages: Connection, site: PublishedSite, log: Path) -> None:
    append_lines(log.with_name("access.log.1"), format_line(second=1))
    append_lines(log, format_line(second=2))
    read_log(db_with_pages, site, log)
    assert load_hits(db_with_pages)["/a"] == 2


def test_damaged_or_missing_log_is_skipped(db_with_pages: Connection, site: PublishedSite, log: Path) -> None:
    log.with_name("access.log.2.gz").write_bytes(b"\x1f\x8b this is no gzip")
    assert read_log(db_with_pages, site, log) == LogReadResult()
    append_lines(log, format_line())
    assert read_log(db_with_pages, site, log).lines == 1


def test_overlong_line_is_skipped(db_with_pages: Connection, site: PublishedSite, log: Path) -> None:
    log.write_bytes(b"x" * 3_000_000)
    read_log(db_with_pages, site, log)
    append_lines(log, "\n", format_line())
    read_log(db_with_pages, site, log)
    assert load_hits(db_with_pages)["/a"] == 1


def test_pages_behind_a_login_are_hidden_until_public(
    db_with_pages: Connection, site: PublishedSite, log: Path
) -> None:
    append_lines(log, format_line("/a", 401))
    read_log(db_with_pages, site, log)
    assert dict(db_with_pages.execute("SELECT path, hidden FROM pages")) == {"/a": 2, "/b": 0}
    append_lines(log, format_line("/a", 200, second=1).replace("- - [", "- frank ["))
    read_log(db_with_pages, site, log)
    assert (
        dict(db_with_pages.execute("SELECT path, hidden FROM pages"))["/a"] == 2
    )  # a logged-in view does not make a page public
    append_lines(log, format_line("/a", 200, second=2))
    read_log(db_with_pages, site, log)
    assert dict(db_with_pages.execute("SELECT path, hidden FROM pages"))["/a"] == 0


def test_views_and_position_are_committed_together(db_with_pages: Connection, site: PublishedSite, log: Path) -> None:
    append_lines(log, *(format_line(second=n % 60) for n in range(50)))
    read_log(db_with_pages, site, log)
    position = load_publisher_state(db_with_pages).log_position
    assert position.endswith(str(log.stat().st_size))
    assert load_hits(db_with_pages)["/a"] == 50


def test_verified_crawlers_in_the_log_are_counted_separately(
    db_with_pages: Connection, site: PublishedSite, log: Path
) -> None:
    bot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
    append_lines(log, format_line(agent=bot), format_line(agent=bot).replace("1.2.3.4", "6.6.6.6", 1))
    follow_access_log(db_with_pages, site, PathRules(), log, NOW, lambda agent, address: address == "1.2.3.4")
    assert db_with_pages.execute("SELECT name, verified, visits FROM crawlers ORDER BY 2").fetchall() == [
        ("googlebot", 0, 1),
        ("googlebot", 1, 1),
    ]
