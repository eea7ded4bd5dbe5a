"""Search a collection once; the index is brought up to date first."""

import os
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from sanderling.errors import CollectionError, DiskFull, MissingExtra
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import find_url_id
from sanderling.storage.reports import get_last_visit_id
from sanderling.storage.shard_set import is_shard_set, list_shard_folders

if TYPE_CHECKING:  # the index is an optional part
    from sanderling.search.index import SearchIndex
    from sanderling.search.search_types import SearchRequest, SearchResults


def search_collection(
    folder: Path,
    query: str,
    *,
    offset: int = 0,
    limit: int = 10,
    explain: bool = False,
    update: bool = True,
    report: Callable[[str], None] | None = None,
) -> "SearchResults":
    """Search the stored pages. `report` receives sentences on the state of the index."""
    if find_spec("tantivy") is None:
        raise MissingExtra("searching", "search")
    if is_shard_set(folder):
        found = [
            search_collection(part, query, limit=offset + limit, explain=explain, update=update, report=report)
            for part in list_shard_folders(folder)
        ]
        return _merge_results(query, found, offset, limit, _find_copies(folder, found))
    from sanderling.search.index import open_search_index
    from sanderling.search.search_types import SearchRequest, SearchResults

    open_collection_read_only(folder).close()
    is_writable, report = os.access(folder, os.W_OK), report or (lambda _text: None)
    if update and is_writable:
        _update_index(folder, report)
    index = open_search_index(folder / "index", write=False)
    if index is None:
        if not is_writable:
            raise CollectionError(f"{folder} has no index yet, and none can be made: it cannot be written to")
        return SearchResults(query, 0)
    if update and not is_writable:
        _report_index_behind(folder, index.last_batch, report)
    request = SearchRequest(query, offset, limit, explain, False, now=time.time())
    return _run_search(folder, index, request, learns=is_writable)


def _find_copies(folder: Path, found: Sequence["SearchResults"]) -> set[str]:
    """Return the found URLs whose page is an exact copy of one in another shard, which is shown instead."""
    from sanderling.search.pending_visits import find_copies

    with open_collection_read_only(folder) as collection:
        ids = [find_url_id(collection.db, hit.url) for part in found for hit in part.hits]
        return find_copies(collection.db, ids)


def _merge_results(
    query: str, found: Sequence["SearchResults"], offset: int, limit: int, copies: set[str]
) -> "SearchResults":
    """Merge the results of shards by score. Without an exact match, relaxed or corrected results are shown."""
    from sanderling.search.search_types import SearchResults

    exact = [part for part in found if part.hits and not (part.is_relaxed or part.corrected_query)]
    parts = exact or [part for part in found if part.hits]
    hits = sorted((hit for part in parts for hit in part.hits), key=lambda hit: -hit.score_parts.score)
    hits = [hit for hit in hits if hit.url not in copies]
    shown = [structs.replace(hit, position=n) for n, hit in enumerate(hits[offset : offset + limit], offset + 1)]
    total = sum(part.total for part in parts) - len(copies)
    corrected = next((part.corrected_query for part in parts), "") if not exact else ""
    is_relaxed = bool(parts) and not exact and parts[0].is_relaxed
    return SearchResults(query, total, tuple(shown), corrected_query=corrected, is_relaxed=is_relaxed)


def _run_search(folder: Path, index: "SearchIndex", request: "SearchRequest", *, learns: bool) -> "SearchResults":
    """Rank by the learned behavior of users where it is recorded; its database is opened for writing."""
    from sanderling.search.engine import SearchEngine, ignore_behavior
    from sanderling.search.feedback.event_log import DATABASE, open_event_log
    from sanderling.search.feedback.learn import ClickWeights
    from sanderling.search.query_expansion import AliasExpander

    has_log = learns and (folder / DATABASE).exists()
    behavior = ClickWeights(open_event_log(folder)) if has_log else ignore_behavior
    return SearchEngine(index, behavior, expand_query=AliasExpander(folder / "index")).search(request)


def _update_index(folder: Path, report: Callable[[str], None]) -> None:
    """Index new visits; not if a crawl or server does so now, or the disk is full."""
    from sanderling.search.indexer import update_index

    try:
        update_index(folder, lambda behind: report(f"indexing, {behind:,} visits to go") if behind else None)
    except DiskFull as error:
        report(f"{error}; the index is searched as it is")
    except CollectionError as error:
        if "LockBusy" not in str(error):
            raise


def _report_index_behind(folder: Path, since: int, report: Callable[[str], None]) -> None:
    """Report how many visits are missing in an index that cannot be updated."""
    with open_collection_read_only(folder) as collection:
        newest = get_last_visit_id(collection.db)
    if newest > since:
        report(f"{folder} cannot be written to: the index is searched as it is, {newest - since:,} visits old")
