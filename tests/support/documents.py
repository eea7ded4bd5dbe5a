"""A small search index."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sanderling.search.index import SearchIndex, open_search_index
from sanderling.search.search_types import Document

NOW = 1_700_000_000.0
DAY = 86400.0


def page(url: str, title: str = "", body: str = "", **more: object) -> Document:
    """Return a document with default fields."""
    fields: dict[str, object] = {
        "language": "en", "site": url.split("/")[2], "changed_at": NOW - 400 * DAY, "visited_at": NOW, **more
    }  # fmt: skip
    return Document(url=url, title=title, body=body, **fields)  # type: ignore[arg-type]


PAGES = [
    page("https://birds.example.org/sanderling", "Sanderling", "The sanderling runs along the tide line and feeds."),
    page("https://birds.example.org/dunlin", "Dunlin", "The dunlin is a small wader. It breeds in the north."),
    page("https://code.example.net/cpp", "Compilers", "Compiling C++ programs with node.js and foo_bar."),
    page("https://code.example.net/tide.pdf", "Tide tables", "Tides run high.", mime="application/pdf"),
    page("https://de.example.com/vogel", "Vögel am Strand", "Die Häuser der Vögel stehen am Strand.", language="de"),
    page("https://ja.example.jp/tokyo", "東京都", "東京都の鳥はユリカモメです。", language="ja"),
    page("https://news.example.org/today", "News", "A sanderling was seen today.", changed_at=NOW - DAY / 2),
]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SearchIndex]:
    """Open an index with PAGES."""
    search_index = open_search_index(tmp_path / "index", write=True)
    assert search_index is not None
    search_index.replace(PAGES)
    search_index.commit(1)
    yield search_index
    search_index.close()
