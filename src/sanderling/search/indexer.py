"""Update the index from visits stored since its last commit. May be killed at any time."""

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
from sanderling.search.index import SearchIndex, open_search_index, report_index_damage
from sanderling.search.pending_visits import PendingVisit, is_gone, load_latest_visits, load_pending_visits
from sanderling.search.search_types import Document
from sanderling.storage.collection import StoredCollection, get_robots_agent, open_collection_read_only
from sanderling.storage.link_graph import unpack_links
from sanderling.storage.queries import load_urls
from sanderling.storage.reports import count_visits_after, get_last_visit_id, get_next_visit_id
from sanderling.warc.warc_reader import StoredRecord, read_record

BATCH_SIZE = 1_000  # visits per commit
MAX_REFRESHED = 5_000  # pages reindexed per call for new anchor texts, when no visits are pending
IDLE_SECONDS = 2.0


class Indexer:
    def __init__(self, collection: StoredCollection, index: SearchIndex, anchors: AnchorStore) -> None:
        self.collection = collection
        self.index = index
        self.anchors = anchors
        self.unreadable = 0
        self.robots_agent = RobotsAgent(get_robots_agent(collection.db))
        self.folder = collection.folder / "index"
        self.attempt_file = self.folder / "trying"  # id of the visit whose document is being read

    def count_pending(self) -> int:
        """Return the number of visits not indexed yet."""
        with report_index_damage(self.folder):
            return count_visits_after(self.collection.db, self.index.last_batch)

    def index_batch(self) -> int:
        """Index and commit the next batch. Returns the number of visits."""
        with report_index_damage(self.folder):
            return self._index_batch()

    def _index_batch(self) -> int:
        first = get_next_visit_id(self.collection.db, self.index.last_batch)  # shards do not count from 1
        if not first:
            return 0
        since = first - 1
        until = min(since + BATCH_SIZE, get_last_visit_id(self.collection.db))
        rows = load_pending_visits(self.collection.db, since, until)
        for row in rows:
            self._collect_anchors(row)
        self.anchors.flush()
        self._index_visits(rows)
        self._reindex_duplicates([row.url_id for row in rows], until)
        self.index.commit(until)
        return until - since

    def refresh_anchors(self, limit: int = MAX_REFRESHED) -> int:
        """Reindex pages with new anchor texts or many more inlinks. Returns their number."""
        with report_index_damage(self.folder):
            return self._refresh_anchors(limit)

    def _refresh_anchors(self, limit: int) -> int:
        ids = self.anchors.find_unindexed(limit)
        urls = load_urls(self.collection.db, ids)
        anchors, average = self.anchors.get_texts(ids), self.anchors.compute_average_inlinks()
        changed = []
        for id_, url in urls.items():
            page = self.index.get(url)
            if page is not None:
                updated = add_anchor_text(page, *anchors.get(id_, (0, [])), average)
                if updated != page:
                    changed.append(updated)
        if changed:
            self.index.replace(changed)
            self.index.commit(self.index.last_batch)
        if ids:
            self.anchors.mark_indexed(ids)
        return len(changed)

    def close(self) -> None:
        with report_index_damage(self.folder):
            self.index.close()
        self.anchors.close()
        self.collection.close()

    def _collect_anchors(self, row: PendingVisit) -> None:
        if row.changed and row.is_latest and row.links:
            links = unpack_links(row.links)
            self.anchors.add(row.url_id, links.target_ids, links.anchor_texts)

    def _index_visits(self, rows: list[PendingVisit]) -> None:
        """Apply visits in order, so that every version is recorded."""
        urls = load_urls(self.collection.db, [row.url_id for row in rows])
        anchors, average = self.anchors.get_texts([row.url_id for row in rows]), self.anchors.compute_average_inlinks()
        for row in rows:
            if is_gone(row):
                self.index.mark_gone([urls[row.url_id]], row.at)
            elif row.outcome == Outcome.FETCHED and row.changed and row.length:
                self._index_page(row, urls[row.url_id], *anchors.get(row.url_id, (0, [])), average)
        originals = find_originals(self.collection.db, rows, urls)
        watch_duplicates(
            self.anchors.db,
            [(row.url_id, originals.get(row.url_id, 0)) for row in rows if row.url_id in originals or is_gone(row)],
        )

    def _reindex_duplicates(self, visited_ids: list[int], until: int) -> None:
        ids = find_affected(self.anchors.db, visited_ids)
        urls, anchors = load_urls(self.collection.db, ids), self.anchors.get_texts(ids)
        average = self.anchors.compute_average_inlinks() if ids else 1.0
        rows = list(load_latest_visits(self.collection.db, ids, until))
        left_out = find_non_canonical(self.collection.db, rows, urls)
        for row in rows:
            url, is_left_out = urls[row.url_id], row.url_id in left_out
            indexed = self.index.get_pending(url)
            if is_left_out and indexed is not None:
                self.index.mark_gone([url], row.at)
            elif not is_left_out and row.length and (indexed is None or indexed.changed_at != row.at):
                self._index_page(row, url, *anchors.get(row.url_id, (0, [])), average)

    def _index_page(self, row: PendingVisit, url: str, inlinks: int, texts: list[str], average: float) -> None:
        page = self._read_document(row, url)
        if page is None:
            self.index.mark_gone([url], row.at)
        else:
            previous = self.index.get_pending(url)
            dated = structs.replace(page, first_seen_at=min(row.first_seen, row.at))
            ranked = structs.replace(dated, link_rank=previous.link_rank) if previous else dated
            self.index.replace([add_anchor_text(ranked, inlinks, texts, average)])

    def _read_document(self, row: PendingVisit, url: str) -> Document | None:
        try:
            record = read_record(self.collection.archive_folder, row.location)
        except CollectionError:  # damaged record; the next crawl stores the page again
            self.unreadable += 1
            return None
        head = ParsedHead(row.title, row.language) if row.is_latest else None
        if record.get_header("Content-Type").startswith("text/"):
            return build_document(record, url, row.at, head, self.robots_agent)
        return self._read_unsafe_document(row, record, url, head)

    def _read_unsafe_document(
        self, row: PendingVisit, record: StoredRecord, url: str, head: ParsedHead | None
    ) -> Document | None:
        """Read a document unless the last attempt crashed the process."""
        if self.attempt_file.exists() and self.attempt_file.read_text() == str(row.id):
            self.unreadable += 1
            return None
        self.attempt_file.write_text(str(row.id))
        page = build_document(record, url, row.at, head, self.robots_agent)
        self.attempt_file.unlink()
        return page


