"""Search a collection whose index may be updated at the same time."""

import threading
from pathlib import Path

from sanderling.api.searching.result_cache import ResultCache
from sanderling.search.background_indexer import start_indexer_process
from sanderling.search.engine import SearchEngine
from sanderling.search.feedback.event_log import EventLog
from sanderling.search.feedback.learn import ClickWeights
from sanderling.search.index import open_search_index
from sanderling.search.query import MAX_QUERY_LENGTH, parse_query
from sanderling.search.query_expansion import AliasExpander
from sanderling.search.ranking import RankingWeights
from sanderling.search.search_types import SearchRequest, SearchResults

__all__ = ["MAX_QUERY_LENGTH", "SearchService", "get_query_date", "start_indexer_process"]


class SearchService:
    """Searches an index, which may not exist yet."""

    def __init__(self, folder: Path, log: EventLog, ranking: RankingWeights | None = None) -> None:
        self.folder = folder / "index"
        self.click_weights = ClickWeights(log)
        self.ranking = ranking or RankingWeights()
        self.result_cache = ResultCache()
        self._engine: SearchEngine | None = None
        self._lock = threading.Lock()

    def get_engine(self) -> SearchEngine | None:
        """Return the engine, reopened after commits. None without an index."""
        with self._lock:
            if self._engine is None or self._engine.index.is_outdated():
                index = open_search_index(self.folder, write=False)
                self._engine = (
                    SearchEngine(index, self.click_weights, self.ranking, AliasExpander(self.folder)) if index else None
                )
            return self._engine

    def search(self, request: SearchRequest) -> SearchResults:
        engine = self.get_engine()
        if engine is None:
            return SearchResults(request.query, 0)
        state = engine.index.last_batch, len(engine.index), self.click_weights.get_version()
        return self.result_cache.get_or_search(request, state, engine.search)

    def get_index_state(self) -> tuple[int, int]:
        """Return the indexed pages and the last indexed visit."""
        engine = self.get_engine()
        return (len(engine.index), engine.index.last_batch) if engine else (0, 0)


def get_query_date(text: str, now: float) -> int:
    """Return the time that `asof:` in a query names; 0 without it."""
    return int(parse_query(text, now).as_of or 0)
