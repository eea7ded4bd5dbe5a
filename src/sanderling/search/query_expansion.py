"""Long questions are sentences, and a sentence seldom has the page's own words: those of the first pages are added.

Relevance feedback: words that stand out in the best few matches join the question with a small weight. They change
the order only; every match still has words of the question itself. Which matches are best, users say where they have
taught something: a page they pass over lends no words, and so what they liked helps pages they never saw.
"""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from heapq import nlargest
from pathlib import Path

import tantivy
from msgspec import structs
from tantivy import Occur, Query

from sanderling.search.aliases.mentions import fold_name
from sanderling.search.index import load_document
from sanderling.search.query import ParsedQuery, QueryTerm
from sanderling.search.schema import get_schema
from sanderling.search.tokenizer import stem_text

MIN_EXPANSION_TERMS = 4  # words from which on a question is widened
FEEDBACK_PAGES = 5
FEEDBACK_CANDIDATES = 20  # best matches by words, of which users may rule out some
FEEDBACK_CHARS = 4_000  # characters of each
MAX_RELATED_TERMS = 20
RELATED_WEIGHT = 0.5  # of the best added word; measured in benchmarks/search/search_quality.py
CLICKED_RELATED_WEIGHT = (
    0.8  # the same where users have judged some of the pages; measured in benchmarks/search/click_feedback.py
)
MAX_TERM_CANDIDATES = 150
MAX_DOCUMENT_SHARE = 0.2  # of all pages: a word that frequent stands out nowhere

RelatedTerms = tuple[tuple[str, float], ...]


def find_related_terms(
    searcher: tantivy.Searcher,
    words: Sequence[tuple[str, str]],
    get_page_weight: Callable[[int], float] = lambda _: 0.0,
) -> RelatedTerms:
    """Find the words that stand out in the best matches, each with its weight; a look at bodies is enough for that."""
    asked = [Query.term_query(get_schema(), field, word, "freq") for field, word in words if field == "body"]
    found = searcher.search(Query.boolean_query([(Occur.Should, q) for q in asked]), FEEDBACK_CANDIDATES, False).hits
    ids = searcher.fast_field_values("id", [address for _, address in found])
    likings = [max(-1.0, min(1.0, get_page_weight(int(id_ or 0)))) for id_ in ids]
    hits = _rerank_by_weight(found, likings)
    total = sum(score for score, _ in hits)
    shares: dict[str, float] = defaultdict(float)
    for score, address in hits if total > 0 else ():
        page = load_document(searcher, address)
        counts = Counter(stem_text(f"{page.title} {page.body[:FEEDBACK_CHARS]}", page.language).split())
        length = counts.total()
        for word, count in counts.items():
            shares[word] += score / total * count / length
    return _select_terms(searcher, shares, CLICKED_RELATED_WEIGHT if any(likings) else RELATED_WEIGHT)


def _rerank_by_weight(
    hits: Sequence[tuple[float, tantivy.DocAddress]], weights: Sequence[float]
) -> list[tuple[float, tantivy.DocAddress]]:
    """The best matches, by words and by what users think of them."""
    weighed = [(score * (1 + liking), address) for (score, address), liking in zip(hits, weights, strict=True)]
    return sorted(weighed, key=lambda hit: -hit[0])[:FEEDBACK_PAGES]


def _select_terms(searcher: tantivy.Searcher, shares: Mapping[str, float], weight: float) -> RelatedTerms:
    pages = searcher.num_docs
    rated = {}
    for word, share in nlargest(MAX_TERM_CANDIDATES, shares.items(), key=lambda item: item[1]):
        if len(word) > 2 and not word.isdigit():
            having = searcher.doc_freq("body", word)
            if 1 < having <= pages * MAX_DOCUMENT_SHARE:
                rated[word] = share * math.log(pages / having)
    top = sorted(rated, key=lambda word: (-rated[word], word))[:MAX_RELATED_TERMS]
    return tuple((word, weight * rated[word] / rated[top[0]]) for word in top)


def add_related_terms(query: Query, terms: Sequence[tuple[str, float]]) -> Query:
    """The question with related words that only add to the score."""
    extra = [(Occur.Should, build_related_query(word, weight)) for word, weight in terms]
    return Query.boolean_query([(Occur.Must, query), *extra]) if extra else query


def build_related_query(word: str, weight: float) -> Query:
    """One related word."""
    return Query.boost_query(Query.term_query(get_schema(), "body", word, "freq"), weight)


ALIAS_FILE = "aliases.json"  # beside the index: {name: [other names]}
MAX_ALIASES = 3  # other names that are asked for too
MAX_NAME_WORDS = 6  # words of a name

AliasMap = Mapping[str, Sequence[str]]


def load_aliases(folder: Path) -> AliasMap:
    """The names that are widened; a file that is none widens nothing."""
    try:
        found = json.loads((folder / ALIAS_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def save_aliases(folder: Path, aliases: AliasMap) -> None:
    """Widen these names from now on; a name without others is widened no longer."""
    known = {
        **load_aliases(folder),
        **{fold_name(name): list(others)[:MAX_ALIASES] for name, others in aliases.items()},
    }
    folder.mkdir(exist_ok=True)
    fresh = folder / f"{ALIAS_FILE}.new"
    fresh.write_text(json.dumps({name: others for name, others in known.items() if others}), encoding="utf-8")
    fresh.replace(folder / ALIAS_FILE)


def expand_aliases(query: ParsedQuery, aliases: AliasMap) -> ParsedQuery:
    """Let each word of a name be answered by another name of the same thing as well."""
    if not aliases:
        return query
    wanted = list(query.term_groups)
    said = [group[0].text if len(group) == 1 and not group[0].field else "" for group in wanted]
    for start in range(len(said)):
        for end in range(start + 1, min(len(said), start + MAX_NAME_WORDS) + 1):
            others = aliases.get(fold_name(" ".join(said[start:end])), ()) if all(said[start:end]) else ()
            for place in range(start, end) if others else ():
                wanted[place] += tuple(QueryTerm(other, " " in other) for other in others)
    return structs.replace(query, term_groups=tuple(wanted))


class AliasExpander:
    """Widens questions by the names kept in a folder, as they are at the moment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._cached_aliases: tuple[float, AliasMap] = (0.0, {})

    def __call__(self, query: ParsedQuery) -> ParsedQuery:
        """Widen one question."""
        try:
            written = (self.folder / ALIAS_FILE).stat().st_mtime
        except OSError:
            return query
        if written != self._cached_aliases[0]:
            self._cached_aliases = (written, load_aliases(self.folder))
        return expand_aliases(query, self._cached_aliases[1])
