"""Long questions are sentences, and a sentence seldom has the page's own words: those of the first pages are added.

Relevance feedback: words that stand out in the best few matches join the question with a small weight. They change
the order only; every match still has words of the question itself. Which matches are best, users say where they have
taught something: a page they pass over lends no words, and so what they liked helps pages they never saw.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from heapq import nlargest

import tantivy
from tantivy import Occur, Query

from sanderling.index.schema import schema
from sanderling.index.store import page_of
from sanderling.index.words import stems

SENTENCE = 4  # words from which on a question is widened
PAGES = 5
LOOKED_AT = 20  # best matches by words, of which users may rule out some
READ = 4_000  # characters of each
WORDS = 20
WEIGHT = 0.5  # of the best added word; measured in benchmarks/search.py
TAUGHT = 0.8  # the same where users have judged some of the pages; measured in benchmarks/feedback.py
TRIED = 150
COMMON = 0.2  # of all pages: a word that frequent stands out nowhere

Related = tuple[tuple[str, float], ...]


def related(
    searcher: tantivy.Searcher, words: Sequence[tuple[str, str]], liking: Callable[[int], float] = lambda _: 0.0
) -> Related:
    """Find the words that stand out in the best matches, each with its weight; a look at bodies is enough for that."""
    asked = [Query.term_query(schema(), field, word, "freq") for field, word in words if field == "body"]
    found = searcher.search(Query.boolean_query([(Occur.Should, q) for q in asked]), LOOKED_AT, False).hits
    ids = searcher.fast_field_values("id", [address for _, address in found])
    likings = [max(-1.0, min(1.0, liking(int(id_ or 0)))) for id_ in ids]
    hits = _liked(found, likings)
    total = sum(score for score, _ in hits)
    shares: dict[str, float] = defaultdict(float)
    for score, address in hits if total > 0 else ():
        page = page_of(searcher, address)
        counts = Counter(stems(f"{page.title} {page.body[:READ]}", page.language).split())
        length = counts.total()
        for word, count in counts.items():
            shares[word] += score / total * count / length
    return _best(searcher, shares, TAUGHT if any(likings) else WEIGHT)


def _liked(
    hits: Sequence[tuple[float, tantivy.DocAddress]], likings: Sequence[float]
) -> list[tuple[float, tantivy.DocAddress]]:
    """The best matches, by words and by what users think of them."""
    weighed = [(score * (1 + liking), address) for (score, address), liking in zip(hits, likings, strict=True)]
    return sorted(weighed, key=lambda hit: -hit[0])[:PAGES]


def _best(searcher: tantivy.Searcher, shares: Mapping[str, float], weight: float) -> Related:
    pages = searcher.num_docs
    rated = {}
    for word, share in nlargest(TRIED, shares.items(), key=lambda item: item[1]):
        if len(word) > 2 and not word.isdigit():
            having = searcher.doc_freq("body", word)
            if 1 < having <= pages * COMMON:
                rated[word] = share * math.log(pages / having)
    top = sorted(rated, key=lambda word: (-rated[word], word))[:WORDS]
    return tuple((word, weight * rated[word] / rated[top[0]]) for word in top)


def widened(query: Query, words: Sequence[tuple[str, float]]) -> Query:
    """The question with related words that only add to the score."""
    extra = [(Occur.Should, related_query(word, weight)) for word, weight in words]
    return Query.boolean_query([(Occur.Must, query), *extra]) if extra else query


def related_query(word: str, weight: float) -> Query:
    """One related word."""
    return Query.boost_query(Query.term_query(schema(), "body", word, "freq"), weight)
