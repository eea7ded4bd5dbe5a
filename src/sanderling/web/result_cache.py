"""Answers given lately: many ask the same, or turn a page back; one holds until the index or users say more."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

from msgspec.structs import astuple, replace

from sanderling.search.search_types import SearchRequest, SearchResults

MAX_ENTRIES = 1_000
MAX_RESULTS = 50  # results of an answer that is kept
CACHE_SECONDS = 60.0  # freshness of pages moves slowly


class ResultCache:
    """Remembers some answers of one state of the index."""

    def __init__(self) -> None:
        self.version: Hashable = None
        self.entries: OrderedDict[Hashable, SearchResults] = OrderedDict()
        self.lock = threading.Lock()

    def get_or_search(
        self, request: SearchRequest, version: Hashable, search: Callable[[SearchRequest], SearchResults]
    ) -> SearchResults:
        """Give the answer to the same question in the same state, or search for it."""
        key = astuple(replace(request, now=request.now // CACHE_SECONDS))
        with self.lock:
            if version != self.version:
                self.entries.clear()
                self.version = version
            known = self.entries.get(key)
            if known is not None:
                self.entries.move_to_end(key)
                return known
        found = search(request)
        if request.limit <= MAX_RESULTS:
            self._store(key, version, found)
        return found

    def _store(self, key: Hashable, version: Hashable, results: SearchResults) -> None:
        with self.lock:
            if version == self.version:
                self.entries[key] = results
                while len(self.entries) > MAX_ENTRIES:
                    self.entries.popitem(last=False)
