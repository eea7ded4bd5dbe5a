"""The cache of search results."""

import pytest

from sanderling.api.searching import result_cache
from sanderling.api.searching.result_cache import ResultCache
from sanderling.search.search_types import SearchRequest, SearchResults


class CountingIndex:
    def __init__(self) -> None:
        self.queries: list[str] = []

    def search(self, request: SearchRequest) -> SearchResults:
        self.queries.append(request.query)
        return SearchResults(request.query, len(self.queries))


def test_same_request_is_cached_for_a_minute() -> None:
    index, cache = CountingIndex(), ResultCache()
    first = cache.get_or_search(SearchRequest("tide", now=600.0), 1, index.search)
    assert cache.get_or_search(SearchRequest("tide", now=650.0), 1, index.search) is first
    assert cache.get_or_search(SearchRequest("tide", now=660.0), 1, index.search) is not first
    assert cache.get_or_search(SearchRequest("tide", offset=10, now=660.0), 1, index.search).total == 3
    assert len(index.queries) == 3


def test_new_commit_or_weights_invalidate_the_cache() -> None:
    index, cache = CountingIndex(), ResultCache()
    cache.get_or_search(SearchRequest("tide"), (1, "monday"), index.search)
    cache.get_or_search(SearchRequest("tide"), (2, "monday"), index.search)
    cache.get_or_search(SearchRequest("tide"), (2, "tuesday"), index.search)
    assert len(index.queries) == 3


def test_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_cache, "MAX_ENTRIES", 3)
    index, cache = CountingIndex(), ResultCache()
    for number in range(9):
        cache.get_or_search(SearchRequest(str(number)), 1, index.search)
    cache.get_or_search(SearchRequest("long", limit=1000), 1, index.search)
    assert [answer.query for answer in cache.entries.values()] == ["6", "7", "8"]
