"""Tests of scanning a document root."""

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
def docroot(tmp_path: Path) -> Path:
    folder = tmp_path / "www"
    for name in ("index.html", "a.html", "sub/index.html", "sub/b c.htm", "style.css", ".git/x.html"):
        write_file(folder, name, 1_600_000_000)
    return folder


def write_file(docroot: Path, name: str, at: float) -> None:
    (docroot / name).parent.mkdir(parents=True, exist_ok=True)
    (docroot / name).write_text(name)
    os.utime(docroot / name, (at, at))


def list_changes(db: Connection, since: int) -> dict[str, str]:
    return {
        entry.path: entry.change_type
        for entry in load_changes(db, load_publisher_state(db), ChangesQuery(since)).entries
    }


def test_only_pages_are_found(db: Connection, site: PublishedSite, docroot: Path) -> None:
    assert scan_docroot(db, site, PathRules(), docroot, NOW) == DocrootScan(pages=4, new=4, changed=0, gone=0)
    assert set(list_changes(db, 0)) == {"/", "/a.html", "/sub/", "/sub/b%20c.htm"}


def test_first_scan_reports_no_changes(db: Connection, site: PublishedSite, docroot: Path) -> None:
    scan_docroot(db, site, PathRules(), docroot, NOW)
    assert list_changes(db, NOW - 1000) == {}
    assert set(list_changes(db, 1_500_000_000_000)) == {"/", "/a.html", "/sub/", "/sub/b%20c.htm"}


def test_new_changed_and_deleted_files_are_listed(db: Connection, site: PublishedSite, docroot: Path) -> None:
    scan_docroot(db, site, PathRules(), docroot, NOW)
    write_file(docroot, "new.html", 1_600_000_000)  # copied with its old time, still a change
    write_file(docroot, "a.html", 1_650_000_000)
    (docroot / "sub/b c.htm").unlink()
    assert scan_docroot(db, site, PathRules(), docroot, NOW + 1000) == DocrootScan(pages=4, new=1, changed=1, gone=1)
    assert list_changes(db, NOW) == {"/new.html": "created", "/a.html": "updated", "/sub/b%20c.htm": "deleted"}
    assert scan_docroot(db, site, PathRules(), docroot, NOW + 2000) == DocrootScan(pages=4, new=0, changed=0, gone=0)
    write_file(docroot, "sub/b c.htm", 1_600_000_000)
    scan_docroot(db, site, PathRules(), docroot, NOW + 3000)
    assert list_changes(db, NOW + 2000) == {"/sub/b%20c.htm": "created"}


def test_symlink_loops_end_and_outside_files_are_not_listed(db: Connection, site: PublishedSite, docroot: Path) -> None:
    (docroot.parent / "outside.html").write_text("secret")
    (docroot / "sub/loop").symlink_to(docroot)
    (docroot / "self.html").symlink_to(docroot / "self.html")
    (docroot / "out.html").symlink_to(docroot.parent / "outside.html")
    (docroot / "alias.html").symlink_to(docroot / "a.html")
    (docroot / "dangling.html").symlink_to(docroot / "nowhere.html")
    scan_docroot(db, site, PathRules(), docroot, NOW)
    assert set(list_changes(db, 0)) == {"/", "/a.html", "/sub/", "/sub/b%20c.htm", "/alias.html"}


def test_protected_folders_and_disallowed_pages_are_not_listed(
    db: Connection, site: PublishedSite, docroot: Path
) -> None:
    write_file(docroot, "staff/plan.html", 1_600_000_000)
    (docroot / "staff/.htaccess").write_text("AuthType Basic\nRequire valid-user\n")
    scan_docroot(db, site, parse_robots_rules("User-agent: *\nDisallow: /sub/"), docroot, NOW)
    assert set(list_changes(db, 0)) == {"/", "/a.html"}


def test_undecodable_file_names_are_percent_encoded(db: Connection, site: PublishedSite, docroot: Path) -> None:
    with open(os.fsencode(docroot) + b"/\xff.html", "wb") as file:
        file.write(b"x")
    scan_docroot(db, site, PathRules(), docroot, NOW)
    assert "/%FF.html" in list_changes(db, 0)


def test_pages_beyond_the_limit_are_ignored(db: Connection, site: PublishedSite, docroot: Path) -> None:
    small = PublishedSite(site.base_url, site.state_file, max_urls=3)
    scan_docroot(db, small, PathRules(), docroot, NOW)
    assert len(list_changes(db, 0)) == 3


def test_missing_document_root_is_rejected(db: Connection, site: PublishedSite, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a folder"):
        scan_docroot(db, site, PathRules(), tmp_path / "nowhere", NOW)
