"""A log that is written, rotated, compressed and cut while we read it: every line once."""

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


def line(path: str = "/a", status: int = 200, second: int = 0, agent: str = BROWSER) -> str:
    return LINE.format(second, path, status, agent)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "access.log"


@pytest.fixture
def seen(db: Connection, site: PublishedSite) -> Connection:
    publish(db, site, {"/a": 0, "/b": 0})
    return db


def add(log: Path, *lines: str) -> None:
    with log.open("a") as file:
        file.writelines(lines)


def hits(db: Connection) -> dict[str, int]:
    return dict(db.execute("SELECT path, hits FROM pages"))


def read(db: Connection, site: PublishedSite, log: Path) -> LogReadResult:
    return follow_access_log(db, site, PathRules(), log, NOW + 1000)


def test_lines_are_counted_once_as_they_come(seen: Connection, site: PublishedSite, log: Path) -> None:
    add(log, line(), line("/b"), line(agent="curl/8"), line("/other"), line(status=404), "nonsense\n")
    assert read(seen, site, log) == LogReadResult(lines=6, malformed=1)
    assert read(seen, site, log) == LogReadResult()
    assert hits(seen) == {"/a": 1, "/b": 1}
    add(log, line()[:30])
    assert read(seen, site, log) == LogReadResult()  # half a line waits
    add(log, line()[30:])
    assert read(seen, site, log).lines == 1
    assert hits(seen)["/a"] == 2


def test_a_renamed_log_is_finished_before_the_new_one(seen: Connection, site: PublishedSite, log: Path) -> None:
    add(log, line(second=1))
    read(seen, site, log)
    add(log, line(second=2))
    log.rename(log.with_name("access.log.1"))
    add(log, line("/b", second=3))
    read(seen, site, log)
    assert hits(seen) == {"/a": 2, "/b": 1}


def test_a_log_that_was_rotated_twice_and_compressed_is_found_again(
    seen: Connection, site: PublishedSite, log: Path
) -> None:
    add(log, line(second=1))
    read(seen, site, log)
    add(log, line(second=2))
    with log.open("rb") as plain, gzip.open(log.with_name("access.log.2.gz"), "wb") as packed:
        shutil.copyfileobj(plain, packed)
    log.unlink()
    add(log.with_name("access.log.1"), line("/b", second=3))
    add(log, line("/b", second=4))
    read(seen, site, log)
    assert hits(seen) == {"/a": 2, "/b": 2}
    assert read(seen, site, log) == LogReadResult()


def test_a_log_that_was_copied_and_cut_is_followed(seen: Connection, site: PublishedSite, log: Path) -> None:
    add(log, line(second=1), line(second=2))
    read(seen, site, log)
    shutil.copy(log, log.with_name("access.log.1"))
    log.write_text("")
    read(seen, site, log)
    add(log, line("/b", second=3))
    read(seen, site, log)
    assert hits(seen) == {"/a": 2, "/b": 1}


def test_a_log_that_was_cut_without_a_copy_is_read_from_its_start(
    seen: Connection, site: PublishedSite, log: Path
) -> None:
    add(log.with_name("access.log.1"), line("/b", second=0))
    add(log, line(second=1), line(second=2))
    read(seen, site, log)
    log.write_text(line(second=3))
    read(seen, site, log)
    assert hits(seen) == {"/a": 3, "/b": 1}


def test_older_files_are_read_the_first_time(seen: Connection, site: PublishedSite, log: Path) -> None:
    add(log.with_name("access.log.1"), line(second=1))
    add(log, line(second=2))
    read(seen, site, log)
    assert hits(seen)["/a"] == 2


def test_a_damaged_archive_or_a_missing_log_is_no_end(seen: Connection, site: PublishedSite, log: Path) -> None:
    log.with_name("access.log.2.gz").write_bytes(b"\x1f\x8b this is no gzip")
    assert read(seen, site, log) == LogReadResult()
    add(log, line())
    assert read(seen, site, log).lines == 1


def test_a_line_without_end_fills_no_memory(seen: Connection, site: PublishedSite, log: Path) -> None:
    log.write_bytes(b"x" * 3_000_000)
    read(seen, site, log)
    add(log, "\n", line())
    read(seen, site, log)
    assert hits(seen)["/a"] == 1


def test_pages_behind_a_login_are_hidden_and_come_back(seen: Connection, site: PublishedSite, log: Path) -> None:
    add(log, line("/a", 401))
    read(seen, site, log)
    assert dict(seen.execute("SELECT path, hidden FROM pages")) == {"/a": 2, "/b": 0}
    add(log, line("/a", 200, second=1).replace("- - [", "- frank ["))
    read(seen, site, log)
    assert dict(seen.execute("SELECT path, hidden FROM pages"))["/a"] == 2  # frank is no anybody
    add(log, line("/a", 200, second=2))
    read(seen, site, log)
    assert dict(seen.execute("SELECT path, hidden FROM pages"))["/a"] == 0


def test_views_and_place_are_committed_together(seen: Connection, site: PublishedSite, log: Path) -> None:
    add(log, *(line(second=n % 60) for n in range(50)))
    read(seen, site, log)
    position = load_publisher_state(seen).log_position
    assert position.endswith(str(log.stat().st_size))
    assert hits(seen)["/a"] == 50


def test_verified_crawlers_of_the_log_are_kept_apart(seen: Connection, site: PublishedSite, log: Path) -> None:
    bot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
    add(log, line(agent=bot), line(agent=bot).replace("1.2.3.4", "6.6.6.6", 1))
    follow_access_log(seen, site, PathRules(), log, NOW, lambda agent, address: address == "1.2.3.4")
    assert seen.execute("SELECT name, verified, visits FROM crawlers ORDER BY 2").fetchall() == [
        ("googlebot", 0, 1),
        ("googlebot", 1, 1),
    ]
