"""The index follows the crawl: visits that were stored since its last commit are read from the archive and put in.

It needs nothing of the crawl but its database and its archive, so it may run beside it, after it, or be killed at any
time: where it stands is in the index itself (`Index.missing_since`), and it goes on from there.
"""

import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from msgspec import structs

from sanderling.errors import CollectionError
from sanderling.models import Outcome
from sanderling.search.anchor_text import Anchors, open_anchors
from sanderling.search.canonical import concerned, given_way, originals, watch
from sanderling.search.document import Eyes, Head, document_of
from sanderling.search.index import Index, open_index
from sanderling.search.pending_visits import Stored, is_gone, present, waiting
from sanderling.search.search_types import Document
from sanderling.storage.collection import Collection, agent_of, read_collection
from sanderling.storage.link_graph import unpack_links
from sanderling.storage.queries import urls_of
from sanderling.warc.reader import StoredRecord, read_record

BATCH = 1_000  # visits between two commits
REFRESHED = 5_000  # pages indexed again for new link words, at most, once the crawl is caught up with
IDLE_SECONDS = 2.0


class Follower:
    """Brings one index up to one collection."""

    def __init__(self, collection: Collection, index: Index, anchors: Anchors) -> None:
        self.collection = collection
        self.index = index
        self.anchors = anchors
        self.unreadable = 0
        self.eyes = Eyes(agent_of(collection.db))
        self.trying = collection.folder / "index" / "trying"  # holds the visit whose file is being read

    def behind(self) -> int:
        """How many visits are stored and not yet in the index."""
        return self._newest() - self.index.missing_since

    def step(self) -> int:
        """Take in the next batch and commit it; returns how many visits it was."""
        since = self.index.missing_since
        until = min(since + BATCH, self._newest())
        if until <= since:
            return 0
        rows = waiting(self.collection.db, since, until)
        for row in rows:
            self._learn_links(row)
        self.anchors.flush()
        self._take(rows)
        self._look_again([row.url for row in rows], until)
        self.index.commit(until)
        return until - since

    def refresh(self, most: int = REFRESHED) -> int:
        """Index again pages that others have new words for, or link to much more than before."""
        ids = self.anchors.fresh(most)
        urls = urls_of(self.collection.db, ids)
        said, average = self.anchors.of(ids), self.anchors.average()
        changed = []
        for id_, url in urls.items():
            page = self.index.get(url)
            if page is not None:
                worded = with_links(page, *said.get(id_, (0, [])), average)
                if worded != page:
                    changed.append(worded)
        if changed:
            self.index.replace(changed)
            self.index.commit(self.index.missing_since)
        if ids:
            self.anchors.settle(ids)
        return len(changed)

    def close(self) -> None:
        """Let go of everything."""
        self.index.close()
        self.anchors.close()
        self.collection.close()

    def _newest(self) -> int:
        return int(self.collection.db.execute("SELECT coalesce(max(id), 0) FROM visits").fetchone()[0])

    def _learn_links(self, row: Stored) -> None:
        if row.changed and row.is_last and row.links:
            links = unpack_links(row.links)
            self.anchors.add(row.url, links.targets, links.anchors)

    def _take(self, rows: list[Stored]) -> None:
        """Let the index go through what happened, version by version."""
        urls = urls_of(self.collection.db, [row.url for row in rows])
        said, average = self.anchors.of([row.url for row in rows]), self.anchors.average()
        for row in rows:
            if is_gone(row):
                self.index.delete([urls[row.url]], row.at)
            elif row.outcome == Outcome.FETCHED and row.changed and row.length:
                self._put(row, urls[row.url], *said.get(row.url, (0, [])), average)
        copies = originals(self.collection.db, rows, urls)
        watch(self.anchors.db, [(row.url, copies.get(row.url, 0)) for row in rows if row.url in copies or is_gone(row)])

    def _look_again(self, visited: list[int], until: int) -> None:
        """Pages that were left out, and copies: put them where they belong now."""
        ids = concerned(self.anchors.db, visited)
        urls, said = urls_of(self.collection.db, ids), self.anchors.of(ids)
        average = self.anchors.average() if ids else 1.0
        rows = list(present(self.collection.db, ids, until))
        away = given_way(self.collection.db, rows, urls)
        for row in rows:
            url, out = urls[row.url], row.url in away
            held = self.index.held(url)
            if out and held is not None:
                self.index.delete([url], row.at)
            elif not out and row.length and (held is None or held.changed_at != row.at):
                self._put(row, url, *said.get(row.url, (0, [])), average)

    def _put(self, row: Stored, url: str, pages: int, texts: list[str], average: float) -> None:
        page = self._read(row, url)
        if page is None:
            self.index.delete([url], row.at)
        else:
            old = self.index.held(url)
            dated = structs.replace(page, first_seen_at=min(row.first_seen, row.at))
            ranked = structs.replace(dated, link_rank=old.link_rank) if old else dated
            self.index.replace([with_links(ranked, pages, texts, average)])

    def _read(self, row: Stored, url: str) -> Document | None:
        try:
            record = read_record(self.collection.archive, row.place)
        except CollectionError:  # a damaged record: the crawl will store the page again
            self.unreadable += 1
            return None
        head = Head(row.title, row.language) if row.is_last else None
        if record.header("Content-Type").startswith("text/"):
            return document_of(record, url, row.at, head, self.eyes)
        return self._read_warily(row, record, url, head)

    def _read_warily(self, row: Stored, record: StoredRecord, url: str, head: Head | None) -> Document | None:
        """A file that took the whole process down is not tried a second time: its visit is written down before."""
        if self.trying.exists() and self.trying.read_text() == str(row.id):
            self.unreadable += 1
            return None
        self.trying.write_text(str(row.id))
        page = document_of(record, url, row.at, head, self.eyes)
        self.trying.unlink()
        return page


def with_links(page: Document, pages: int, texts: list[str], average: float) -> Document:
    """Give a page what others say of it; the rank is the number of pages that link here, against the average."""
    rank = round(pages / max(average, 1e-9), 2)
    if 0.5 < (rank + 0.1) / (page.link_rank + 0.1) < 2:
        rank = page.link_rank  # not worth another entry
    return structs.replace(page, anchors="\n".join(texts), link_rank=rank)


def open_follower(folder: Path) -> Follower:
    """Open a collection and its index for following; fails if another process is doing it."""
    collection = read_collection(folder)
    try:
        index = open_index(folder / "index", write=True)
        assert index is not None
        return Follower(collection, index, open_anchors(folder / "index"))
    except CollectionError:
        collection.close()
        raise


def follow(folder: Path, stopped: Callable[[], bool], idle_seconds: float = IDLE_SECONDS) -> None:
    """Follow until told to stop: batches while there are some, link words when there are none."""
    follower = open_follower(folder)
    with follower.collection, closing(follower):
        while not stopped():
            if not follower.step() and not follower.refresh(500):
                time.sleep(idle_seconds)


def catch_up(folder: Path, on_step: Callable[[int], None] | None = None) -> int:
    """Bring the index up to date and let go of it; returns how many visits were taken in."""
    follower = open_follower(folder)
    done = 0
    with follower.collection, closing(follower):
        while taken := follower.step():
            done += taken
            if on_step:
                on_step(follower.behind())
        while follower.refresh():
            pass
    return done
