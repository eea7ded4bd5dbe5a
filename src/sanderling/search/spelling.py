"""Correct query words that are not indexed."""

import re
from collections import Counter
from collections.abc import Sequence

import tantivy
from tantivy import Occur, Query

from sanderling.search.index import load_document
from sanderling.search.schema import get_schema
from sanderling.search.tokenizer import UNSTEMMED, stem_text

MAX_CORRECTIONS = 3  # per query
SAMPLE_PAGES = 20  # searched for corrections
SAMPLE_CHARS = 20_000  # per sample page
_WORD = re.compile(r"[^\W\d_][^\W_]+")


def is_indexed(searcher: tantivy.Searcher, words: Sequence[str]) -> bool:
    return all(
        any(searcher.doc_freq(field, word) for field in ("body", "title", "address", "anchors")) for word in words
    )


def count_documents(searcher: tantivy.Searcher, stem: str) -> int:
    """Return the number of pages with a stem in their text or title."""
    return max(searcher.doc_freq(field, stem) for field in ("body", "title"))


def find_correction(searcher: tantivy.Searcher, word: str, language: str, context_query: Query | None = None) -> str:
    """Return the most frequent similar word on pages that match `context_query`, or ""."""
    folded = stem_text(word, UNSTEMMED)
    if " " in folded or not folded:
        return ""
    for max_edits in range(1, get_max_edits(folded) + 1):
        votes: Counter[str] = Counter()
        for _, address in searcher.search(
            _build_fuzzy_query(word, language, max_edits, context_query), SAMPLE_PAGES, count=False
        ).hits:
            page = load_document(searcher, address)
            votes.update(_count_close_words(f"{page.title} {page.body[:SAMPLE_CHARS]}", folded, max_edits))
        if votes:
            return max(votes, key=lambda candidate: (votes[candidate], candidate))
    return ""


def get_max_edits(word: str) -> int:
    return 0 if len(word) < 4 else 1 if len(word) < 8 else 2


def _build_fuzzy_query(word: str, language: str, max_edits: int, context_query: Query | None) -> Query:
    folded = stem_text(word, UNSTEMMED)
    prefixes = [folded[:end] for end in range(len(folded) - 3, len(folded) + 1) if end >= 4]
    stem_queries = [
        (Occur.Should, Query.fuzzy_term_query(get_schema(), field, stem, max_edits))
        for field in ("body", "title")
        for stem in {stem_text(word, language), *prefixes}
    ]
    clauses = [(Occur.Must, Query.boolean_query(stem_queries))]
    return Query.boolean_query([*clauses, (Occur.Must, context_query)] if context_query else clauses)


def _count_close_words(text: str, target: str, max_edits: int) -> Counter[str]:
    """Count words within `max_edits`. Whole words are compared: stems are short."""
    words = Counter(word.lower() for word in _WORD.findall(text))
    return Counter(
        {
            w: n
            for w, n in words.items()
            if compute_edit_distance(target, stem_text(w, UNSTEMMED), max_edits) <= max_edits
        }
    )


def compute_edit_distance(first: str, second: str, limit: int) -> int:
    """Compute the Damerau-Levenshtein distance, at most `limit + 1`."""
    if abs(len(first) - len(second)) > limit or " " in second:
        return limit + 1
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        last, row, older = row, [i], before
        for j, b in enumerate(second, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == second[j - 2] and first[i - 2] == b:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        before = last
        if min(row) > limit:
            return limit + 1
    return min(row[-1], limit + 1)
