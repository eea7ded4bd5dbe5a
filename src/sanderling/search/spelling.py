"""What the user may have meant, where a word is nowhere in the index. Bounded: few words, few pages looked at."""

import re
from collections import Counter
from collections.abc import Sequence

import tantivy
from tantivy import Occur, Query

from sanderling.search.index import page_of
from sanderling.search.schema import schema
from sanderling.search.tokenizer import UNSTEMMED, stems

MOST_WORDS = 3  # corrected in one question
PAGES = 20  # looked at for the right spelling
READ = 20_000  # characters of each
_WORD = re.compile(r"[^\W\d_][^\W_]+")


def known(searcher: tantivy.Searcher, words: Sequence[str]) -> bool:
    """Say whether all stems of one spelling stand somewhere in the index."""
    return all(
        any(searcher.doc_freq(field, word) for field in ("body", "title", "address", "anchors")) for word in words
    )


def nearest(searcher: tantivy.Searcher, word: str, language: str, others: Query | None = None) -> str:
    """Return the most frequent near spelling on pages that match `others` too (None: any); empty if there is none."""
    folded = stems(word, UNSTEMMED)
    if " " in folded or not folded:
        return ""
    for allowed in range(1, slips(folded) + 1):
        votes: Counter[str] = Counter()
        for _, address in searcher.search(_near_query(word, language, allowed, others), PAGES, count=False).hits:
            page = page_of(searcher, address)
            votes.update(_close(f"{page.title} {page.body[:READ]}", folded, allowed))
        if votes:
            return max(votes, key=lambda found: (votes[found], found))
    return ""


def slips(word: str) -> int:
    """How many slips a word of that length may have."""
    return 0 if len(word) < 4 else 1 if len(word) < 8 else 2


def _near_query(word: str, language: str, allowed: int, others: Query | None) -> Query:
    """Match pages with a stem near that of the word. A slip in its ending changes the stem more than the word."""
    folded = stems(word, UNSTEMMED)
    cut = [folded[:end] for end in range(len(folded) - 3, len(folded) + 1) if end >= 4]
    near = [
        (Occur.Should, Query.fuzzy_term_query(schema(), field, stem, allowed))
        for field in ("body", "title")
        for stem in {stems(word, language), *cut}
    ]
    together = [(Occur.Must, Query.boolean_query(near))]
    return Query.boolean_query([*together, (Occur.Must, others)] if others else together)


def _close(text: str, folded: str, allowed: int) -> Counter[str]:
    """Count the words of a text within so many slips; whole words are compared, since stems are short."""
    words = Counter(word.lower() for word in _WORD.findall(text))
    return Counter({w: n for w, n in words.items() if distance(folded, stems(w, UNSTEMMED), allowed) <= allowed})


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
