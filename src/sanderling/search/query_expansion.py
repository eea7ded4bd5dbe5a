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

from sanderling.search.aliases.mentions import fold
from sanderling.search.index import page_of
from sanderling.search.query import Question, Term
from sanderling.search.schema import schema
from sanderling.search.tokenizer import stems

SENTENCE = 4  # words from which on a question is widened
PAGES = 5
LOOKED_AT = 20  # best matches by words, of which users may rule out some
READ = 4_000  # characters of each
WORDS = 20
WEIGHT = 0.5  # of the best added word; measured in benchmarks/search/search_quality.py
TAUGHT = 0.8  # the same where users have judged some of the pages; measured in benchmarks/search/click_feedback.py
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


FILE = "aliases.json"  # beside the index: {name: [other names]}
PER_NAME = 3  # other names that are asked for too
LONGEST = 6  # words of a name

Names = Mapping[str, Sequence[str]]


def read_names(folder: Path) -> Names:
    """The names that are widened; a file that is none widens nothing."""
    try:
        found = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def keep_names(folder: Path, names: Names) -> None:
    """Widen these names from now on; a name without others is widened no longer."""
    known = {**read_names(folder), **{fold(name): list(others)[:PER_NAME] for name, others in names.items()}}
    folder.mkdir(exist_ok=True)
    fresh = folder / f"{FILE}.new"
    fresh.write_text(json.dumps({name: others for name, others in known.items() if others}), encoding="utf-8")
    fresh.replace(folder / FILE)


def also(question: Question, names: Names) -> Question:
    """Let each word of a name be answered by another name of the same thing as well."""
    if not names:
        return question
    wanted = list(question.wanted)
    said = [group[0].text if len(group) == 1 and not group[0].field else "" for group in wanted]
    for start in range(len(said)):
        for end in range(start + 1, min(len(said), start + LONGEST) + 1):
            others = names.get(fold(" ".join(said[start:end])), ()) if all(said[start:end]) else ()
            for place in range(start, end) if others else ():
                wanted[place] += tuple(Term(other, " " in other) for other in others)
    return structs.replace(question, wanted=tuple(wanted))


class Also:
    """Widens questions by the names kept in a folder, as they are at the moment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read: tuple[float, Names] = (0.0, {})

    def __call__(self, question: Question) -> Question:
        """Widen one question."""
        try:
            written = (self.folder / FILE).stat().st_mtime
        except OSError:
            return question
        if written != self._read[0]:
            self._read = (written, read_names(self.folder))
        return also(question, self._read[1])
