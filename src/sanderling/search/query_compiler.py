"""A question as tantivy queries: what must match, what adds to the score, what only filters."""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from msgspec import Struct
from tantivy import FieldType, Occur, Query

from sanderling.search.fields import type_of
from sanderling.search.query import Filter, Question, Span, Term
from sanderling.search.query_expansion import Related
from sanderling.search.schema import WEIGHTS, schema
from sanderling.search.tokenizer import UNSTEMMED, is_stop_word, stems, unspaced
from sanderling.urls.normalize import normalise

ALL_WORDS = 3  # up to so many words a page must have all of them; longer questions are sentences, any word counts
NEARNESS = 0.2  # weight of two neighbouring words found side by side, measured in benchmarks/search/search_quality.py
MOST_VARIANTS = 4
VERSION_TIME = r"[0-9.e\-]+"  # stands before the URL in the key of an older version (store.version_key)

Clause = tuple[Occur, Query]


class Compiled(Struct, frozen=True):
    """Queries for one question."""

    strict: Query
    relaxed: Query
    strict_matches: Query  # the same pages without what only adds to their score: for counting
    relaxed_matches: Query
    stems: frozenset[str]  # what to highlight
    words: tuple[tuple[str, str], ...]  # field and stem of every scored term, for the explanation
    groups: int = 0  # words that mean something
    can_relax: bool = False  # the relaxed query may match more pages than the strict one
    related: Related = ()  # words a long question was widened by


def compile_question(question: Question, languages: Sequence[str]) -> Compiled | None:
    """Build both queries: with every word of a short question, and with any; None if it asks for nothing."""
    meaningful = without_stop_words(question.wanted, languages)
    wanted = [group_query(group, languages) for group in meaningful]
    extras = [(Occur.Should, q) for q in neighbours(meaningful, languages)]
    limits = conditions(question, languages)
    if not wanted and (question.wanted or not (question.filters or question.changed or question.as_of)):
        return None
    if not wanted:
        everything = Query.const_score_query(Query.all_query(), 1.0)
        alone = Query.boolean_query([(Occur.Must, everything), *limits])
        return Compiled(alone, alone, alone, alone, frozenset(), ())
    every = [(Occur.Must, q) for q in wanted]
    some = [(Occur.Should, relaxed_group(group, languages)) for group in meaningful]
    relaxed = Query.boolean_query([(Occur.Must, Query.boolean_query([*some, *extras])), *limits])
    any_of = Query.boolean_query([(Occur.Must, Query.boolean_query(some)), *limits])
    is_short = len(wanted) <= ALL_WORDS
    strict = Query.boolean_query([*every, *extras, *limits]) if is_short else relaxed
    all_of = Query.boolean_query([*every, *limits]) if is_short else any_of
    shown = frozenset(stem for group in meaningful for term in group for stem in all_stems(term, languages))
    can_relax = len(question.wanted) > 1 or any(looser_queries(term) for group in meaningful for term in group)
    words = scored_words(meaningful, languages)
    return Compiled(strict, relaxed, all_of, any_of, shown, words, len(meaningful), can_relax)


def without_stop_words(groups: Sequence[tuple[Term, ...]], languages: Sequence[str]) -> tuple[tuple[Term, ...], ...]:
    """Leave out words that say nothing, unless nothing else was said."""
    main = languages[0] if languages else "en"
    kept = tuple(g for g in groups if any(t.phrase or t.field or not is_stop_word(t.text, main) for t in g))
    return tuple(g for g in kept or groups if any(all_stems(t, languages) for t in g))


def variants(text: str, languages: Sequence[str]) -> list[list[str]]:
    """The stems of a text in each language that is at hand, each spelling once."""
    spelt = dict.fromkeys(stems(text, language) for language in languages[:MOST_VARIANTS] or (UNSTEMMED,))
    return [spelling.split() for spelling in spelt if spelling]


def all_stems(term: Term, languages: Sequence[str]) -> list[str]:
    """Every stem a term may stand for."""
    return [stem for variant in variants(term.text, languages) for stem in variant]


def group_query(group: tuple[Term, ...], languages: Sequence[str]) -> Query:
    """One of the alternatives must be there; the best of them counts."""
    choices = [query for term in group for query in term_queries(term, languages)]
    return choices[0] if len(choices) == 1 else Query.disjunction_max_query(choices, 0.1)


def relaxed_group(group: tuple[Term, ...], languages: Sequence[str]) -> Query:
    """One of the alternatives must match, exactly or by its looser form."""
    looser = [query for term in group for query in looser_queries(term)]
    exact = group_query(group, languages)
    return Query.boolean_query([(Occur.Should, query) for query in (exact, *looser)]) if looser else exact


def looser_queries(term: Term) -> list[Query]:
    """Queries for a term that is not on the page as typed; none for phrases and most words."""
    if term.phrase or term.field:
        return []
    return sign_queries(term) if unspaced(term.text) else []


