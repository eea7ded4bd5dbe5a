"""Changes in the order in which they were stored, for consumers that follow a collection."""

from sanderling.api.change import Change
from sanderling.api.collection_reader import CollectionReader
from sanderling.storage.page_history import load_page_events
from sanderling.storage.reports import get_last_visit_id

MAX_VISITS = 5_000  # read at once


def get_last_visit(collection: CollectionReader) -> int:
    """Return the number of the last visit; 0 without visits."""
    return collection.query_stored(lambda stored: get_last_visit_id(stored.db))


def load_changes_after(collection: CollectionReader, visit: int) -> tuple[list[tuple[int, Change]], int]:
    """Return the changes found by visits after this one, each with its visit, oldest first, and the last visit read.

    Visits are numbered in the order in which they are stored, so no change is lost between two calls; times are not.
    """
    last = min(get_last_visit(collection), visit + MAX_VISITS)
    if last <= visit:
        return [], visit
    events = collection.query_stored(lambda stored: load_page_events(stored.db, visit, last))
    visits = {(event.url, event.at): event.visit_id for event in events if not event.is_unchanged}
    if not visits:
        return [], last
    found = collection.changes(since=max(1.0, min(at for _, at in visits) - 1.0))  # some limits are exclusive
    numbered = [(visits.get((change.url, change._reported.seen_at), 0), change) for change in found]
    return sorted((item for item in numbered if item[0]), key=lambda item: item[0]), last
