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
from sanderling.search.anchor_text import AnchorStore, open_anchor_store
from sanderling.search.canonical import find_affected, find_non_canonical, find_originals, watch_duplicates
from sanderling.search.document import ParsedHead, RobotsAgent, build_document
from sanderling.search.index import SearchIndex, open_search_index
from sanderling.search.pending_visits import PendingVisit, is_gone, load_latest_visits, load_pending_visits
from sanderling.search.search_types import Document
from sanderling.storage.collection import Collection, get_robots_agent, open_collection_read_only
from sanderling.storage.link_graph import unpack_links
from sanderling.storage.queries import load_urls
from sanderling.warc.warc_reader import StoredRecord, read_record

BATCH_SIZE = 1_000  # visits between two commits
MAX_REFRESHED = 5_000  # pages indexed again for new link words, at most, once the crawl is caught up with
IDLE_SECONDS = 2.0


class Indexer:
    """Brings one index up to one collection."""

    def __init__(self, collection: Collection, index: SearchIndex, anchors: AnchorStore) -> None:
        self.collection = collection
        self.index = index
        self.anchors = anchors
        self.unreadable = 0
        self.robots_agent = RobotsAgent(get_robots_agent(collection.db))
        self.attempt_file = collection.folder / "index" / "trying"  # holds the visit whose file is being read

    def count_pending(self) -> int:
        """How many visits are stored and not yet in the index."""
        return self._get_last_visit() - self.index.last_batch

    def index_batch(self) -> int:
        """Take in the next batch and commit it; returns how many visits it was."""
        since = self.index.last_batch
        until = min(since + BATCH_SIZE, self._get_last_visit())
        if until <= since:
            return 0
        rows = load_pending_visits(self.collection.db, since, until)
        for row in rows:
            self._collect_anchors(row)
        self.anchors.flush()
        self._index_visits(rows)
        self._reindex_duplicates([row.url_id for row in rows], until)
        self.index.commit(until)
        return until - since

    def refresh_anchors(self, limit: int = MAX_REFRESHED) -> int:
        """Index again pages that others have new words for, or link to much more than before."""
        ids = self.anchors.find_unindexed(limit)
        urls = load_urls(self.collection.db, ids)
        said, average = self.anchors.get_texts(ids), self.anchors.compute_average_inlinks()
        changed = []
        for id_, url in urls.items():
            page = self.index.get(url)
            if page is not None:
                worded = add_anchor_text(page, *said.get(id_, (0, [])), average)
                if worded != page:
                    changed.append(worded)
        if changed:
            self.index.replace(changed)
            self.index.commit(self.index.last_batch)
        if ids:
            self.anchors.mark_indexed(ids)
        return len(changed)

    def close(self) -> None:
        """Let go of everything."""
        self.index.close()
        self.anchors.close()
        self.collection.close()

    def _get_last_visit(self) -> int:
        return int(self.collection.db.execute("SELECT coalesce(max(id), 0) FROM visits").fetchone()[0])

    def _collect_anchors(self, row: PendingVisit) -> None:
        if row.changed and row.is_latest and row.links:
            links = unpack_links(row.links)
            self.anchors.add(row.url_id, links.target_ids, links.anchor_texts)

    def _index_visits(self, rows: list[PendingVisit]) -> None:
        """Let the index go through what happened, version by version."""
        urls = load_urls(self.collection.db, [row.url_id for row in rows])
        said, average = self.anchors.get_texts([row.url_id for row in rows]), self.anchors.compute_average_inlinks()
        for row in rows:
            if is_gone(row):
                self.index.mark_gone([urls[row.url_id]], row.at)
            elif row.outcome == Outcome.FETCHED and row.changed and row.length:
                self._index_page(row, urls[row.url_id], *said.get(row.url_id, (0, [])), average)
        copies = find_originals(self.collection.db, rows, urls)
        watch_duplicates(
            self.anchors.db,
            [(row.url_id, copies.get(row.url_id, 0)) for row in rows if row.url_id in copies or is_gone(row)],
        )

    def _reindex_duplicates(self, visited_ids: list[int], until: int) -> None:
        """Pages that were left out, and copies: put them where they belong now."""
        ids = find_affected(self.anchors.db, visited_ids)
        urls, said = load_urls(self.collection.db, ids), self.anchors.get_texts(ids)
        average = self.anchors.compute_average_inlinks() if ids else 1.0
        rows = list(load_latest_visits(self.collection.db, ids, until))
        away = find_non_canonical(self.collection.db, rows, urls)
        for row in rows:
            url, out = urls[row.url_id], row.url_id in away
            held = self.index.get_pending(url)
            if out and held is not None:
                self.index.mark_gone([url], row.at)
            elif not out and row.length and (held is None or held.changed_at != row.at):
                self._index_page(row, url, *said.get(row.url_id, (0, [])), average)

    def _index_page(self, row: PendingVisit, url: str, inlinks: int, texts: list[str], average: float) -> None:
        page = self._read_document(row, url)
        if page is None:
            self.index.mark_gone([url], row.at)
        else:
            old = self.index.get_pending(url)
            dated = structs.replace(page, first_seen_at=min(row.first_seen, row.at))
            ranked = structs.replace(dated, link_rank=old.link_rank) if old else dated
            self.index.replace([add_anchor_text(ranked, inlinks, texts, average)])

    def _read_document(self, row: PendingVisit, url: str) -> Document | None:
        try:
            record = read_record(self.collection.archive_folder, row.location)
        except CollectionError:  # a damaged record: the crawl will store the page again
            self.unreadable += 1
            return None
        head = ParsedHead(row.title, row.language) if row.is_latest else None
        if record.get_header("Content-Type").startswith("text/"):
            return build_document(record, url, row.at, head, self.robots_agent)
        return self._read_unsafe_document(row, record, url, head)

    def _read_unsafe_document(
        self, row: PendingVisit, record: StoredRecord, url: str, head: ParsedHead | None
    ) -> Document | None:
        """A file that took the whole process down is not tried a second time: its visit is written down before."""
        if self.attempt_file.exists() and self.attempt_file.read_text() == str(row.id):
            self.unreadable += 1
            return None
        self.attempt_file.write_text(str(row.id))
        page = build_document(record, url, row.at, head, self.robots_agent)
        self.attempt_file.unlink()
        return page


