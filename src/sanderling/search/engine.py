"""Run a search: match, rerank, snippets, facets, spelling."""

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import tantivy
from msgspec import Struct, structs
from tantivy import Query

from sanderling.http.content_type import get_type_name
from sanderling.search.compounds import split_compound
from sanderling.search.index import SearchIndex, load_document, report_index_damage
from sanderling.search.query import ParsedQuery, drop_terms, parse_query
from sanderling.search.query_compiler import MAX_STRICT_TERMS, CompiledQuery, build_field_query, compile_query
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
from sanderling.search.spelling import MAX_CORRECTIONS, count_documents, find_correction, is_indexed
from sanderling.search.tokenizer import stem_text

RERANK_WINDOW = 100  # best candidates by text score, reranked by links, freshness and behavior
MAX_DEPTH = 10_000  # results beyond this position are not listed
FEW_RESULTS = 10  # with fewer matches of all words, pages with some of them are added
FACET_SIZE = 12
MAX_LANGUAGES = 4
AGE_RANGES = (("day", 1), ("week", 7), ("month", 30), ("year", 365))

BehaviorModel = Callable[[str], Callable[[int], float]]
"""Maps a query to a function from page ids (`compute_page_id`) to weights from -1 to 1."""


def ignore_behavior(_: str) -> Callable[[int], float]:
    """Give every page the weight 0."""
    return lambda _: 0.0


class _Candidate(Struct):
    """A match whose document is not loaded."""

    searcher: tantivy.Searcher
    address: tantivy.DocAddress
    score_parts: ScoreParts


class SearchEngine:
    def __init__(
        self, index: SearchIndex, behavior: BehaviorModel = ignore_behavior, ranking: RankingWeights | None = None,
        expand_query: Callable[[ParsedQuery], ParsedQuery] | None = None,
    ) -> None:  # fmt: skip
        self.index = index
        self.expand_query = expand_query or (lambda query: query)
        self.behavior = behavior
        self.ranking = ranking or RankingWeights()
        self._languages: tuple[int, tuple[str, ...]] = (-1, ())

    def search(self, request: SearchRequest) -> SearchResults:
        """Run a query. With few matches, retry it with corrected spelling."""
        with report_index_damage(self.index.folder):
            return self._search(request)

    def _search(self, request: SearchRequest) -> SearchResults:
        parsed_query = parse_query(request.query, request.now)
        results = self._run_query(request, self.expand_query(parsed_query))
        if request.offset or not parsed_query.term_groups or (results.total >= FEW_RESULTS and not results.is_relaxed):
            return results
        corrected = self._correct_spelling(request.query, parsed_query)
        if corrected == request.query:
            return results
        corrected_results = self._run_query(
            structs.replace(request, query=corrected), parse_query(corrected, request.now)
        )
        return (
            structs.replace(corrected_results, query=request.query, corrected_query=corrected)
            if corrected_results.total
            else results
        )

    def find_languages(self) -> tuple[str, ...]:
        """Return the most frequent languages of the index."""
        searcher = self.index.current_index.searcher()
        if self._languages[0] != searcher.num_docs:
            terms = {"all": {"terms": {"field": "language", "size": MAX_LANGUAGES}}}
            buckets = searcher.aggregate(Query.all_query(), terms)["all"]["buckets"]
            self._languages = (searcher.num_docs, tuple(str(bucket["key"]) for bucket in buckets))
        return self._languages[1]

    def _run_query(self, request: SearchRequest, parsed_query: ParsedQuery) -> SearchResults:
        searchers = [self.index.current_index.searcher()]
        languages = parsed_query.get_languages() or self.find_languages()
        get_frequency = partial(count_documents, searchers[0])
        is_short = len(parsed_query.term_groups) <= MAX_STRICT_TERMS  # compounds are searched if few pages match
        compiled = compile_query(parsed_query, languages, None if is_short else get_frequency)
        if compiled is None:
            return SearchResults(request.query, 0)
        if parsed_query.as_of is not None:
            searchers.append(self.index.history_index.searcher())
        sort_by_time = not parsed_query.term_groups
        if compiled.group_count >= MIN_EXPANSION_TERMS:
            compiled = structs.replace(
                compiled,
                related_terms=find_related_terms(searchers[0], compiled.scored_terms, self.behavior(request.query)),
            )
        query, relaxed = add_related_terms(compiled.strict_query, compiled.related_terms), False
        total, ranked = self._rank_candidates(request, searchers, query, sort_by_time=sort_by_time)
        if total < FEW_RESULTS and is_short:
            compiled = compile_query(parsed_query, languages, get_frequency) or compiled
        if total < FEW_RESULTS and compiled.can_relax:
            query, relaxed = add_related_terms(compiled.relaxed_query, compiled.related_terms), True
            exact_matches = ranked if compiled.compounds.has_any() else []
            total, ranked = self._rank_candidates(request, searchers, query, sort_by_time=sort_by_time)
            ranked = _rank_first(exact_matches, ranked)
        shown = ranked[request.offset : request.offset + request.limit]
        get_stems = cache(compiled.collect_stems)
        hits = tuple(_build_hit(c, compiled, request, request.offset + i, get_stems) for i, c in enumerate(shown, 1))
        matches = compiled.relaxed_matches if relaxed else compiled.strict_matches
        facets = _count_facets(searchers, matches, request.now) if request.include_facets else {}
        return SearchResults(request.query, total, hits, facets, is_relaxed=relaxed and total > 0)

    def _rank_candidates(
        self, request: SearchRequest, searchers: list[tantivy.Searcher], query: Query, *, sort_by_time: bool
    ) -> tuple[int, list[_Candidate]]:
        """Return the match count and the candidates, of which `RERANK_WINDOW` are reranked."""
        depth = min(max(RERANK_WINDOW, request.offset + request.limit), MAX_DEPTH)
        weight = self.behavior(request.query)
        total, candidates = 0, []
        for searcher in searchers:
            answer = searcher.search(query, depth, True, "changed" if sort_by_time else None)
            total += int(answer.count)  # type: ignore[attr-defined]  # missing in the stub
            candidates += self._score_hits(
                searcher, [(1.0 if sort_by_time else s, a) for s, a in answer.hits], weight, request.now
            )
        if not sort_by_time:
            candidates.sort(key=lambda c: -c.score_parts.text)
        head = sorted(candidates[:RERANK_WINDOW], key=lambda c: -c.score_parts.score)
        return total, head + candidates[RERANK_WINDOW:depth]

    def _score_hits(
        self,
        searcher: tantivy.Searcher,
        hits: Sequence[tuple[float, tantivy.DocAddress]],
        get_page_weight: Callable[[int], float],
        now: float,
    ) -> list[_Candidate]:
        addresses = [pair[1] for pair in hits]
        links, changed, ids = (searcher.fast_field_values(f, addresses) for f in ("link", "changed", "id"))
        return [
            _Candidate(
                searcher,
                address,
                combine_scores(score, link or 0, now - (changed_at or 0), get_page_weight(int(id_ or 0)), self.ranking),
            )
            for (score, address), link, changed_at, id_ in zip(hits, links, changed, ids, strict=True)
        ]

    def _correct_spelling(self, text: str, parsed_query: ParsedQuery) -> str:
        """Replace unknown words by similar ones that occur with the rest of the query."""
        searcher = self.index.current_index.searcher()
        languages = parsed_query.get_languages() or self.find_languages() or ("",)
        words = [t.text for group in parsed_query.term_groups for t in group if not t.is_phrase and not t.field]
        compounds = {
            w for w in words for lang in languages if split_compound(w, lang, partial(count_documents, searcher))
        }
        unknown = [
            w
            for w in words
            if w not in compounds and not any(is_indexed(searcher, stem_text(w, lang).split()) for lang in languages)
        ]
        known_terms = compile_query(drop_terms(parsed_query, unknown), languages)
        for word in unknown[:MAX_CORRECTIONS]:
            correction = find_correction(
                searcher, word, languages[0], known_terms.strict_matches if known_terms else None
            )
            if correction:
                text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", correction, text)
        return text


