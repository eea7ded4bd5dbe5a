"""The whole search, step by step: understand, match, weigh, cut snippets, count facets, forgive typing errors."""

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import tantivy
from msgspec import Struct, structs
from tantivy import Query

from sanderling.search.fields import type_of
from sanderling.search.index import Index, page_of
from sanderling.search.query import Question, understand, without
from sanderling.search.query_compiler import Compiled, compile_question, field_query
from sanderling.search.query_expansion import SENTENCE, related, related_query, widened
from sanderling.search.ranking import Ranking, combine
from sanderling.search.schema import WEIGHTS
from sanderling.search.search_types import Ask, Count, Hit, Parts, Results
from sanderling.search.snippets import highlighted, snippet
from sanderling.search.spelling import MOST_WORDS, known, nearest
from sanderling.search.tokenizer import stems

WINDOW = 100  # candidates of the text score that links, freshness and behaviour may put into a new order
DEEPEST = 10_000  # results are listed down to here
FEW = 10  # with fewer pages than this that have all words, pages with some of them are added
FACET_SIZE = 12
LANGUAGES = 4
AGES = (("day", 1), ("week", 7), ("month", 30), ("year", 365))

Behaviour = Callable[[str], Callable[[int], float]]
"""Given a question, a function from page ids (store.page_id) to weights between -1 and 1."""


def nothing_learned(_: str) -> Callable[[int], float]:
    """No user has taught us anything."""
    return lambda _: 0.0


class _Candidate(Struct):
    """A match before its page is read."""

    searcher: tantivy.Searcher
    address: tantivy.DocAddress
    parts: Parts


class Finder:
    """Answers questions from one index."""

    def __init__(
        self, index: Index, behaviour: Behaviour = nothing_learned, ranking: Ranking | None = None,
        widen: Callable[[Question], Question] | None = None,
    ) -> None:  # fmt: skip
        self.index = index
        self.widen = widen or (lambda question: question)
        self.behaviour = behaviour
        self.ranking = ranking or Ranking()
        self._languages: tuple[int, tuple[str, ...]] = (-1, ())

    def search(self, ask: Ask) -> Results:
        """Answer; a question that finds next to nothing is tried again with its unknown words put right."""
        question = understand(ask.text, ask.now)
        results = self._answer(ask, self.widen(question))
        if ask.offset or not question.wanted or (results.total >= FEW and not results.relaxed):
            return results
        meant = self._put_right(ask.text, question)
        if meant == ask.text:
            return results
        better = self._answer(structs.replace(ask, text=meant), understand(meant, ask.now))
        return structs.replace(better, text=ask.text, meant=meant) if better.total else results

    def languages(self) -> tuple[str, ...]:
        """The languages most pages are written in, most frequent first."""
        searcher = self.index.now.searcher()
        if self._languages[0] != searcher.num_docs:
            terms = {"all": {"terms": {"field": "language", "size": LANGUAGES}}}
            found = searcher.aggregate(Query.all_query(), terms)["all"]["buckets"]
            self._languages = (searcher.num_docs, tuple(str(bucket["key"]) for bucket in found))
        return self._languages[1]

    def _answer(self, ask: Ask, question: Question) -> Results:
        compiled = compile_question(question, question.languages() or self.languages())
        if compiled is None:
            return Results(ask.text, 0)
        searchers = [self.index.now.searcher()]
        if question.as_of is not None:
            searchers.append(self.index.past.searcher())
        by_time = not question.wanted
        if compiled.groups >= SENTENCE:
            compiled = structs.replace(
                compiled, related=related(searchers[0], compiled.words, self.behaviour(ask.text))
            )
        query, relaxed = widened(compiled.strict, compiled.related), False
        total, ranked = self._ranked(ask, searchers, query, by_time=by_time)
        if compiled.can_relax and total < FEW:
            query, relaxed = widened(compiled.relaxed, compiled.related), True
            total, ranked = self._ranked(ask, searchers, query, by_time=by_time)
        shown = ranked[ask.offset : ask.offset + ask.limit]
        hits = tuple(_hit(c, compiled, ask, ask.offset + i) for i, c in enumerate(shown, 1))
        matches = compiled.relaxed_matches if relaxed else compiled.strict_matches
        facets = _facets(searchers, matches, ask.now) if ask.facets else {}
        return Results(ask.text, total, hits, facets, relaxed=relaxed and total > 0)

    def _ranked(
        self, ask: Ask, searchers: list[tantivy.Searcher], query: Query, *, by_time: bool
    ) -> tuple[int, list[_Candidate]]:
        """How many match, and the candidates: the first ones weighed anew, the rest as the text score had them."""
        depth = min(max(WINDOW, ask.offset + ask.limit), DEEPEST)
        weight = self.behaviour(ask.text)
        total, found = 0, []
        for searcher in searchers:
            answer = searcher.search(query, depth, True, "changed" if by_time else None)
            total += int(answer.count)  # type: ignore[attr-defined]  # it is there, the stub forgot it
            found += self._weighed(searcher, [(1.0 if by_time else s, a) for s, a in answer.hits], weight, ask.now)
        if not by_time:
            found.sort(key=lambda c: -c.parts.text)
        head = sorted(found[:WINDOW], key=lambda c: -c.parts.score)
        return total, head + found[WINDOW:depth]

    def _weighed(
        self,
        searcher: tantivy.Searcher,
        hits: Sequence[tuple[float, tantivy.DocAddress]],
        weight: Callable[[int], float],
        now: float,
    ) -> list[_Candidate]:
        where = [address for _, address in hits]
        links, changed, ids = (searcher.fast_field_values(f, where) for f in ("link", "changed", "id"))
        return [
            _Candidate(
                searcher, at, combine(score, link or 0, now - (when or 0), weight(int(number or 0)), self.ranking)
            )
            for (score, at), link, when, number in zip(hits, links, changed, ids, strict=True)
        ]

    def _put_right(self, text: str, question: Question) -> str:
        """Replace words the index lacks by near words that occur with the other words of the question."""
        searcher = self.index.now.searcher()
        languages = question.languages() or self.languages() or ("",)
        plain = [t.text for group in question.wanted for t in group if not t.phrase and not t.field]
        unknown = [w for w in plain if not any(known(searcher, stems(w, lang).split()) for lang in languages)]
        rest = compile_question(without(question, unknown), languages)
        for word in unknown[:MOST_WORDS]:
            better = nearest(searcher, word, languages[0], rest.strict_matches if rest else None)
            if better:
                text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", better, text)
        return text


