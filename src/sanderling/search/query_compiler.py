"""Compile parsed queries to tantivy queries."""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from msgspec import Struct
from tantivy import FieldType, Occur, Query

from sanderling.http.content_type import get_type_name
from sanderling.search.compounds import MAX_WORDS, FrequencyLookup, join_words, split_compound
from sanderling.search.query import ParsedQuery, QueryFilter, QueryTerm, TimeRange
from sanderling.search.query_expansion import RelatedTerms
from sanderling.search.schema import FIELD_WEIGHTS, get_schema
from sanderling.search.tokenizer import UNSTEMMED, is_stop_word, is_unspaced, stem_text
from sanderling.urls.normalize import normalize_url

MAX_STRICT_TERMS = 3  # queries up to this length require all terms; longer ones are usually sentences
PROXIMITY_WEIGHT = 0.2  # of two adjacent query words adjacent in the page; from benchmarks/search/search_quality.py
COMPOUND_SLOP = 2  # words between the parts: Konfiguration der Drucker
MAX_VARIANTS = 4
VERSION_TIME_PATTERN = r"[0-9.e\-]+"  # precedes the URL in the key of an older version (build_version_key)

QueryClause = tuple[Occur, Query]


class Compounds(Struct, frozen=True):
    """Compounds of a query, by language: the parts of its words, and indexed compounds of two of its words."""

    parts: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {}  # word: (language, stems)
    joined: tuple[tuple[str, str], ...] = ()  # (language, stem)

    def has_any(self) -> bool:
        return bool(self.parts or self.joined)

    def collect_stems(self, language: str) -> set[str]:
        split = {
            stem for options in self.parts.values() for code, stems in options for stem in stems if code == language
        }
        return split | {stem for code, stem in self.joined if code == language}


class CompiledQuery(Struct, frozen=True):
    strict_query: Query
    relaxed_query: Query
    strict_matches: Query  # the same matches without scoring clauses, for counting
    relaxed_matches: Query
    texts: tuple[str, ...]  # words and phrases, to highlight
    scored_terms: tuple[tuple[str, str], ...]  # (field, stem) pairs, for the explanation
    group_count: int = 0  # without stop words
    can_relax: bool = False  # the relaxed query may match more pages
    related_terms: RelatedTerms = ()
    compounds: Compounds = Compounds()

    def collect_stems(self, language: str) -> frozenset[str]:
        """Return the stems to highlight in a page of a language."""
        stems = {stem for text in self.texts for stem in stem_text(text, language).split()}
        return frozenset(stems | self.compounds.collect_stems(language))


def compile_query(
    query: ParsedQuery, languages: Sequence[str], get_frequency: FrequencyLookup | None = None
) -> CompiledQuery | None:
    """Compile strict (all terms) and relaxed (any term, parts of compounds) queries. None if empty.

    Without `get_frequency`, compounds are not searched.
    """
    groups = remove_stop_words(query.term_groups, languages)
    group_queries = [build_group_query(group, languages) for group in groups]
    proximity = [(Occur.Should, q) for q in build_proximity_queries(groups, languages)]
    filters = build_filter_clauses(query, languages)
    if not group_queries and (query.term_groups or not (query.filters or query.change_range or query.as_of)):
        return None
    if not group_queries:
        everything = Query.const_score_query(Query.all_query(), 1.0)
        filter_only = Query.boolean_query([(Occur.Must, everything), *filters])
        return CompiledQuery(filter_only, filter_only, filter_only, filter_only, (), ())
    required = [(Occur.Must, q) for q in group_queries]
    compounds = find_compounds(groups, languages, get_frequency) if get_frequency else Compounds()
    optional = [(Occur.Should, build_relaxed_group_query(group, languages, compounds)) for group in groups]
    optional += [(Occur.Should, build_parts_query(language, (stem,))) for language, stem in compounds.joined]
    relaxed = Query.boolean_query([(Occur.Must, Query.boolean_query([*optional, *proximity])), *filters])
    relaxed_matches = Query.boolean_query([(Occur.Must, Query.boolean_query(optional)), *filters])
    is_short = len(group_queries) <= MAX_STRICT_TERMS
    strict = Query.boolean_query([*required, *proximity, *filters]) if is_short else relaxed
    strict_matches = Query.boolean_query([*required, *filters]) if is_short else relaxed_matches
    texts = tuple(term.text for group in groups for term in group)
    loose_queries = [q for group in groups for term in group for q in build_loose_queries(term, compounds)]
    can_relax = len(query.term_groups) > 1 or bool(loose_queries)
    scored_terms = collect_scored_terms(groups, languages)
    return CompiledQuery(
        strict, relaxed, strict_matches, relaxed_matches, texts, scored_terms, len(groups),
        can_relax, compounds=compounds,
    )  # fmt: skip


