"""A question as tantivy queries: what must match, what adds to the score, what only filters."""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from msgspec import Struct
from tantivy import FieldType, Occur, Query

from sanderling.search.fields import get_type_name
from sanderling.search.query import ParsedQuery, QueryFilter, QueryTerm, TimeRange
from sanderling.search.query_expansion import RelatedTerms
from sanderling.search.schema import FIELD_WEIGHTS, get_schema
from sanderling.search.tokenizer import UNSTEMMED, is_stop_word, is_unspaced, stem_text
from sanderling.urls.normalize import normalize_url

MAX_STRICT_TERMS = (
    3  # up to so many words a page must have all of them; longer questions are sentences, any word counts
)
PROXIMITY_WEIGHT = (
    0.2  # weight of two neighbouring words found side by side, measured in benchmarks/search/search_quality.py
)
MAX_VARIANTS = 4
VERSION_TIME_PATTERN = r"[0-9.e\-]+"  # stands before the URL in the key of an older version (store.version_key)

QueryClause = tuple[Occur, Query]


class CompiledQuery(Struct, frozen=True):
    """Queries for one question."""

    strict_query: Query
    relaxed_query: Query
    strict_matches: Query  # the same pages without what only adds to their score: for counting
    relaxed_matches: Query
    stems: frozenset[str]  # what to highlight
    scored_terms: tuple[tuple[str, str], ...]  # field and stem of every scored term, for the explanation
    group_count: int = 0  # words that mean something
    can_relax: bool = False  # the relaxed query may match more pages than the strict one
    related_terms: RelatedTerms = ()  # words a long question was widened by


def compile_query(query: ParsedQuery, languages: Sequence[str]) -> CompiledQuery | None:
    """Build both queries: with every word of a short question, and with any; None if it asks for nothing."""
    meaningful = remove_stop_words(query.term_groups, languages)
    wanted = [build_group_query(group, languages) for group in meaningful]
    extras = [(Occur.Should, q) for q in build_proximity_queries(meaningful, languages)]
    limits = build_filter_clauses(query, languages)
    if not wanted and (query.term_groups or not (query.filters or query.change_range or query.as_of)):
        return None
    if not wanted:
        everything = Query.const_score_query(Query.all_query(), 1.0)
        alone = Query.boolean_query([(Occur.Must, everything), *limits])
        return CompiledQuery(alone, alone, alone, alone, frozenset(), ())
    every = [(Occur.Must, q) for q in wanted]
    some = [(Occur.Should, build_relaxed_group_query(group, languages)) for group in meaningful]
    relaxed = Query.boolean_query([(Occur.Must, Query.boolean_query([*some, *extras])), *limits])
    any_of = Query.boolean_query([(Occur.Must, Query.boolean_query(some)), *limits])
    is_short = len(wanted) <= MAX_STRICT_TERMS
    strict = Query.boolean_query([*every, *extras, *limits]) if is_short else relaxed
    all_of = Query.boolean_query([*every, *limits]) if is_short else any_of
    shown = frozenset(stem for group in meaningful for term in group for stem in collect_stems(term, languages))
    can_relax = len(query.term_groups) > 1 or any(build_loose_queries(term) for group in meaningful for term in group)
    words = collect_scored_terms(meaningful, languages)
    return CompiledQuery(strict, relaxed, all_of, any_of, shown, words, len(meaningful), can_relax)


def remove_stop_words(
    groups: Sequence[tuple[QueryTerm, ...]], languages: Sequence[str]
) -> tuple[tuple[QueryTerm, ...], ...]:
    """Leave out words that say nothing, unless nothing else was said."""
    main = languages[0] if languages else "en"
    kept = tuple(g for g in groups if any(t.is_phrase or t.field or not is_stop_word(t.text, main) for t in g))
    return tuple(g for g in kept or groups if any(collect_stems(t, languages) for t in g))


def build_stem_variants(text: str, languages: Sequence[str]) -> list[list[str]]:
    """The stems of a text in each language that is at hand, each spelling once."""
    spelt = dict.fromkeys(stem_text(text, language) for language in languages[:MAX_VARIANTS] or (UNSTEMMED,))
    return [spelling.split() for spelling in spelt if spelling]


