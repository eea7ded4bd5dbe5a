"""Records of the search."""

from collections.abc import Iterator

from msgspec import Struct

from sanderling.content.document_readers import MAX_DOCUMENT_CHARS

MAX_BODY_CHARS = MAX_DOCUMENT_CHARS  # characters per page that are indexed and stored for snippets
MAX_FIELD_CHARS = 5_000  # of the title; headings and anchor texts: ten times as many each


class Document(Struct, frozen=True):
    """A page as indexed. Renaming a field needs a new INDEX_VERSION."""

    url: str
    title: str = ""
    headings: str = ""
    anchors: str = ""  # anchor texts of links to this page, one per line
    body: str = ""
    language: str = ""  # two letters; empty: unknown
    mime: str = "text/html"
    site: str = ""  # host name, with the port if it is not the default
    changed_at: float = 0.0  # when this version was first seen
    visited_at: float = 0.0
    first_seen_at: float = 0.0  # when the first version of the page was stored; 0: unknown
    link_rank: float = 0.0  # PageRank times the number of pages: 1 is an average page


def has_changed(changed_at: float, first_seen_at: float) -> bool:
    """Return whether a version is not the first of its page."""
    return changed_at > first_seen_at


class SearchRequest(Struct, frozen=True):
    query: str
    offset: int = 0
    limit: int = 10
    explain: bool = False
    include_facets: bool = True
    include_snippets: bool = True
    now: float = 0.0


class ScoreParts(Struct, frozen=True):
    """The factors of a score: text x link x freshness x behavior."""

    text: float  # BM25 over the weighted fields
    link: float
    freshness: float
    behavior: float
    field_scores: tuple[tuple[str, str, float], ...] = ()  # term, field, share of `text`; only if `explain`

    @property
    def score(self) -> float:
        return self.text * self.link * self.freshness * self.behavior


class TextRun(Struct, frozen=True):
    """A run of plain text; never HTML."""

    text: str
    is_match: bool = False


class SearchHit(Struct, frozen=True):
    url: str
    title: tuple[TextRun, ...]
    snippet: tuple[TextRun, ...]
    site: str
    type: str
    language: str
    changed_at: float
    visited_at: float
    first_seen_at: float  # equal to changed_at if the page never changed
    position: int  # from 1, across result pages
    score_parts: ScoreParts


class FacetCount(Struct, frozen=True):
    value: str
    count: int


class SearchResults(Struct, frozen=True):
    query: str
    total: int
    hits: tuple[SearchHit, ...] = ()
    facets: dict[str, tuple[FacetCount, ...]] = {}
    corrected_query: str = ""  # the query that was run after spelling correction; empty: as typed
    is_relaxed: bool = False  # pages that match only some words are included

    def __iter__(self) -> Iterator[SearchHit]:
        return iter(self.hits)