def sign_queries(term: Term) -> list[Query]:
    """Match half of the character pairs of an unspaced word: where its words end is not known."""
    pairs = stems(term.text, UNSTEMMED).split()
    if len(pairs) < 2:
        return []
    found = [(Occur.Should, weighted([(field, [pair]) for field in WEIGHTS])) for pair in pairs]
    return [Query.boolean_query(found, minimum_number_should_match=(len(pairs) + 1) // 2)]


def term_queries(term: Term, languages: Sequence[str]) -> list[Query]:
    """A term as each language spells its stem, in its field or in all of them by weight."""
    return [weighted(choice) for choice in choices_of(term, languages)]


def choices_of(term: Term, languages: Sequence[str]) -> list[list[tuple[str, list[str]]]]:
    """For each spelling the fields to look into, and the stems to look for there. URLs are not stemmed."""
    address = [("address", words) for words in variants(term.text, (UNSTEMMED,))]
    if term.field == "url":
        return [address] if address else []
    fields = [term.field] if term.field else [field for field in WEIGHTS if field != "address"]
    spelt = [[(field, words) for field in fields] for words in variants(term.text, languages)]
    if spelt and not term.field:
        spelt[0] += address
    return spelt


def weighted(choice: list[tuple[str, list[str]]]) -> Query:
    """The same words in several fields, each by its weight."""
    parts = [(Occur.Should, Query.boost_query(field_query(f, words), WEIGHTS[f])) for f, words in choice]
    return Query.boolean_query(parts)


def field_query(field: str, words: Sequence[str]) -> Query:
    """One word, or several that must stand in this order."""
    if len(words) == 1 and len(words[0]) == 1 and unspaced(words[0]):  # indexed as part of two pairs
        return Query.regex_query(schema(), field, f"{words[0]}.?|.{words[0]}")
    if len(words) == 1:
        return Query.term_query(schema(), field, words[0], "freq")
    return Query.phrase_query(schema(), field, [*words])


def neighbours(groups: Sequence[tuple[Term, ...]], languages: Sequence[str]) -> Iterable[Query]:
    """Plain words that stood side by side in the question are worth more side by side in the page."""
    plain = [g[0] if len(g) == 1 and not g[0].field and not g[0].phrase else None for g in groups]
    for one, two in pairwise(plain):
        if one and two:
            words = [*variants(one.text, languages)[0], *variants(two.text, languages)[0]]
            if len(set(words)) > 1:
                for field in ("body", "title"):
                    yield Query.boost_query(field_query(field, words), NEARNESS)


def scored_words(groups: Sequence[tuple[Term, ...]], languages: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Field and stem of the terms that make the score, in the order of the question."""
    terms = [term for group in groups for term in group]
    made = [pair for term in terms for choice in choices_of(term, languages) for pair in choice]
    return tuple(dict.fromkeys((field, " ".join(words)) for field, words in made))


def conditions(question: Question, languages: Sequence[str]) -> list[Clause]:
    """Everything that lets pages through or holds them back, without touching the score."""
    made: list[Clause] = [(Occur.MustNot, Query.term_query(schema(), "mark", "batch", "basic"))]
    for field in ("site", "type", "lang"):
        mine = [f for f in question.filters if f.field == field]
        made += [(Occur.MustNot, filter_query(f)) for f in mine if f.unwanted]
        allowed = [(Occur.Should, filter_query(f)) for f in mine if not f.unwanted]
        if allowed:
            made.append((Occur.Must, unscored(Query.boolean_query(allowed))))
    made += [(Occur.MustNot, q) for term in question.unwanted for q in term_queries(term, languages)]
    if question.changed:
        made.append((Occur.Must, unscored(changed_within(question.changed))))
    if question.as_of is not None:
        made.append((Occur.Must, unscored(alive_at(int(question.as_of)))))
    return made


def unscored(query: Query) -> Query:
    """Let a query filter and add nothing to the score."""
    return Query.const_score_query(query, 0.0)


def filter_query(wish: Filter) -> Query:
    """One condition of the question."""
    if wish.field == "site":
        return site_query(wish.value)
    if wish.field == "lang":
        return Query.term_query(schema(), "language", wish.value, "basic")
    named = type_of(wish.value) if "/" in wish.value else wish.value
    return Query.term_query(schema(), "type", named, "basic")


def site_query(value: str) -> Query:
    """A site with everything under it: a domain, a host with a port, or a host and the start of a path."""
    host, path = site_parts(value)
    name = Query.term_query(schema(), "sites", host.strip("."), "basic")
    if not path:
        return name
    try:
        below = Query.regex_query(schema(), "key", f"({VERSION_TIME} )?[a-z]+://[^/]*{literal(path)}.*")
    except ValueError:  # too large for the pattern compiler: then the host alone must do
        return name
    return Query.boolean_query([(Occur.Must, name), (Occur.Must, below)])


def site_parts(value: str) -> tuple[str, str]:
    """Split a site filter into host and path, both spelled as in stored URLs; the path is empty for a whole host."""
    bare = re.sub(r"^[a-z][a-z0-9+.-]*://", "", value)
    host, slash, path = bare.partition("/")
    known = normalise(f"https://{host}/{path}") if path or not host.isascii() else None
    if known is None:
        return host, slash + path if path else ""
    host, _, path = known.url.removeprefix("https://").partition("/")
    return host, f"/{path}" if path else ""


def literal(text: str) -> str:
    """Escape what the pattern language of tantivy would take for more than itself."""
    return re.sub(r"([^\w/])", r"\\\1", text[:200], flags=re.ASCII)


def changed_within(span: Span) -> Query:
    """Pages that changed in that stretch of time; the first version of a page is no change."""
    start, end = max(1, int(span.start)), int(min(span.end, 2**53))
    return Query.range_query(schema(), "modified", FieldType.Integer, start, end, True, False)


def alive_at(moment: int) -> Query:
    """Versions that were the present one at that moment."""
    begun = Query.range_query(schema(), "changed", FieldType.Integer, 0, moment, True, True)
    not_over = Query.range_query(schema(), "until", FieldType.Integer, moment, 2**62, False, True)
    return Query.boolean_query([(Occur.Must, begun), (Occur.Must, not_over)])