def remove_stop_words(
    groups: Sequence[tuple[QueryTerm, ...]], languages: Sequence[str]
) -> tuple[tuple[QueryTerm, ...], ...]:
    """Remove stop words, unless nothing else remains."""
    language = languages[0] if languages else "en"
    remaining = tuple(g for g in groups if any(t.is_phrase or t.field or not is_stop_word(t.text, language) for t in g))
    return tuple(g for g in remaining or groups if any(collect_stems(t, languages) for t in g))


def build_stem_variants(text: str, languages: Sequence[str]) -> list[list[str]]:
    """Return the distinct stems of a text across languages."""
    variants = dict.fromkeys(stem_text(text, language) for language in languages[:MAX_VARIANTS] or (UNSTEMMED,))
    return [variant.split() for variant in variants if variant]


def collect_stems(term: QueryTerm, languages: Sequence[str]) -> list[str]:
    return [stem for variant in build_stem_variants(term.text, languages) for stem in variant]


def build_group_query(group: tuple[QueryTerm, ...], languages: Sequence[str]) -> Query:
    """Match any alternative, scored by the best."""
    queries = [query for term in group for query in build_term_queries(term, languages)]
    return queries[0] if len(queries) == 1 else Query.disjunction_max_query(queries, 0.1)


def find_compounds(
    groups: Sequence[tuple[QueryTerm, ...]], languages: Sequence[str], get_frequency: FrequencyLookup
) -> Compounds:
    """Split the plain words of a query, and join pairs of them, by the words of the index."""
    words = [term.text for group in groups for term in group if not term.is_phrase and not term.field][:MAX_WORDS]
    parts = {
        word: tuple((code, stems) for code in languages if (stems := split_compound(word, code, get_frequency)))
        for word in words
    }
    joined = [(code, stem) for code in languages for stem in join_words(words, code, get_frequency)]
    return Compounds({word: options for word, options in parts.items() if options}, tuple(joined))


def build_parts_query(language: str, stems: Sequence[str]) -> Query:
    """Match pages of a language with all stems, best close together in reverse order."""
    clauses = [(Occur.Must, remove_score(Query.term_query(get_schema(), "language", language, "basic")))]
    clauses += [(Occur.Must, build_weighted_query([(field, [stem]) for field in FIELD_WEIGHTS])) for stem in stems]
    if len(set(stems)) > 1:
        close = Query.phrase_query(get_schema(), "body", [*reversed(stems)], COMPOUND_SLOP)
        clauses.append((Occur.Should, Query.boost_query(close, PROXIMITY_WEIGHT)))
    return Query.boolean_query(clauses)


def build_relaxed_group_query(group: tuple[QueryTerm, ...], languages: Sequence[str], compounds: Compounds) -> Query:
    """Match any alternative, exactly or loosely."""
    loose_queries = [query for term in group for query in build_loose_queries(term, compounds)]
    exact = build_group_query(group, languages)
    return Query.boolean_query([(Occur.Should, query) for query in (exact, *loose_queries)]) if loose_queries else exact


def build_loose_queries(term: QueryTerm, compounds: Compounds) -> list[Query]:
    """Return loose queries, which only compounds and words of unspaced scripts have."""
    if term.is_phrase or term.field:
        return []
    if is_unspaced(term.text):
        return build_bigram_queries(term)
    return [build_parts_query(language, stems) for language, stems in compounds.parts.get(term.text, ())]


