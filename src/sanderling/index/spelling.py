"""What the user may have meant, where a word is nowhere in the index. Bounded: few words, few pages looked at."""

import re
from collections import Counter
from collections.abc import Sequence

import tantivy
from tantivy import Query

from sanderling.index.schema import schema
from sanderling.index.store import page_of
from sanderling.index.words import stems

MOST_WORDS = 3  # corrected in one question
PAGES = 5  # looked at for the right spelling
_WORD = re.compile(r"[^\W\d_][^\W_]+")


def known(searcher: tantivy.Searcher, words: Sequence[str]) -> bool:
    """Say whether all stems of one spelling stand somewhere in the index."""
    return all(
        any(searcher.doc_freq(field, word) for field in ("body", "title", "address", "anchors")) for word in words
    )


def nearest(searcher: tantivy.Searcher, word: str, language: str) -> str:
    """Find the most frequent word of the index within one or two slips of this one; empty if there is none."""
    allowed = slips(word)
    stem = stems(word, language)
    if not allowed or " " in stem or not stem:
        return ""
    votes: Counter[str] = Counter()
    for field in ("body", "title"):
        query = Query.fuzzy_term_query(schema(), field, stem, allowed)
        for _, address in searcher.search(query, PAGES, count=False).hits:
            page = page_of(searcher, address)
            votes.update(_close(f"{page.title} {page.body[:20_000]}", stem, page.language, allowed))
    return max(votes, key=lambda w: (-distance(stem, stems(w, language), allowed), votes[w], w)) if votes else ""


def slips(word: str) -> int:
    """How many slips a word of that length may have."""
    return 0 if len(word) < 4 else 1 if len(word) < 8 else 2


def _close(text: str, stem: str, language: str, allowed: int) -> Counter[str]:
    words = Counter(word.lower() for word in _WORD.findall(text))
    return Counter({w: n for w, n in words.items() if distance(stem, stems(w, language), allowed) <= allowed})


def distance(one: str, two: str, limit: int) -> int:
    """Count insertions, deletions, replacements and swaps of neighbours; anything beyond the limit is limit + 1."""
    if abs(len(one) - len(two)) > limit or " " in two:
        return limit + 1
    before: list[int] = []
    row = list(range(len(two) + 1))
    for i, a in enumerate(one, 1):
        last, row, older = row, [i], before
        for j, b in enumerate(two, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == two[j - 2] and one[i - 2] == b:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        before = last
        if min(row) > limit:
            return limit + 1
    return min(row[-1], limit + 1)