def collect_stems(term: QueryTerm, languages: Sequence[str]) -> list[str]:
    """Every stem a term may stand for."""
    return [stem for variant in build_stem_variants(term.text, languages) for stem in variant]


def build_group_query(group: tuple[QueryTerm, ...], languages: Sequence[str]) -> Query:
    """One of the alternatives must be there; the best of them counts."""
    choices = [query for term in group for query in build_term_queries(term, languages)]
    return choices[0] if len(choices) == 1 else Query.disjunction_max_query(choices, 0.1)


def build_relaxed_group_query(group: tuple[QueryTerm, ...], languages: Sequence[str]) -> Query:
    """One of the alternatives must match, exactly or by its looser form."""
    looser = [query for term in group for query in build_loose_queries(term)]
    exact = build_group_query(group, languages)
    return Query.boolean_query([(Occur.Should, query) for query in (exact, *looser)]) if looser else exact


def build_loose_queries(term: QueryTerm) -> list[Query]:
    """Queries for a term that is not on the page as typed; none for phrases and most words."""
    if term.is_phrase or term.field:
        return []
    return build_bigram_queries(term) if is_unspaced(term.text) else []


def build_bigram_queries(term: QueryTerm) -> list[Query]:
    """Match half of the character pairs of an unspaced word: where its words end is not known."""
    pairs = stem_text(term.text, UNSTEMMED).split()
    if len(pairs) < 2:
        return []
    found = [(Occur.Should, build_weighted_query([(field, [pair]) for field in FIELD_WEIGHTS])) for pair in pairs]
    return [Query.boolean_query(found, minimum_number_should_match=(len(pairs) + 1) // 2)]


def build_term_queries(term: QueryTerm, languages: Sequence[str]) -> list[Query]:
    """A term as each language spells its stem, in its field or in all of them by weight."""
    return [build_weighted_query(choice) for choice in list_field_stems(term, languages)]


def list_field_stems(term: QueryTerm, languages: Sequence[str]) -> list[list[tuple[str, list[str]]]]:
    """For each spelling the fields to look into, and the stems to look for there. URLs are not stemmed."""
    address = [("address", words) for words in build_stem_variants(term.text, (UNSTEMMED,))]
    if term.field == "url":
        return [address] if address else []
    fields = [term.field] if term.field else [field for field in FIELD_WEIGHTS if field != "address"]
    spelt = [[(field, words) for field in fields] for words in build_stem_variants(term.text, languages)]
    if spelt and not term.field:
        spelt[0] += address
    return spelt


def build_weighted_query(field_stems: list[tuple[str, list[str]]]) -> Query:
    """The same words in several fields, each by its weight."""
    parts = [
        (Occur.Should, Query.boost_query(build_field_query(f, words), FIELD_WEIGHTS[f])) for f, words in field_stems
    ]
    return Query.boolean_query(parts)


def build_field_query(field: str, words: Sequence[str]) -> Query:
    """One word, or several that must stand in this order."""
    if len(words) == 1 and len(words[0]) == 1 and is_unspaced(words[0]):  # indexed as part of two pairs
        return Query.regex_query(get_schema(), field, f"{words[0]}.?|.{words[0]}")
    if len(words) == 1:
        return Query.term_query(get_schema(), field, words[0], "freq")
    return Query.phrase_query(get_schema(), field, [*words])


def build_proximity_queries(groups: Sequence[tuple[QueryTerm, ...]], languages: Sequence[str]) -> Iterable[Query]:
    """Plain words that stood side by side in the question are worth more side by side in the page."""
    plain = [g[0] if len(g) == 1 and not g[0].field and not g[0].is_phrase else None for g in groups]
    for one, two in pairwise(plain):
        if one and two:
            words = [*build_stem_variants(one.text, languages)[0], *build_stem_variants(two.text, languages)[0]]
            if len(set(words)) > 1:
                for field in ("body", "title"):
                    yield Query.boost_query(build_field_query(field, words), PROXIMITY_WEIGHT)


def collect_scored_terms(
    groups: Sequence[tuple[QueryTerm, ...]], languages: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    """Field and stem of the terms that make the score, in the order of the question."""
    terms = [term for group in groups for term in group]
    made = [pair for term in terms for choice in list_field_stems(term, languages) for pair in choice]
    return tuple(dict.fromkeys((field, " ".join(words)) for field, words in made))


def build_filter_clauses(query: ParsedQuery, languages: Sequence[str]) -> list[QueryClause]:
    """Everything that lets pages through or holds them back, without touching the score."""
    made: list[QueryClause] = [(Occur.MustNot, Query.term_query(get_schema(), "mark", "batch", "basic"))]
    for field in ("site", "type", "lang"):
        mine = [f for f in query.filters if f.field == field]
        made += [(Occur.MustNot, build_filter_query(f)) for f in mine if f.is_excluded]
        allowed = [(Occur.Should, build_filter_query(f)) for f in mine if not f.is_excluded]
        if allowed:
            made.append((Occur.Must, remove_score(Query.boolean_query(allowed))))
    made += [(Occur.MustNot, q) for term in query.excluded_terms for q in build_term_queries(term, languages)]
    if query.change_range:
        made.append((Occur.Must, remove_score(build_change_query(query.change_range))))
    if query.as_of is not None:
        made.append((Occur.Must, remove_score(build_as_of_query(int(query.as_of)))))
    return made


def remove_score(query: Query) -> Query:
    """Let a query filter and add nothing to the score."""
    return Query.const_score_query(query, 0.0)


def build_filter_query(condition: QueryFilter) -> Query:
    """One condition of the question."""
    if condition.field == "site":
        return build_site_query(condition.value)
    if condition.field == "lang":
        return Query.term_query(get_schema(), "language", condition.value, "basic")
    named = get_type_name(condition.value) if "/" in condition.value else condition.value
    return Query.term_query(get_schema(), "type", named, "basic")


def build_site_query(value: str) -> Query:
    """A site with everything under it: a domain, a host with a port, or a host and the start of a path."""
    host, path = split_site_filter(value)
    name = Query.term_query(get_schema(), "sites", host.strip("."), "basic")
    if not path:
        return name
    try:
        below = Query.regex_query(
            get_schema(), "key", f"({VERSION_TIME_PATTERN} )?[a-z]+://[^/]*{escape_regex(path)}.*"
        )
    except ValueError:  # too large for the pattern compiler: then the host alone must do
        return name
    return Query.boolean_query([(Occur.Must, name), (Occur.Must, below)])


def split_site_filter(value: str) -> tuple[str, str]:
    """Split a site filter into host and path, both spelled as in stored URLs; the path is empty for a whole host."""
    bare = re.sub(r"^[a-z][a-z0-9+.-]*://", "", value)
    host, slash, path = bare.partition("/")
    known = normalize_url(f"https://{host}/{path}") if path or not host.isascii() else None
    if known is None:
        return host, slash + path if path else ""
    host, _, path = known.url.removeprefix("https://").partition("/")
    return host, f"/{path}" if path else ""


def escape_regex(text: str) -> str:
    """Escape what the pattern language of tantivy would take for more than itself."""
    return re.sub(r"([^\w/])", r"\\\1", text[:200], flags=re.ASCII)


def build_change_query(time_range: TimeRange) -> Query:
    """Pages that changed in that stretch of time; the first version of a page is no change."""
    start, end = max(1, int(time_range.start)), int(min(time_range.end, 2**53))
    return Query.range_query(get_schema(), "modified", FieldType.Integer, start, end, True, False)


def build_as_of_query(timestamp: int) -> Query:
    """Versions that were the present one at that moment."""
    begun = Query.range_query(get_schema(), "changed", FieldType.Integer, 0, timestamp, True, True)
    not_over = Query.range_query(get_schema(), "until", FieldType.Integer, timestamp, 2**62, False, True)
    return Query.boolean_query([(Occur.Must, begun), (Occur.Must, not_over)])
