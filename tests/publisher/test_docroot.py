"""A document root as a list of pages."""

import os
from pathlib import Path

import pytest
from tests.publisher.conftest import NOW

from sanderling.errors import UsageError
from sanderling.publisher.docroot import DocrootScan, scan_docroot
from sanderling.publisher.listings import ChangesQuery, load_changes
from sanderling.publisher.published_site import PublishedSite
from sanderling.publisher.robots_rules import PathRules, parse_robots_rules
from sanderling.publisher.state_db import Connection, load_publisher_state


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "www"
    for name in ("index.html", "a.html", "sub/index.html", "sub/b c.htm", "style.css", ".git/x.html"):
        put(folder, name, 1_600_000_000)
    return folder


def put(root: Path, name: str, at: float) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(name)
    os.utime(root / name, (at, at))


def told(db: Connection, since: int) -> dict[str, str]:
    return {
        entry.path: entry.change_type
        for entry in load_changes(db, load_publisher_state(db), ChangesQuery(since)).entries
    }


def test_pages_are_found_and_other_files_left_alone(db: Connection, site: PublishedSite, root: Path) -> None:
    assert scan_docroot(db, site, PathRules(), root, NOW) == DocrootScan(pages=4, new=4, changed=0, gone=0)
    assert set(told(db, 0)) == {"/", "/a.html", "/sub/", "/sub/b%20c.htm"}


def test_what_was_there_before_us_is_no_news(db: Connection, site: PublishedSite, root: Path) -> None:
    scan_docroot(db, site, PathRules(), root, NOW)
    assert told(db, NOW - 1000) == {}
    assert set(told(db, 1_500_000_000_000)) == {"/", "/a.html", "/sub/", "/sub/b%20c.htm"}


def test_new_changed_and_gone_files_are_told(db: Connection, site: PublishedSite, root: Path) -> None:
    scan_docroot(db, site, PathRules(), root, NOW)
    put(root, "new.html", 1_600_000_000)  # copied with its old time: still news
    put(root, "a.html", 1_650_000_000)
    (root / "sub/b c.htm").unlink()
    assert scan_docroot(db, site, PathRules(), root, NOW + 1000) == DocrootScan(pages=4, new=1, changed=1, gone=1)
    assert told(db, NOW) == {"/new.html": "created", "/a.html": "updated", "/sub/b%20c.htm": "deleted"}
    assert scan_docroot(db, site, PathRules(), root, NOW + 2000) == DocrootScan(pages=4, new=0, changed=0, gone=0)
    put(root, "sub/b c.htm", 1_600_000_000)
    scan_docroot(db, site, PathRules(), root, NOW + 3000)
    assert told(db, NOW + 2000) == {"/sub/b%20c.htm": "created"}


def test_a_loop_of_links_ends_and_nothing_outside_is_listed(db: Connection, site: PublishedSite, root: Path) -> None:
    (root.parent / "outside.html").write_text("secret")
    (root / "sub/loop").symlink_to(root)
    (root / "self.html").symlink_to(root / "self.html")
    (root / "out.html").symlink_to(root.parent / "outside.html")
    (root / "twin.html").symlink_to(root / "a.html")
    (root / "dangling.html").symlink_to(root / "nowhere.html")
    scan_docroot(db, site, PathRules(), root, NOW)
    assert set(told(db, 0)) == {"/", "/a.html", "/sub/", "/sub/b%20c.htm", "/twin.html"}


def test_folders_that_ask_for_a_login_and_what_robots_forbids_are_left_out(
    db: Connection, site: PublishedSite, root: Path
) -> None:
    put(root, "staff/plan.html", 1_600_000_000)
    (root / "staff/.htaccess").write_text("AuthType Basic\nRequire valid-user\n")
    scan_docroot(db, site, parse_robots_rules("User-agent: *\nDisallow: /sub/"), root, NOW)
    assert set(told(db, 0)) == {"/", "/a.html"}


def test_file_names_that_are_no_text_are_listed_by_their_bytes(db: Connection, site: PublishedSite, root: Path) -> None:
    with open(os.fsencode(root) + b"/\xff.html", "wb") as file:
        file.write(b"x")
    scan_docroot(db, site, PathRules(), root, NOW)
    assert "/%FF.html" in told(db, 0)


def test_a_site_with_too_many_files_is_cut_off_not_crashed(db: Connection, site: PublishedSite, root: Path) -> None:
    small = PublishedSite(site.base_url, site.state_file, max_urls=3)
    scan_docroot(db, small, PathRules(), root, NOW)
    assert len(told(db, 0)) == 3


def test_a_root_that_is_no_folder_is_refused(db: Connection, site: PublishedSite, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no folder"):
        scan_docroot(db, site, PathRules(), tmp_path / "nowhere", NOW)
