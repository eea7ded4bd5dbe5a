"""Expand queries by aliases and related terms (pseudo-relevance feedback), which affect only the order."""

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

MIN_EXPANSION_TERMS = 4  # shorter queries get no related terms
FEEDBACK_PAGES = 5
FEEDBACK_CANDIDATES = 20  # best text matches, from which click weights select
FEEDBACK_CHARS = 4_000  # read per feedback page
MAX_RELATED_TERMS = 20
RELATED_WEIGHT = 0.5  # of the best related term; measured in benchmarks/search/search_quality.py
# The same if click weights exist for some of the pages; measured in benchmarks/search/click_feedback.py.
CLICKED_RELATED_WEIGHT = 0.8
MAX_TERM_CANDIDATES = 150
MAX_DOCUMENT_SHARE = 0.2  # of all pages; a more frequent term is not distinctive

RelatedTerms = tuple[tuple[str, float], ...]


def find_related_terms(
    searcher: tantivy.Searcher,
    words: Sequence[tuple[str, str]],
    get_page_weight: Callable[[int], float] = lambda _: 0.0,
) -> RelatedTerms:
    """Return distinctive terms of the best matches, with weights."""
    term_queries = [Query.term_query(get_schema(), field, word, "freq") for field, word in words if field == "body"]
    any_term = Query.boolean_query([(Occur.Should, q) for q in term_queries])
    found = searcher.search(any_term, FEEDBACK_CANDIDATES, False).hits
    ids = searcher.fast_field_values("id", [address for _, address in found])
    page_weights = [max(-1.0, min(1.0, get_page_weight(int(id_ or 0)))) for id_ in ids]
    hits = _rerank_by_weight(found, page_weights)
    total = sum(score for score, _ in hits)
    shares: dict[str, float] = defaultdict(float)
    for score, address in hits if total > 0 else ():
        page = load_document(searcher, address)
        counts = Counter(stem_text(f"{page.title} {page.body[:FEEDBACK_CHARS]}", page.language).split())
        length = counts.total()
        for word, count in counts.items():
            shares[word] += score / total * count / length
    return _select_terms(searcher, shares, CLICKED_RELATED_WEIGHT if any(page_weights) else RELATED_WEIGHT)


def _rerank_by_weight(
    hits: Sequence[tuple[float, tantivy.DocAddress]], weights: Sequence[float]
) -> list[tuple[float, tantivy.DocAddress]]:
    weighted = [(score * (1 + weight), address) for (score, address), weight in zip(hits, weights, strict=True)]
    return sorted(weighted, key=lambda hit: -hit[0])[:FEEDBACK_PAGES]


def _select_terms(searcher: tantivy.Searcher, shares: Mapping[str, float], weight: float) -> RelatedTerms:
    pages = searcher.num_docs
    scores = {}
    for word, share in nlargest(MAX_TERM_CANDIDATES, shares.items(), key=lambda item: item[1]):
        if len(word) > 2 and not word.isdigit():
            document_count = searcher.doc_freq("body", word)
            if 1 < document_count <= pages * MAX_DOCUMENT_SHARE:
                scores[word] = share * math.log(pages / document_count)
    top = sorted(scores, key=lambda word: (-scores[word], word))[:MAX_RELATED_TERMS]
    return tuple((word, weight * scores[word] / scores[top[0]]) for word in top)


def add_related_terms(query: Query, terms: Sequence[tuple[str, float]]) -> Query:
    """Add terms that only raise the score."""
    extra = [(Occur.Should, build_related_query(word, weight)) for word, weight in terms]
    return Query.boolean_query([(Occur.Must, query), *extra]) if extra else query


def build_related_query(word: str, weight: float) -> Query:
    return Query.boost_query(Query.term_query(get_schema(), "body", word, "freq"), weight)


ALIAS_FILE = "aliases.json"  # in the index folder: {name: [aliases]}
MAX_ALIASES = 3  # per name
MAX_NAME_WORDS = 6

AliasMap = Mapping[str, Sequence[str]]


def load_aliases(folder: Path) -> AliasMap:
    """Load the alias map; empty if missing or invalid."""
    try:
        aliases = json.loads((folder / ALIAS_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return aliases if isinstance(aliases, dict) else {}


def save_aliases(folder: Path, aliases: AliasMap) -> None:
    """Merge aliases into the file. A name without aliases is removed."""
    merged = {
        **load_aliases(folder),
        **{fold_name(name): list(others)[:MAX_ALIASES] for name, others in aliases.items()},
    }
    folder.mkdir(exist_ok=True)
    temporary = folder / f"{ALIAS_FILE}.new"
    temporary.write_text(json.dumps({name: others for name, others in merged.items() if others}), encoding="utf-8")
    temporary.replace(folder / ALIAS_FILE)


def expand_aliases(query: ParsedQuery, aliases: AliasMap) -> ParsedQuery:
    """Add the aliases of names as alternatives to their words."""
    if not aliases:
        return query
    groups = list(query.term_groups)
    words = [group[0].text if len(group) == 1 and not group[0].field else "" for group in groups]
    for start in range(len(words)):
        for end in range(start + 1, min(len(words), start + MAX_NAME_WORDS) + 1):
            found = aliases.get(fold_name(" ".join(words[start:end])), ()) if all(words[start:end]) else ()
            for index in range(start, end) if found else ():
                groups[index] += tuple(QueryTerm(alias, " " in alias) for alias in found)
    return structs.replace(query, term_groups=tuple(groups))


class AliasExpander:
    """Expands queries by an alias file, reread when it changes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._cached_aliases: tuple[float, AliasMap] = (0.0, {})

    def __call__(self, query: ParsedQuery) -> ParsedQuery:
        try:
            written = (self.folder / ALIAS_FILE).stat().st_mtime
        except OSError:
            return query
        if written != self._cached_aliases[0]:
            self._cached_aliases = (written, load_aliases(self.folder))
        return expand_aliases(query, self._cached_aliases[1])
