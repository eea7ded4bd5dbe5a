"""The index equals the database after SIGKILL of the crawl, of its indexer process, or of both."""

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.support.site import Page, Site, html, tree

from sanderling.errors import CollectionError
from sanderling.search.document import ParsedHead, build_document
from sanderling.search.index import open_search_index
from sanderling.search.indexer import update_index
from sanderling.search.search_types import Document
from sanderling.storage.collection import StoredCollection, open_collection_read_only
from sanderling.storage.queries import load_pages, load_stored_record

SRC = Path(__file__).parents[2] / "src"
PAGES = 300
KILLS = 5  # per session
SESSIONS = 3


def start_crawl(site: Site, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", "import sys; from sanderling.cli import main; sys.exit(main())", "crawl",
               site.root + "/", "-C", str(folder), "--delay", "0", "--allow-private", "--workers", "1",
               "--quiet"]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(SRC), "SANDERLING_INDEX": "yes"}
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True, env=environment)


def find_indexer(process: subprocess.Popen[str], folder: Path) -> int:
    """Return the pid of the child that has the index open, or 0."""
    for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
        try:
            open_files = [os.readlink(name) for name in Path(f"/proc/{child}/fd").iterdir()]
        except OSError:  # the child has just ended
            continue
        if any(name.startswith(str(folder / "index")) for name in open_files):
            return int(child)
    return 0


def kill_randomly(process: subprocess.Popen[str], folder: Path, kind: int) -> None:
    """Kill the indexer (0), the crawl (1), or both (2)."""
    try:
        indexer = find_indexer(process, folder) if kind != 1 else 0
        for pid in (indexer, process.pid if kind else 0):
            if pid:
                os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, FileNotFoundError):
        return


def wait_for_hits(site: Site, count: int, process: subprocess.Popen[str]) -> None:
    goal, deadline = sum(site.hits.values()) + count, time.monotonic() + 60
    while sum(site.hits.values()) < goal and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)


def crawl_with_kills(site: Site, folder: Path, draw: random.Random) -> int:
    """Run a crawl with kills and restarts. Returns their number."""
    kills, process = 0, start_crawl(site, folder)
    while kills < KILLS:
        wait_for_hits(site, draw.randrange(5, 2 * PAGES // KILLS), process)
        if process.poll() is not None:
            break
        kind = draw.randrange(3)
        kill_randomly(process, folder, kind)
        kills += 1
        if kind:
            process.wait()
            process = start_crawl(site, folder)
    assert process.wait() == 0
    return kills


def update_index_with_retry(folder: Path) -> None:
    for _ in range(600):
        try:
            update_index(folder)
        except CollectionError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("another process did not release the index")


def change_pages(site: Site, draw: random.Random) -> None:
    """Rewrite, remove, restore or copy some pages."""
    first = tree(PAGES)
    for number in range(1, PAGES):
        path = f"/p{number}"
        match draw.randrange(20):
            case 0 | 1 | 2 | 3:
                site.pages[path] = html("/", text=f"page number {number}, written at {draw.random()}")
            case 4:
                site.pages[path] = Page(b"", 404)
            case 5:
                site.pages[path] = html("/", text=f"one of {draw.randrange(5)} texts")
            case 6 | 7:
                site.pages[path] = first[path]


def read_database(collection: StoredCollection) -> dict[str, str]:
    """Return the text hash of available pages, by body digest."""
    found: dict[str, str] = {}
    for row in load_pages(collection.db, "p.status = 200 AND p.misses = 0 AND p.noindex = 0"):
        record = load_stored_record(collection, row.url_id, row.url)
        document = build_document(record, row.url, 0.0, ParsedHead(row.title, row.language))
        assert document is not None
        found[row.digest] = hash_text(document)
    return found


def read_index(folder: Path, collection: StoredCollection) -> dict[str, str]:
    """Return the text hash of indexed pages, by body digest."""
    index = open_search_index(folder / "index", write=False)
    assert index is not None
    found = [(row.digest, index.get(row.url)) for row in load_pages(collection.db)]
    indexed = {digest: hash_text(document) for digest, document in found if document is not None}
    assert len(index) == sum(document is not None for _, document in found)  # no page unknown to the database
    assert len(index) - len(indexed) < 20  # several copies of a page that is gone may be indexed
    return indexed


def hash_text(document: Document) -> str:
    return hashlib.sha256("\0".join((document.title, document.headings, document.body)).encode()).hexdigest()


@pytest.mark.slow
def test_index_equals_the_database_after_random_kills(tmp_path: Path) -> None:
    draw = random.Random(13)
    kills = 0
    with Site(tree(PAGES)) as site:
        for _ in range(SESSIONS):
            kills += crawl_with_kills(site, tmp_path, draw)
            update_index_with_retry(tmp_path)
            with open_collection_read_only(tmp_path) as collection:
                assert read_index(tmp_path, collection) == read_database(collection)
            change_pages(site, draw)
    assert kills >= SESSIONS
