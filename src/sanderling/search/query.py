"""What the user typed, understood. Every string is a question; nothing raises."""

import calendar
import re
from collections.abc import Collection
from datetime import UTC, datetime

from msgspec import Struct, structs

from sanderling.search.tokenizer import clean, script_runs

LONGEST = 2_000  # characters read of a question
MOST_TERMS = 64

_TOKEN = re.compile(r"""(-?)(?:([A-Za-z]+):)?("[^"]*"?|[^\s"]+)""")
_JOINT = re.compile(r"[^\w+#'’]+|_+")  # where high-speed, foo_bar and node.js fall into words
_AGE = re.compile(r"(\d{1,4})([hdwmy])")
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_SECONDS = {"h": 3600.0, "d": 86400.0, "w": 7 * 86400.0, "m": 30 * 86400.0, "y": 365 * 86400.0}


class Term(Struct, frozen=True):
    """A word or a phrase, and the field it must be in (empty: any)."""

    text: str
    phrase: bool = False
    field: str = ""


class Span(Struct, frozen=True):
    """A stretch of time in seconds since 1970: start included, end not."""

    start: float
    end: float


class Filter(Struct, frozen=True):
    """One condition on a page, or its opposite."""

    field: str  # site, type or lang
    value: str
    unwanted: bool = False


class Question(Struct, frozen=True):
    """Groups of which one term each is wanted, what is unwanted, and conditions."""

    wanted: tuple[tuple[Term, ...], ...] = ()
    unwanted: tuple[Term, ...] = ()
    filters: tuple[Filter, ...] = ()
    changed: Span | None = None  # None: whenever
    as_of: float | None = None  # None: as it is now

    def languages(self) -> tuple[str, ...]:
        """The languages asked for."""
        return tuple(f.value for f in self.filters if f.field == "lang" and not f.unwanted)


_FIELDS = {"intitle": "title", "title": "title", "inurl": "url", "url": "url"}
_FILTERS = {"site": "site", "type": "type", "filetype": "type", "lang": "lang", "language": "lang"}


def understand(text: str, now: float) -> Question:
    """Read a question: words, "phrases", -without, OR, site: type: lang: changed: asof: intitle: inurl:."""
    reading = _Reading()
    for minus, name, value in _TOKEN.findall(clean(text[:LONGEST])):
        reading.take(minus == "-", name.lower(), value, now)
    return reading.question()


class _Reading:
    """What has been read so far of one question."""

    def __init__(self) -> None:
        self.wanted: list[list[Term]] = []
        self.unwanted: list[Term] = []
        self.filters: list[Filter] = []
        self.changed: Span | None = None
        self.as_of: float | None = None
        self.either = False  # the last word was OR

    def take(self, minus: bool, name: str, value: str, now: float) -> None:
        """Take one token for what it is; what means nothing special is a word."""
        bare = value.strip('"').strip()
        if not name and value == "OR":
            self.either = bool(self.wanted)
        elif name in _FILTERS and bare:
            self.filters.append(Filter(_FILTERS[name], filter_value(_FILTERS[name], bare), minus))
        elif name == "changed" and (span := span_of(bare, now)):
            self.changed = span
        elif name == "asof" and (day := span_of(bare, now)):
            self.as_of = day.end - 1 if not _AGE.fullmatch(bare) else day.start
        elif name in _FIELDS and bare:
            self.add(minus, Term(bare, value.startswith('"'), _FIELDS[name]))
        elif minus or value.startswith('"'):
            self.add(minus, Term(f"{name} {bare}".strip(), value.startswith('"')))
        else:
            for word in _JOINT.split(f"{name} {bare}"):
                for run in script_runs(word):
                    self.add(minus, Term(run))

    def add(self, minus: bool, term: Term) -> None:
        """Add a term, beside the last one if OR stood between them."""
        if not term.text or len(self.wanted) + len(self.unwanted) >= MOST_TERMS:
            return
        if minus:
            self.unwanted.append(term)
        elif self.either:
            self.wanted[-1].append(term)
        else:
            self.wanted.append([term])
        self.either = False

    def question(self) -> Question:
        """Close the reading."""
        groups = tuple(tuple(group) for group in self.wanted)
        return Question(groups, tuple(self.unwanted), tuple(self.filters[:MOST_TERMS]), self.changed, self.as_of)


def without(question: Question, words: Collection[str]) -> Question:
    """Drop the groups of which every term is one of these words."""
    kept = tuple(group for group in question.wanted if any(term.text not in words for term in group))
    return structs.replace(question, wanted=kept)


def filter_value(field: str, value: str) -> str:
    """Lower-case a filter value, except the path of a site: paths are case-sensitive."""
    if field != "site":
        return value.lower()
    scheme, marker, rest = value.rpartition("://")
    host, slash, path = rest.partition("/")
    return f"{(scheme + marker + host).lower()}{slash}{path}"


def span_of(text: str, now: float) -> Span | None:
    """Read 7d, 2025, 2025-03, 2025-03-09, or FROM..TO of those; None if it is none of them."""
    if match := _AGE.fullmatch(text.lower()):
        return Span(now - int(match[1]) * _SECONDS[match[2]], now + 86400)
    first, dots, last = text.partition("..")
    start, end = _period(first), _period(last if dots else first)
    if dots and not first and end:
        return Span(0, end.end)
    if dots and not last and start:
        return Span(start.start, now + 86400)
    return Span(start.start, end.end) if start and end and start.start < end.end else None


def _period(text: str) -> Span | None:
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
    return Span(start.timestamp(), start.timestamp() + days * 86400)
