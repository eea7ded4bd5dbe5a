"""Scan a document root for new, changed, and deleted pages, with constant memory.

An unchanged root is recognized by its digest. Symbolic links to directories are not followed; links to files only
within the root.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path

from sanderling.errors import UsageError
from sanderling.publisher.change_log import compute_hidden_flags
from sanderling.publisher.paths import canonicalize_decoded_path, strip_index_file
from sanderling.publisher.published_site import PublishedSite
from sanderling.publisher.robots_rules import PathRules
from sanderling.publisher.state_db import Connection, advance_commit_time, load_publisher_state, write_transaction

PAGE_SUFFIXES = (".html", ".htm", ".xhtml", ".pdf")
INSERT_CHUNK_SIZE = 5000
LOGIN_DIRECTIVES = (b"authtype", b"require valid-user", b"require user", b"deny from all", b"require all denied")


@dataclass(frozen=True, slots=True)
class DocrootPage:
    path: str
    modified_ms: int
    validator: str  # changes with the file
    file: str


@dataclass(frozen=True, slots=True)
class DocrootScan:
    pages: int
    new: int
    changed: int
    gone: int


def find_pages(root: Path, site: PublishedSite) -> Iterator[DocrootPage]:
    """Yield the pages below a root, except hidden, unreadable, and login-protected files."""
    root_path = os.path.realpath(root)
    folders = [root_path]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(folder) as entries:
                if _requires_login(folder):
                    continue
                for entry in entries:
                    if entry.name.startswith("."):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    elif entry.name.lower().endswith(PAGE_SUFFIXES):
                        yield from _build_page(entry, root_path, site)
        except OSError:
            continue  # removed or made unreadable meanwhile


def _requires_login(folder: str) -> bool:
    try:
        with open(os.path.join(folder, ".htaccess"), "rb") as file:
            text = file.read(65536).lower()
    except OSError:
        return False
    return any(word in text for word in LOGIN_DIRECTIVES)


def _build_page(entry: "os.DirEntry[str]", root_path: str, site: PublishedSite) -> Iterator[DocrootPage]:
    try:
        if entry.is_symlink() and not os.path.realpath(entry.path).startswith(root_path + os.sep):
            return
        status = entry.stat()
    except OSError:
        return
    path = canonicalize_decoded_path(os.fsencode(entry.path[len(root_path) :]))
    if path is not None and entry.is_file():
        validator = f"{status.st_mtime_ns:x}-{status.st_size:x}-{status.st_ino:x}"
        yield DocrootPage(
            strip_index_file(path, site.index_file), status.st_mtime_ns // 1_000_000, validator, entry.path
        )


CREATE_STAGING_TABLE = (
    "CREATE TEMP TABLE IF NOT EXISTS found (path TEXT PRIMARY KEY, modified INTEGER, mark TEXT) WITHOUT ROWID"
)

INSERT_NEW_PAGES = """INSERT INTO pages (path, created, modified, noticed, mark, hidden)
SELECT path, iif(:first, modified, :stamp), min(modified, :stamp), iif(:first, min(modified, :stamp), :stamp), mark,
  hidden_by(path)
FROM found WHERE path NOT IN (SELECT path FROM pages) LIMIT :room"""

UPDATE_CHANGED_PAGES = """UPDATE pages SET modified = min(found.modified, :stamp), noticed = :stamp, mark = found.mark,
  created = iif(pages.deleted, :stamp, pages.created), deleted = 0
FROM found WHERE found.path = pages.path AND (pages.deleted OR pages.mark <> found.mark)"""

MARK_GONE_PAGES = """UPDATE pages SET deleted = 1, modified = :stamp, noticed = :stamp
WHERE deleted = 0 AND path NOT IN (SELECT path FROM found)"""


def scan_docroot(db: Connection, site: PublishedSite, rules: PathRules, root: Path, now: int) -> DocrootScan:
    """Store the differences between the document root and the stored pages."""
    if not root.is_dir():
        raise UsageError(f"{root} is not a folder: give the document root of the site")
    docroot_digest, count = digest_pages(find_pages(root, site))
    if docroot_digest == load_publisher_state(db).docroot_digest:
        return DocrootScan(count, 0, 0, 0)
    db.execute(CREATE_STAGING_TABLE)
    db.execute("DELETE FROM found")
    pages = find_pages(root, site)
    while chunk := list(islice(pages, INSERT_CHUNK_SIZE)):
        db.executemany(
            "INSERT OR IGNORE INTO found VALUES (?, ?, ?)", [(p.path, p.modified_ms, p.validator) for p in chunk]
        )
    db.create_function("hidden_by", 1, lambda path: compute_hidden_flags(site, rules, path), deterministic=True)
    with write_transaction(db):
        db.execute("UPDATE facts SET files = ?", (docroot_digest,))
        return _write_differences(db, site, now)


def digest_pages(pages: Iterator[DocrootPage]) -> tuple[str, int]:
    """Return an order-independent digest, and the number of pages."""
    total = count = 0
    for page in pages:
        total += int.from_bytes(blake2b(f"{page.path} {page.validator}".encode(), digest_size=16).digest())
        count += 1
    return f"{total % 2**128:x} {count}", count


def _write_differences(db: Connection, site: PublishedSite, now: int) -> DocrootScan:
    is_first_scan = (
        load_publisher_state(db).last_commit_time == 0
    )  # the first scan reports no changes: pages keep their own time
    (count,) = db.execute("SELECT count(*) FROM pages").fetchone()
    parameters = {"stamp": advance_commit_time(db, now), "first": is_first_scan, "room": max(0, site.max_urls - count)}
    changed = db.execute(UPDATE_CHANGED_PAGES, parameters).rowcount
    gone = db.execute(MARK_GONE_PAGES, parameters).rowcount
    new = db.execute(INSERT_NEW_PAGES, parameters).rowcount
    (page_count,) = db.execute("SELECT count(*) FROM found").fetchone()
    return DocrootScan(page_count, new, changed, gone)
