"""What goes into the index and what comes out of it."""

from msgspec import Struct

MAX_BODY_CHARS = 200_000  # characters of one page that are indexed and kept for snippets
MAX_FIELD_CHARS = 5_000  # the same for its title, and for its headings and anchor texts together ten times that


class Document(Struct, frozen=True):
    """One page as the index sees it."""

    url: str
    title: str = ""
    headings: str = ""
    anchors: str = ""  # texts of the links that point here, joined
    body: str = ""
    language: str = ""  # two letters; empty for unknown
    mime: str = "text/html"
    site: str = ""  # host name, with the port if it is not the usual one
    changed_at: float = 0.0  # when this version was first seen
    visited_at: float = 0.0
    first_seen_at: float = 0.0  # when the first version of the page was stored; 0 if unknown
    link_rank: float = 0.0  # PageRank times the number of pages: 1 is an average page


def has_changed(changed_at: float, first_seen_at: float) -> bool:
    """Return whether a version is a change and not the first one seen of its page."""
    return changed_at > first_seen_at


class SearchRequest(Struct, frozen=True):
    """One question to the index."""

    query: str
    offset: int = 0
    limit: int = 10
    explain: bool = False
    include_facets: bool = True
    include_snippets: bool = True
    now: float = 0.0


class ScoreParts(Struct, frozen=True):
    """Why a hit stands where it stands: score = text x link x freshness x behaviour."""

    text: float  # BM25 over the weighted fields
    link: float
    freshness: float
    behavior: float
    field_scores: tuple[
        tuple[str, str, float], ...
    ] = ()  # word, field, its share of `text`; only when asked to explain

    @property
    def score(self) -> float:
        """The number hits are sorted by."""
        return self.text * self.link * self.freshness * self.behavior


class TextRun(Struct, frozen=True):
    """A run of plain text of a snippet, marked where it answers the question. Never HTML."""

    text: str
    is_match: bool = False


class SearchHit(Struct, frozen=True):
    """One result."""

    url: str
    title: tuple[TextRun, ...]
    snippet: tuple[TextRun, ...]
    site: str
    type: str
    language: str
    changed_at: float
    visited_at: float
    first_seen_at: float  # equal to changed_at for a page that never changed
    position: int  # from 1, over all pages of results
    score_parts: ScoreParts


class FacetCount(Struct, frozen=True):
    """One value of a facet and how many results have it."""

    value: str
    count: int


class SearchResults(Struct, frozen=True):
    """The answer."""

    query: str
    total: int
    hits: tuple[SearchHit, ...] = ()
    facets: dict[str, tuple[FacetCount, ...]] = {}
    corrected_query: str = ""  # the question as it was answered, where a word was taken for a typing error
    is_relaxed: bool = False  # true if not every word had to be there
