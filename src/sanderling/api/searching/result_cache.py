"""Cache search results until the index or the weights change."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

from msgspec.structs import astuple, replace

from sanderling.search.search_types import SearchRequest, SearchResults

MAX_ENTRIES = 1_000
MAX_RESULTS = 50  # larger results are not cached
CACHE_SECONDS = 60.0  # the freshness score changes slowly


class ResultCache:
    """An LRU cache for a version of the index."""

    def __init__(self) -> None:
        self.version: Hashable = None
        self.entries: OrderedDict[Hashable, SearchResults] = OrderedDict()
        self.lock = threading.Lock()

    def get_or_search(
        self, request: SearchRequest, version: Hashable, search: Callable[[SearchRequest], SearchResults]
    ) -> SearchResults:
        key = astuple(replace(request, now=request.now // CACHE_SECONDS))
        with self.lock:
            if version != self.version:
                self.entries.clear()
                self.version = version
            cached = self.entries.get(key)
            if cached is not None:
                self.entries.move_to_end(key)
                return cached
        results = search(request)
        if request.limit <= MAX_RESULTS:
            self._store(key, version, results)
        return results

    def _store(self, key: Hashable, version: Hashable, results: SearchResults) -> None:
        with self.lock:
            if version == self.version:
                self.entries[key] = results
                while len(self.entries) > MAX_ENTRIES:
                    self.entries.popitem(last=False)
