"""A document root as a list of pages: walk it, find what is new, changed or gone. Memory stays flat.

The walk is put into a table of its own on disk and compared there with what is known, so a million files need no
more memory than a hundred. An unchanged root is known again by its digest, and costs the walk alone. Links to
directories are not followed (a loop would never end), links to files only if they stay inside the root.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path

from sanderling.errors import UsageError
from sanderling.publisher.change_log import hidden_by
from sanderling.publisher.paths import encoded, without_index
from sanderling.publisher.published_site import Site
from sanderling.publisher.robots import Rules
from sanderling.publisher.state_db import Connection, facts, new_stamp, writing

PAGE_ENDINGS = (".html", ".htm", ".xhtml", ".pdf")
CHUNK = 5000
LOGIN_WORDS = (b"authtype", b"require valid-user", b"require user", b"deny from all", b"require all denied")


@dataclass(frozen=True, slots=True)
class Found:
    """One file that is a page."""

    path: str
    modified: int
    mark: str  # changes whenever the file does
    file: str


@dataclass(frozen=True, slots=True)
class Scan:
    """What one look at the document root brought."""

    pages: int
    new: int
    changed: int
    gone: int


def walk(root: Path, site: Site) -> Iterator[Found]:
    """Give every page under the root; what cannot be read, hides itself or asks for a login is passed over."""
    inside = os.path.realpath(root)
    waiting = [inside]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                if _asks_for_login(folder):
                    continue
                for entry in entries:
                    if entry.name.startswith("."):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    elif entry.name.lower().endswith(PAGE_ENDINGS):
                        yield from _page(entry, inside, site)
        except OSError:
            continue  # removed or closed while we looked


def _asks_for_login(folder: str) -> bool:
    """Say if Apache's own file in a folder keeps people out."""
    try:
        with open(os.path.join(folder, ".htaccess"), "rb") as file:
            text = file.read(65536).lower()
    except OSError:
        return False
    return any(word in text for word in LOGIN_WORDS)


def _page(entry: "os.DirEntry[str]", inside: str, site: Site) -> Iterator[Found]:
    try:
        if entry.is_symlink() and not os.path.realpath(entry.path).startswith(inside + os.sep):
            return
        status = entry.stat()
    except OSError:
        return
    path = encoded(os.fsencode(entry.path[len(inside) :]))
    if path is not None and entry.is_file():
        mark = f"{status.st_mtime_ns:x}-{status.st_size:x}-{status.st_ino:x}"
        yield Found(without_index(path, site.index), status.st_mtime_ns // 1_000_000, mark, entry.path)


STAGE = "CREATE TEMP TABLE IF NOT EXISTS found (path TEXT PRIMARY KEY, modified INTEGER, mark TEXT) WITHOUT ROWID"

NEW = """INSERT INTO pages (path, created, modified, noticed, mark, hidden)
SELECT path, iif(:first, modified, :stamp), min(modified, :stamp), iif(:first, min(modified, :stamp), :stamp), mark,
  hidden_by(path)
FROM found WHERE path NOT IN (SELECT path FROM pages) LIMIT :room"""

CHANGED = """UPDATE pages SET modified = min(found.modified, :stamp), noticed = :stamp, mark = found.mark,
  created = iif(pages.deleted, :stamp, pages.created), deleted = 0
FROM found WHERE found.path = pages.path AND (pages.deleted OR pages.mark <> found.mark)"""

GONE = """UPDATE pages SET deleted = 1, modified = :stamp, noticed = :stamp
WHERE deleted = 0 AND path NOT IN (SELECT path FROM found)"""


def scan(db: Connection, site: Site, rules: Rules, root: Path, now: int) -> Scan:
    """Compare the document root with what is known, and write down the difference in one transaction."""
    if not root.is_dir():
        raise UsageError(f"{root} is no folder: give the document root of the site")
    files, count = digest(walk(root, site))
    if files == facts(db).files:
        return Scan(count, 0, 0, 0)  # nothing is written where nothing changed
    db.execute(STAGE)
    db.execute("DELETE FROM found")
    pages = walk(root, site)
    while chunk := list(islice(pages, CHUNK)):
        db.executemany("INSERT OR IGNORE INTO found VALUES (?, ?, ?)", [(p.path, p.modified, p.mark) for p in chunk])
    db.create_function("hidden_by", 1, lambda path: hidden_by(site, rules, path), deterministic=True)
    with writing(db):
        db.execute("UPDATE facts SET files = ?", (files,))
        return _compare(db, site, now)


def digest(pages: Iterator[Found]) -> tuple[str, int]:
    """Sum up a document root, in any order, so that an unchanged one is known again; and count its pages."""
    total = count = 0
    for page in pages:
        total += int.from_bytes(blake2b(f"{page.path} {page.mark}".encode(), digest_size=16).digest())
        count += 1
    return f"{total % 2**128:x} {count}", count


def _compare(db: Connection, site: Site, now: int) -> Scan:
    first = facts(db).stamp == 0  # what was there before us is no news: it keeps its own time
    (count,) = db.execute("SELECT count(*) FROM pages").fetchone()
    values = {"stamp": new_stamp(db, now), "first": first, "room": max(0, site.most_urls - count)}
    changed = db.execute(CHANGED, values).rowcount
    gone = db.execute(GONE, values).rowcount
    new = db.execute(NEW, values).rowcount
    (found,) = db.execute("SELECT count(*) FROM found").fetchone()
    return Scan(found, new, changed, gone)
