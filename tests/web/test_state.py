"""The search service."""

from contextlib import closing
from pathlib import Path

import pytest

from sanderling.api.searching.search_service import SearchService
from sanderling.search.feedback.event_log import open_event_log
from sanderling.search.index import open_search_index
from sanderling.search.search_types import Document, SearchRequest


def test_readonly_search_service_sees_every_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = open_search_index(tmp_path / "index", write=True)
    assert writer is not None
    monkeypatch.setattr("os.access", lambda *_: False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with closing(writer), closing(open_event_log(tmp_path)) as log:
        writer.commit(1)
        search_service, seen = SearchService(tmp_path, log), []
        for batch in range(2, 6):
            writer.replace([Document(f"https://a.example/{batch}", "Gull", body="A gull.", site="a.example")])
            writer.commit(batch)
            seen.append((search_service.search(SearchRequest("gull")).total, search_service.get_index_state()))
        assert search_service.get_engine() is search_service.get_engine()  # reopened only after a commit
    assert seen == [(number, (number, number + 1)) for number in range(1, 5)]
    assert len(list(tmp_path.glob("sanderling-*"))) == 1  # earlier mirrors were removed
