"""kill -9 at any moment, of the crawl, of the process that keeps its index, of both: the index equals the catalogue."""

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
from sanderling.storage.collection import Collection, open_collection_read_only
from sanderling.storage.queries import load_pages, load_stored_record

SRC = Path(__file__).parents[2] / "src"
PAGES = 300
KILLS = 5  # per session
SESSIONS = 3


def start(site: Site, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", "import sys; from sanderling.cli import main; sys.exit(main())", "crawl",
               site.root + "/", "-C", str(folder), "--delay", "0", "--allow-private", "--workers", "1",
               "--quiet"]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(SRC), "SANDERLING_INDEX": "yes"}
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True, env=environment)


def keeper_of(process: subprocess.Popen[str], folder: Path) -> int:
    """The child that holds the index; 0 if none does yet."""
    for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
        try:
            held = [os.readlink(name) for name in Path(f"/proc/{child}/fd").iterdir()]
        except OSError:  # it has just ended
            continue
        if any(name.startswith(str(folder / "index")) for name in held):
            return int(child)
    return 0


def kill(process: subprocess.Popen[str], folder: Path, kind: int) -> None:
    """Kill who keeps the index (0), the crawl (1), or both at once (2)."""
    try:
        keeper = keeper_of(process, folder) if kind != 1 else 0
        for pid in (keeper, process.pid if kind else 0):
            if pid:
                os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, FileNotFoundError):
        return


def wait_for_hits(site: Site, more: int, process: subprocess.Popen[str]) -> None:
    goal, deadline = sum(site.hits.values()) + more, time.monotonic() + 60
    while sum(site.hits.values()) < goal and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)


def crawl_through(site: Site, folder: Path, draw: random.Random) -> int:
    """One session to its end, killed again and again; says how often."""
    kills, process = 0, start(site, folder)
    while kills < KILLS:
        wait_for_hits(site, draw.randrange(5, 2 * PAGES // KILLS), process)
        if process.poll() is not None:
            break
        kind = draw.randrange(3)
        kill(process, folder, kind)
        kills += 1
        if kind:
            process.wait()
            process = start(site, folder)
    assert process.wait() == 0
    return kills


def catch_up_after_all(folder: Path) -> None:
    """As the next search does it; a keeper whose crawl was killed may still be on its way out."""
    for _ in range(600):
        try:
            update_index(folder)
        except CollectionError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("somebody keeps the index for ever")


def change(site: Site, draw: random.Random) -> None:
    """Rewrite a fifth of the pages; some vanish, some come back, some become copies of others."""
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


def of_the_catalogue(collection: Collection) -> dict[str, str]:
    """What the archive holds of each page that is there, by the digest of its body; copies count once."""
    found: dict[str, str] = {}
    for row in load_pages(collection.db, "p.status = 200 AND p.misses = 0 AND p.noindex = 0"):
        record = load_stored_record(collection, row.url_id, row.url)
        document = build_document(record, row.url, 0.0, ParsedHead(row.title, row.language))
        assert document is not None
        found[row.digest] = words_of(document)
    return found


def of_the_index(folder: Path, collection: Collection) -> dict[str, str]:
    """What the index holds of each page, by the digest of its body."""
    index = open_search_index(folder / "index", write=False)
    assert index is not None
    found = [(row.digest, index.get(row.url)) for row in load_pages(collection.db)]
    held = {digest: words_of(document) for digest, document in found if document is not None}
    assert len(index) == sum(document is not None for _, document in found)  # nothing the catalogue does not know
    assert len(index) - len(held) < 20  # copies whose original has left may stand side by side
    return held


def words_of(document: Document) -> str:
    return hashlib.sha256("\0".join((document.title, document.headings, document.body)).encode()).hexdigest()


@pytest.mark.slow
def test_after_random_kills_and_resumes_the_index_equals_the_catalogue(tmp_path: Path) -> None:
    draw = random.Random(13)
    kills = 0
    with Site(tree(PAGES)) as site:
        for _ in range(SESSIONS):
            kills += crawl_through(site, tmp_path, draw)
            catch_up_after_all(tmp_path)
            with open_collection_read_only(tmp_path) as collection:
                assert of_the_index(tmp_path, collection) == of_the_catalogue(collection)
            change(site, draw)
    assert kills >= SESSIONS
