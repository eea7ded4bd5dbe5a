"""The whole search, step by step: understand, match, weigh, cut snippets, count facets, forgive typing errors."""

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import tantivy
from msgspec import Struct, structs
from tantivy import Query

from sanderling.search.fields import get_type_name
from sanderling.search.index import SearchIndex, load_document
from sanderling.search.query import ParsedQuery, drop_terms, parse_query
from sanderling.search.query_compiler import CompiledQuery, build_field_query, compile_query
from sanderling.search.query_expansion import (
    MIN_EXPANSION_TERMS,
    add_related_terms,
    build_related_query,
    find_related_terms,
)
from sanderling.search.ranking import RankingWeights, combine_scores
from sanderling.search.schema import FIELD_WEIGHTS
from sanderling.search.search_types import FacetCount, ScoreParts, SearchHit, SearchRequest, SearchResults
from sanderling.search.snippets import build_snippet, highlight_text
from sanderling.search.spelling import MAX_CORRECTIONS, find_correction, is_indexed
from sanderling.search.tokenizer import stem_text

RERANK_WINDOW = 100  # candidates of the text score that links, freshness and behaviour may put into a new order
MAX_DEPTH = 10_000  # results are listed down to here
FEW_RESULTS = 10  # with fewer pages than this that have all words, pages with some of them are added
FACET_SIZE = 12
MAX_LANGUAGES = 4
AGE_RANGES = (("day", 1), ("week", 7), ("month", 30), ("year", 365))

BehaviorModel = Callable[[str], Callable[[int], float]]
"""Given a question, a function from page ids (store.page_id) to weights between -1 and 1."""


def ignore_behavior(_: str) -> Callable[[int], float]:
    """No user has taught us anything."""
    return lambda _: 0.0


class _Candidate(Struct):
    """A match before its page is read."""

    searcher: tantivy.Searcher
    address: tantivy.DocAddress
    score_parts: ScoreParts


class SearchEngine:
    """Answers questions from one index."""

    def __init__(
        self, index: SearchIndex, behavior: BehaviorModel = ignore_behavior, ranking: RankingWeights | None = None,
        expand_query: Callable[[ParsedQuery], ParsedQuery] | None = None,
    ) -> None:  # fmt: skip
        self.index = index
        self.expand_query = expand_query or (lambda question: question)
        self.behavior = behavior
        self.ranking = ranking or RankingWeights()
        self._languages: tuple[int, tuple[str, ...]] = (-1, ())

    def search(self, request: SearchRequest) -> SearchResults:
        """Answer; a question that finds next to nothing is tried again with its unknown words put right."""
        question = parse_query(request.query, request.now)
        results = self._run_query(request, self.expand_query(question))
        if request.offset or not question.term_groups or (results.total >= FEW_RESULTS and not results.is_relaxed):
            return results
        meant = self._correct_spelling(request.query, question)
        if meant == request.query:
            return results
        better = self._run_query(structs.replace(request, query=meant), parse_query(meant, request.now))
        return structs.replace(better, query=request.query, corrected_query=meant) if better.total else results

    def find_languages(self) -> tuple[str, ...]:
        """The languages most pages are written in, most frequent first."""
        searcher = self.index.current_index.searcher()
        if self._languages[0] != searcher.num_docs:
            terms = {"all": {"terms": {"field": "language", "size": MAX_LANGUAGES}}}
            found = searcher.aggregate(Query.all_query(), terms)["all"]["buckets"]
            self._languages = (searcher.num_docs, tuple(str(bucket["key"]) for bucket in found))
        return self._languages[1]

    def _run_query(self, request: SearchRequest, parsed_query: ParsedQuery) -> SearchResults:
        compiled = compile_query(parsed_query, parsed_query.get_languages() or self.find_languages())
        if compiled is None:
            return SearchResults(request.query, 0)
        searchers = [self.index.current_index.searcher()]
        if parsed_query.as_of is not None:
            searchers.append(self.index.history_index.searcher())
        by_time = not parsed_query.term_groups
        if compiled.group_count >= MIN_EXPANSION_TERMS:
            compiled = structs.replace(
                compiled,
                related_terms=find_related_terms(searchers[0], compiled.scored_terms, self.behavior(request.query)),
            )
        query, relaxed = add_related_terms(compiled.strict_query, compiled.related_terms), False
        total, ranked = self._rank_candidates(request, searchers, query, by_time=by_time)
        if compiled.can_relax and total < FEW_RESULTS:
            query, relaxed = add_related_terms(compiled.relaxed_query, compiled.related_terms), True
            total, ranked = self._rank_candidates(request, searchers, query, by_time=by_time)
        shown = ranked[request.offset : request.offset + request.limit]
        hits = tuple(_build_hit(c, compiled, request, request.offset + i) for i, c in enumerate(shown, 1))
        matches = compiled.relaxed_matches if relaxed else compiled.strict_matches
        facets = _count_facets(searchers, matches, request.now) if request.include_facets else {}
        return SearchResults(request.query, total, hits, facets, is_relaxed=relaxed and total > 0)

    def _rank_candidates(
        self, request: SearchRequest, searchers: list[tantivy.Searcher], query: Query, *, by_time: bool
    ) -> tuple[int, list[_Candidate]]:
        """How many match, and the candidates: the first ones weighed anew, the rest as the text score had them."""
        depth = min(max(RERANK_WINDOW, request.offset + request.limit), MAX_DEPTH)
        weight = self.behavior(request.query)
        total, found = 0, []
        for searcher in searchers:
            answer = searcher.search(query, depth, True, "changed" if by_time else None)
            total += int(answer.count)  # type: ignore[attr-defined]  # it is there, the stub forgot it
            found += self._score_hits(
                searcher, [(1.0 if by_time else s, a) for s, a in answer.hits], weight, request.now
            )
        if not by_time:
            found.sort(key=lambda c: -c.score_parts.text)
        head = sorted(found[:RERANK_WINDOW], key=lambda c: -c.score_parts.score)
        return total, head + found[RERANK_WINDOW:depth]

    def _score_hits(
        self,
        searcher: tantivy.Searcher,
        hits: Sequence[tuple[float, tantivy.DocAddress]],
        get_page_weight: Callable[[int], float],
        now: float,
    ) -> list[_Candidate]:
        where = [address for _, address in hits]
        links, changed, ids = (searcher.fast_field_values(f, where) for f in ("link", "changed", "id"))
        return [
            _Candidate(
                searcher,
                at,
                combine_scores(score, link or 0, now - (when or 0), get_page_weight(int(number or 0)), self.ranking),
            )
            for (score, at), link, when, number in zip(hits, links, changed, ids, strict=True)
        ]

    def _correct_spelling(self, text: str, parsed_query: ParsedQuery) -> str:
        """Replace words the index lacks by near words that occur with the other words of the question."""
        searcher = self.index.current_index.searcher()
        languages = parsed_query.get_languages() or self.find_languages() or ("",)
        plain = [t.text for group in parsed_query.term_groups for t in group if not t.is_phrase and not t.field]
        unknown = [w for w in plain if not any(is_indexed(searcher, stem_text(w, lang).split()) for lang in languages)]
        rest = compile_query(drop_terms(parsed_query, unknown), languages)
        for word in unknown[:MAX_CORRECTIONS]:
            better = find_correction(searcher, word, languages[0], rest.strict_matches if rest else None)
            if better:
                text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", better, text)
        return text