def add_anchor_text(document: Document, inlinks: int, texts: list[str], average: float) -> Document:
    """Set anchor texts and link rank (inlinks divided by the average)."""
    rank = round(inlinks / max(average, 1e-9), 2)
    if 0.5 < (rank + 0.1) / (document.link_rank + 0.1) < 2:
        rank = document.link_rank  # a small difference does not justify reindexing
    return structs.replace(document, anchors="\n".join(texts), link_rank=rank)


def open_indexer(folder: Path) -> Indexer:
    """Open for writing. Raises CollectionError if another process is indexing."""
    collection = open_collection_read_only(folder)
    try:
        index = open_search_index(folder / "index", write=True)
        assert index is not None
        return Indexer(collection, index, open_anchor_store(folder / "index"))
    except CollectionError:
        collection.close()
        raise


def run_indexer(folder: Path, is_stopped: Callable[[], bool], wait: Callable[[float], object] = time.sleep) -> None:
    """Index until stopped; refresh anchor texts when idle."""
    indexer = open_indexer(folder)
    with indexer.collection, closing(indexer):
        while not is_stopped():
            if not indexer.index_batch() and not indexer.refresh_anchors(500):
                wait(IDLE_SECONDS)


def update_index(folder: Path, on_step: Callable[[int], None] | None = None) -> int:
    """Index all pending visits. Returns their number."""
    indexer = open_indexer(folder)
    done = 0
    with indexer.collection, closing(indexer):
        while count := indexer.index_batch():
            done += count
            if on_step:
                on_step(indexer.count_pending())
        while indexer.refresh_anchors():
            pass
    return done