def _hit(candidate: _Candidate, compiled: Compiled, ask: Ask, position: int) -> Hit:
    page = page_of(candidate.searcher, candidate.address)
    wanted = compiled.stems if ask.snippets else frozenset()
    parts = candidate.parts
    if ask.explain:
        parts = structs.replace(parts, fields=_explained(candidate, compiled))
    return Hit(
        url=page.url,
        title=highlighted(page.title, page.language, wanted),
        snippet=snippet(page.body or page.headings, page.language, wanted) if ask.snippets else (),
        site=page.site,
        type=type_of(page.mime),
        language=page.language,
        changed_at=page.changed_at,
        visited_at=page.visited_at,
        first_seen_at=page.first_seen_at,
        position=position,
        parts=parts,
    )


def _explained(candidate: _Candidate, compiled: Compiled) -> tuple[tuple[str, str, float], ...]:
    """What each word in each field gave to the text score, and each word it was widened by."""
    asked = [(words, field, Query.boost_query(field_query(field, words.split()), WEIGHTS[field]))
             for field, words in compiled.words]  # fmt: skip
    asked += [(word, "related", related_query(word, weight)) for word, weight in compiled.related]
    made = []
    for words, field, query in asked:
        try:
            value = json.loads(query.explain(candidate.searcher, candidate.address).to_json())["value"]
        except ValueError:  # the word is not in that field of this page
            continue
        made.append((words, field, float(value)))
    return tuple(made)


def _facets(searchers: list[tantivy.Searcher], query: Query, now: float) -> dict[str, tuple[Count, ...]]:
    """Count sites, types, languages and ages over all matches."""
    edges = [now - days * 86400 for _, days in reversed(AGES)]
    ranges = [{"from": a, "to": b} for a, b in zip(edges, [*edges[1:], now + 86400], strict=True)]
    ask: dict[str, Any] = {
        name: {"terms": {"field": name, "size": FACET_SIZE}} for name in ("site", "type", "language")
    }
    ask["changed"] = {"range": {"field": "modified", "ranges": ranges}}
    sums: dict[str, Counter[str]] = {name: Counter() for name in ask}
    for searcher in searchers:
        for name, answer in searcher.aggregate(query, ask).items():
            sums[name].update(_buckets(name, answer["buckets"], edges))
    made = {
        n: tuple(Count(v, c) for v, c in sums[n].most_common(FACET_SIZE) if v) for n in ("site", "type", "language")
    }
    made["changed"] = tuple(Count(name, sums["changed"][name]) for name, _ in AGES if sums["changed"][name])
    return made


def _buckets(name: str, buckets: list[dict[str, float]], edges: list[float]) -> dict[str, int]:
    if name != "changed":
        return {str(bucket["key"]): int(bucket["doc_count"]) for bucket in buckets}
    inside = [(b["from"], int(b["doc_count"])) for b in buckets if "from" in b and "to" in b]
    oldest = {name: edge for (name, _), edge in zip(reversed(AGES), edges, strict=True)}
    return {name: sum(n for start, n in inside if start >= edge - 1) for name, edge in oldest.items()}