def _build_hit(candidate: _Candidate, compiled: CompiledQuery, request: SearchRequest, position: int) -> SearchHit:
    page = load_document(candidate.searcher, candidate.address)
    wanted = compiled.stems if request.include_snippets else frozenset()
    parts = candidate.score_parts
    if request.explain:
        parts = structs.replace(parts, field_scores=_explain_terms(candidate, compiled))
    return SearchHit(
        url=page.url,
        title=highlight_text(page.title, page.language, wanted),
        snippet=build_snippet(page.body or page.headings, page.language, wanted) if request.include_snippets else (),
        site=page.site,
        type=get_type_name(page.mime),
        language=page.language,
        changed_at=page.changed_at,
        visited_at=page.visited_at,
        first_seen_at=page.first_seen_at,
        position=position,
        score_parts=parts,
    )


def _explain_terms(candidate: _Candidate, compiled: CompiledQuery) -> tuple[tuple[str, str, float], ...]:
    """What each word in each field gave to the text score, and each word it was widened by."""
    asked = [(words, field, Query.boost_query(build_field_query(field, words.split()), FIELD_WEIGHTS[field]))
             for field, words in compiled.scored_terms]  # fmt: skip
    asked += [(word, "related", build_related_query(word, weight)) for word, weight in compiled.related_terms]
    made = []
    for words, field, query in asked:
        try:
            value = json.loads(query.explain(candidate.searcher, candidate.address).to_json())["value"]
        except ValueError:  # the word is not in that field of this page
            continue
        made.append((words, field, float(value)))
    return tuple(made)


def _count_facets(searchers: list[tantivy.Searcher], query: Query, now: float) -> dict[str, tuple[FacetCount, ...]]:
    """Count sites, types, languages and ages over all matches."""
    edges = [now - days * 86400 for _, days in reversed(AGE_RANGES)]
    ranges = [{"from": a, "to": b} for a, b in zip(edges, [*edges[1:], now + 86400], strict=True)]
    ask: dict[str, Any] = {
        name: {"terms": {"field": name, "size": FACET_SIZE}} for name in ("site", "type", "language")
    }
    ask["changed"] = {"range": {"field": "modified", "ranges": ranges}}
    sums: dict[str, Counter[str]] = {name: Counter() for name in ask}
    for searcher in searchers:
        for name, answer in searcher.aggregate(query, ask).items():
            sums[name].update(_parse_buckets(name, answer["buckets"], edges))
    made = {
        n: tuple(FacetCount(v, c) for v, c in sums[n].most_common(FACET_SIZE) if v)
        for n in ("site", "type", "language")
    }
    made["changed"] = tuple(FacetCount(name, sums["changed"][name]) for name, _ in AGE_RANGES if sums["changed"][name])
    return made


def _parse_buckets(name: str, buckets: list[dict[str, float]], edges: list[float]) -> dict[str, int]:
    if name != "changed":
        return {str(bucket["key"]): int(bucket["doc_count"]) for bucket in buckets}
    inside = [(b["from"], int(b["doc_count"])) for b in buckets if "from" in b and "to" in b]
    oldest = {name: edge for (name, _), edge in zip(reversed(AGE_RANGES), edges, strict=True)}
    return {name: sum(n for start, n in inside if start >= edge - 1) for name, edge in oldest.items()}
