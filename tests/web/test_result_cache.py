"""An answer given lately is given again, and never when something is known that it did not know."""

import pytest

from sanderling.search.search_types import SearchRequest, SearchResults
from sanderling.web import result_cache
from sanderling.web.result_cache import ResultCache


class Index:
    """Counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def search(self, ask: SearchRequest) -> SearchResults:
        """Find nothing."""
        self.asked.append(ask.query)
        return SearchResults(ask.query, len(self.asked))


def test_the_same_question_is_searched_once_in_one_state_and_one_minute() -> None:
    index, known = Index(), ResultCache()
    first = known.get_or_search(SearchRequest("tide", now=600.0), 1, index.search)
    assert known.get_or_search(SearchRequest("tide", now=650.0), 1, index.search) is first
    assert known.get_or_search(SearchRequest("tide", now=660.0), 1, index.search) is not first
    assert known.get_or_search(SearchRequest("tide", offset=10, now=660.0), 1, index.search).total == 3
    assert len(index.asked) == 3


def test_a_new_commit_or_a_new_lesson_is_a_new_state() -> None:
    index, known = Index(), ResultCache()
    known.get_or_search(SearchRequest("tide"), (1, "monday"), index.search)
    known.get_or_search(SearchRequest("tide"), (2, "monday"), index.search)
    known.get_or_search(SearchRequest("tide"), (2, "tuesday"), index.search)
    assert len(index.asked) == 3


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_cache, "MAX_ENTRIES", 3)
    index, known = Index(), ResultCache()
    for number in range(9):
        known.get_or_search(SearchRequest(str(number)), 1, index.search)
    known.get_or_search(SearchRequest("long", limit=1000), 1, index.search)
    assert [answer.query for answer in known.entries.values()] == ["6", "7", "8"]