def build_bigram_queries(term: QueryTerm) -> list[Query]:
    """Match half of the bigrams: word boundaries are unknown."""
    bigrams = stem_text(term.text, UNSTEMMED).split()
    if len(bigrams) < 2:
        return []
    clauses = [
        (Occur.Should, build_weighted_query([(field, [bigram]) for field in FIELD_WEIGHTS])) for bigram in bigrams
    ]
    return [Query.boolean_query(clauses, minimum_number_should_match=(len(bigrams) + 1) // 2)]


def build_term_queries(term: QueryTerm, languages: Sequence[str]) -> list[Query]:
    return [build_weighted_query(field_stems) for field_stems in list_field_stems(term, languages)]


def list_field_stems(term: QueryTerm, languages: Sequence[str]) -> list[list[tuple[str, list[str]]]]:
    """Return fields and stems per variant. URLs are not stemmed."""
    address = [("address", words) for words in build_stem_variants(term.text, (UNSTEMMED,))]
    if term.field == "url":
        return [address] if address else []
    fields = [term.field] if term.field else [field for field in FIELD_WEIGHTS if field != "address"]
    variants = [[(field, words) for field in fields] for words in build_stem_variants(term.text, languages)]
    if variants and not term.field:
        variants[0] += address
    return variants


def build_weighted_query(field_stems: list[tuple[str, list[str]]]) -> Query:
    parts = [
        (Occur.Should, Query.boost_query(build_field_query(f, words), FIELD_WEIGHTS[f])) for f, words in field_stems
    ]
    return Query.boolean_query(parts)


def build_field_query(field: str, words: Sequence[str]) -> Query:
    """Match a stem, or several as a phrase."""
    if len(words) == 1 and len(words[0]) == 1 and is_unspaced(words[0]):  # indexed as part of two bigrams
        return Query.regex_query(get_schema(), field, f"{words[0]}.?|.{words[0]}")
    if len(words) == 1:
        return Query.term_query(get_schema(), field, words[0], "freq")
    return Query.phrase_query(get_schema(), field, [*words])


def build_proximity_queries(groups: Sequence[tuple[QueryTerm, ...]], languages: Sequence[str]) -> Iterable[Query]:
    plain_terms = [g[0] if len(g) == 1 and not g[0].field and not g[0].is_phrase else None for g in groups]
    for first, second in pairwise(plain_terms):
        if first and second:
            words = [*build_stem_variants(first.text, languages)[0], *build_stem_variants(second.text, languages)[0]]
            if len(set(words)) > 1:
                for field in ("body", "title"):
                    yield Query.boost_query(build_field_query(field, words), PROXIMITY_WEIGHT)


def collect_scored_terms(
    groups: Sequence[tuple[QueryTerm, ...]], languages: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    terms = [term for group in groups for term in group]
    pairs = [pair for term in terms for field_stems in list_field_stems(term, languages) for pair in field_stems]
    return tuple(dict.fromkeys((field, " ".join(words)) for field, words in pairs))


def build_filter_clauses(query: ParsedQuery, languages: Sequence[str]) -> list[QueryClause]:
    """Return clauses that do not affect the score."""
    clauses: list[QueryClause] = [(Occur.MustNot, Query.term_query(get_schema(), "mark", "batch", "basic"))]
    for field in ("site", "type", "lang"):
        field_filters = [f for f in query.filters if f.field == field]
        clauses += [(Occur.MustNot, build_filter_query(f)) for f in field_filters if f.is_excluded]
        allowed = [(Occur.Should, build_filter_query(f)) for f in field_filters if not f.is_excluded]
        if allowed:
            clauses.append((Occur.Must, remove_score(Query.boolean_query(allowed))))
    clauses += [(Occur.MustNot, q) for term in query.excluded_terms for q in build_term_queries(term, languages)]
    if query.change_range:
        clauses.append((Occur.Must, remove_score(build_change_query(query.change_range))))
    if query.as_of is not None:
        clauses.append((Occur.Must, remove_score(build_as_of_query(int(query.as_of)))))
    return clauses


def remove_score(query: Query) -> Query:
    return Query.const_score_query(query, 0.0)


def build_filter_query(condition: QueryFilter) -> Query:
    if condition.field == "site":
        return build_site_query(condition.value)
    if condition.field == "lang":
        return Query.term_query(get_schema(), "language", condition.value, "basic")
    type_name = get_type_name(condition.value) if "/" in condition.value else condition.value
    return Query.term_query(get_schema(), "type", type_name, "basic")


def build_site_query(value: str) -> Query:
    """Match a domain, host with port, or path prefix."""
    host, path = split_site_filter(value)
    host_query = Query.term_query(get_schema(), "sites", host.strip("."), "basic")
    if not path:
        return host_query
    try:
        path_query = Query.regex_query(
            get_schema(), "key", f"({VERSION_TIME_PATTERN} )?[a-z]+://[^/]*{escape_regex(path)}.*"
        )
    except ValueError:  # the path is too long for the regex compiler: match the host alone
        return host_query
    return Query.boolean_query([(Occur.Must, host_query), (Occur.Must, path_query)])


def split_site_filter(value: str) -> tuple[str, str]:
    """Split into host and path, normalized like stored URLs."""
    rest = re.sub(r"^[a-z][a-z0-9+.-]*://", "", value)
    host, slash, path = rest.partition("/")
    normalized = normalize_url(f"https://{host}/{path}") if path or not host.isascii() else None
    if normalized is None:
        return host, slash + path if path else ""
    host, _, path = normalized.url.removeprefix("https://").partition("/")
    return host, f"/{path}" if path else ""


def escape_regex(text: str) -> str:
    return re.sub(r"([^\w/])", r"\\\1", text[:200], flags=re.ASCII)


def build_change_query(time_range: TimeRange) -> Query:
    """Match changes in a time range; a first version is not a change."""
    start, end = max(1, int(time_range.start)), int(min(time_range.end, 2**53))
    return Query.range_query(get_schema(), "modified", FieldType.Integer, start, end, True, False)


def build_as_of_query(timestamp: int) -> Query:
    """Match versions that were current at a time."""
    started = Query.range_query(get_schema(), "changed", FieldType.Integer, 0, timestamp, True, True)
    not_ended = Query.range_query(get_schema(), "until", FieldType.Integer, timestamp, 2**62, False, True)
    return Query.boolean_query([(Occur.Must, started), (Occur.Must, not_ended)])