def add_anchor_text(document: Document, inlinks: int, texts: list[str], average: float) -> Document:
    """Give a page what others say of it; the rank is the number of pages that link here, against the average."""
    rank = round(inlinks / max(average, 1e-9), 2)
    if 0.5 < (rank + 0.1) / (document.link_rank + 0.1) < 2:
        rank = document.link_rank  # not worth another entry
    return structs.replace(document, anchors="\n".join(texts), link_rank=rank)


def open_indexer(folder: Path) -> Indexer:
    """Open a collection and its index for following; fails if another process is doing it."""
    collection = open_collection_read_only(folder)
    try:
        index = open_search_index(folder / "index", write=True)
        assert index is not None
        return Indexer(collection, index, open_anchor_store(folder / "index"))
    except CollectionError:
        collection.close()
        raise


def run_indexer(folder: Path, is_stopped: Callable[[], bool], idle_seconds: float = IDLE_SECONDS) -> None:
    """Follow until told to stop: batches while there are some, link words when there are none."""
    follower = open_indexer(folder)
    with follower.collection, closing(follower):
        while not is_stopped():
            if not follower.index_batch() and not follower.refresh_anchors(500):
                time.sleep(idle_seconds)


def update_index(folder: Path, on_step: Callable[[int], None] | None = None) -> int:
    """Bring the index up to date and let go of it; returns how many visits were taken in."""
    follower = open_indexer(folder)
    done = 0
    with follower.collection, closing(follower):
        while taken := follower.index_batch():
            done += taken
            if on_step:
                on_step(follower.count_pending())
        while follower.refresh_anchors():
            pass
    return done