def _rank_first(first: list[_Candidate], candidates: list[_Candidate]) -> list[_Candidate]:
    """Move the first candidates to the front: pages with the words of the query precede those with compounds."""
    known = {(id(c.searcher), c.address.segment_ord, c.address.doc) for c in first}
    return first + [c for c in candidates if (id(c.searcher), c.address.segment_ord, c.address.doc) not in known]


def _build_hit(
    candidate: _Candidate,
    compiled: CompiledQuery,
    request: SearchRequest,
    position: int,
    get_stems: Callable[[str], frozenset[str]],
) -> SearchHit:
    page = load_document(candidate.searcher, candidate.address)
    stems = get_stems(page.language) if request.include_snippets else frozenset[str]()
    parts = candidate.score_parts
    if request.explain:
        parts = structs.replace(parts, field_scores=_explain_terms(candidate, compiled))
    return SearchHit(
        url=page.url,
        title=highlight_text(page.title, page.language, stems),
        snippet=build_snippet(page.body or page.headings, page.language, stems) if request.include_snippets else (),
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
    """Return the shares of terms in the text score."""
    queries = [(words, field, Query.boost_query(build_field_query(field, words.split()), FIELD_WEIGHTS[field]))
             for field, words in compiled.scored_terms]  # fmt: skip
    queries += [(word, "related", build_related_query(word, weight)) for word, weight in compiled.related_terms]
    shares = []
    for words, field, query in queries:
        try:
            value = json.loads(query.explain(candidate.searcher, candidate.address).to_json())["value"]
        except ValueError:  # the term is not in this field of the page
            continue
        shares.append((words, field, float(value)))
    return tuple(shares)


def _count_facets(searchers: list[tantivy.Searcher], query: Query, now: float) -> dict[str, tuple[FacetCount, ...]]:
    edges = [now - days * 86400 for _, days in reversed(AGE_RANGES)]
    ranges = [{"from": a, "to": b} for a, b in zip(edges, [*edges[1:], now + 86400], strict=True)]
    aggregations: dict[str, Any] = {
        name: {"terms": {"field": name, "size": FACET_SIZE}} for name in ("site", "type", "language")
    }
    aggregations["changed"] = {"range": {"field": "modified", "ranges": ranges}}
    sums: dict[str, Counter[str]] = {name: Counter() for name in aggregations}
    for searcher in searchers:
        for name, answer in searcher.aggregate(query, aggregations).items():
            sums[name].update(_parse_buckets(name, answer["buckets"], edges))
    facets = {
        n: tuple(FacetCount(v, c) for v, c in sums[n].most_common(FACET_SIZE) if v)
        for n in ("site", "type", "language")
    }
    facets["changed"] = tuple(
        FacetCount(name, sums["changed"][name]) for name, _ in AGE_RANGES if sums["changed"][name]
    )
    return facets


def _parse_buckets(name: str, buckets: list[dict[str, float]], edges: list[float]) -> dict[str, int]:
    if name != "changed":
        return {str(bucket["key"]): int(bucket["doc_count"]) for bucket in buckets}
    counts = [(b["from"], int(b["doc_count"])) for b in buckets if "from" in b and "to" in b]
    range_starts = {name: edge for (name, _), edge in zip(reversed(AGE_RANGES), edges, strict=True)}
    return {name: sum(n for start, n in counts if start >= edge - 1) for name, edge in range_starts.items()}
