"""Parse the query language. Every string is valid."""

import calendar
import re
from collections.abc import Collection
from datetime import UTC, datetime

from msgspec import Struct, structs

from sanderling.search.tokenizer import remove_surrogates, split_scripts

MAX_QUERY_LENGTH = 2_000  # characters; the rest is ignored
MAX_TERMS = 64

_TOKEN = re.compile(r"""(-?)(?:([A-Za-z]+):)?("[^"]*"?|[^\s"]+)""")
_WORD_SEPARATOR = re.compile(r"[^\w+#'’]+|_+")  # splits high-speed, foo_bar and node.js
_AGE = re.compile(r"(\d{1,4})([hdwmy])")
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_UNIT_SECONDS = {"h": 3600.0, "d": 86400.0, "w": 7 * 86400.0, "m": 30 * 86400.0, "y": 365 * 86400.0}


class QueryTerm(Struct, frozen=True):
    """A word or phrase, and its field (empty: any)."""

    text: str
    is_phrase: bool = False
    field: str = ""


class TimeRange(Struct, frozen=True):
    """Seconds since 1970, end exclusive."""

    start: float
    end: float


class QueryFilter(Struct, frozen=True):
    field: str  # site, type or lang
    value: str
    is_excluded: bool = False


class ParsedQuery(Struct, frozen=True):
    """A page must match a term of each group, all filters, and no excluded term."""

    term_groups: tuple[tuple[QueryTerm, ...], ...] = ()
    excluded_terms: tuple[QueryTerm, ...] = ()
    filters: tuple[QueryFilter, ...] = ()
    change_range: TimeRange | None = None  # None: any time
    as_of: float | None = None  # None: the current version

    def get_languages(self) -> tuple[str, ...]:
        return tuple(f.value for f in self.filters if f.field == "lang" and not f.is_excluded)


_FIELD_OPERATORS = {"intitle": "title", "title": "title", "inurl": "url", "url": "url"}
_FILTER_OPERATORS = {"site": "site", "type": "type", "filetype": "type", "lang": "lang", "language": "lang"}


def parse_query(text: str, now: float) -> ParsedQuery:
    """Parse words, "phrases", -excluded, OR and operators such as site: and changed:."""
    parser = _QueryParser()
    for minus, name, value in _TOKEN.findall(remove_surrogates(text[:MAX_QUERY_LENGTH])):
        parser.add_token(minus == "-", name.lower(), value, now)
    return parser.build_query()


class _QueryParser:
    def __init__(self) -> None:
        self.term_groups: list[list[QueryTerm]] = []
        self.excluded_terms: list[QueryTerm] = []
        self.filters: list[QueryFilter] = []
        self.change_range: TimeRange | None = None
        self.as_of: float | None = None
        self.follows_or = False  # the last word was OR

    def add_token(self, is_excluded: bool, name: str, value: str, now: float) -> None:
        bare = value.strip('"').strip()
        if not name and value == "OR":
            self.follows_or = bool(self.term_groups)
        elif name in _FILTER_OPERATORS and bare:
            self.filters.append(
                QueryFilter(_FILTER_OPERATORS[name], normalize_filter_value(_FILTER_OPERATORS[name], bare), is_excluded)
            )
        elif name == "changed" and (time_range := parse_time_range(bare, now)):
            self.change_range = time_range
        elif name == "asof" and (as_of_range := parse_time_range(bare, now)):
            self.as_of = as_of_range.end - 1 if not _AGE.fullmatch(bare) else as_of_range.start
        elif name in _FIELD_OPERATORS and bare:
            self.add_term(is_excluded, QueryTerm(bare, value.startswith('"'), _FIELD_OPERATORS[name]))
        elif is_excluded or value.startswith('"'):
            self.add_term(is_excluded, QueryTerm(f"{name} {bare}".strip(), value.startswith('"')))
        else:
            for word in _WORD_SEPARATOR.split(f"{name} {bare}"):
                for run in split_scripts(word):
                    self.add_term(is_excluded, QueryTerm(run))

    def add_term(self, is_excluded: bool, term: QueryTerm) -> None:
        """Add a term; after OR it is an alternative."""
        if not term.text or len(self.term_groups) + len(self.excluded_terms) >= MAX_TERMS:
            return
        if is_excluded:
            self.excluded_terms.append(term)
        elif self.follows_or:
            self.term_groups[-1].append(term)
        else:
            self.term_groups.append([term])
        self.follows_or = False

    def build_query(self) -> ParsedQuery:
        groups = tuple(tuple(group) for group in self.term_groups)
        return ParsedQuery(
            groups, tuple(self.excluded_terms), tuple(self.filters[:MAX_TERMS]), self.change_range, self.as_of
        )


def drop_terms(query: ParsedQuery, words: Collection[str]) -> ParsedQuery:
    """Drop groups that consist only of these words."""
    groups = tuple(group for group in query.term_groups if any(term.text not in words for term in group))
    return structs.replace(query, term_groups=groups)


def normalize_filter_value(field: str, value: str) -> str:
    """Lower-case a value, except the path of a site."""
    if field != "site":
        return value.lower()
    scheme, marker, rest = value.rpartition("://")
    host, slash, path = rest.partition("/")
    return f"{(scheme + marker + host).lower()}{slash}{path}"


def parse_time_range(text: str, now: float) -> TimeRange | None:
    """Parse 7d, 2025, 2025-03, 2025-03-09, or FROM..TO. None if invalid."""
    if match := _AGE.fullmatch(text.lower()):
        return TimeRange(now - int(match[1]) * _UNIT_SECONDS[match[2]], now + 86400)
    first, dots, last = text.partition("..")
    start, end = _parse_period(first), _parse_period(last if dots else first)
    if dots and not first and end:
        return TimeRange(0, end.end)
    if dots and not last and start:
        return TimeRange(start.start, now + 86400)
    return TimeRange(start.start, end.end) if start and end and start.start < end.end else None


def _parse_period(text: str) -> TimeRange | None:
    match = _DATE.fullmatch(text)
    if not match:
        return None
    year, month, day = int(match[1]), int(match[2] or 0), int(match[3] or 0)
    try:
        start = datetime(year, month or 1, day or 1, tzinfo=UTC)
    except ValueError:
        return None
    if day:
        days = 1
    else:
        months = [month] if month else range(1, 13)
        days = sum(calendar.monthrange(year, m)[1] for m in months)
    return TimeRange(start.timestamp(), start.timestamp() + days * 86400)
