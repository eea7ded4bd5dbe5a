"""How many URLs of one pattern a host may give: what no rule about a single URL can tell.

A pattern is a path with its numbers struck out and the names of its parameters. Counted are URLs with a query, and
paths with a date; plain paths are never refused, however many there are. The table is bounded: when it is full, the
patterns seen least go, so that a host with endless patterns cannot fill memory, and those seen most stay counted.
"""

import re
from heapq import nsmallest

import msgspec
from msgspec import Struct
from xxhash import xxh3_64_intdigest

from sanderling.urls.normalize import split_url

PATTERN_LIMITS = (100_000, 100_000, 50_000, 10_000)  # URLs of one pattern with a date, 1, 2, 3 or more parameters
MAX_PARAMETER_SETS = 500  # sets of parameter names one path may come with: facets combine without end
MAX_PATTERNS = 200_000  # patterns remembered; about 20 MB

_DIGITS = re.compile(r"\d+")
_DATE = re.compile(r"/\d{4}/\d{1,2}(?:/|$)").search
_MAX_NAMES = 16


class PatternCounts(Struct):
    """The stored form of a PatternBudget."""

    counts: dict[int, int]


class PatternBudget:
    """Count new URLs by pattern and say when one has had enough. Feed it every new URL once."""

    def __init__(
        self,
        limits: tuple[int, int, int, int] = PATTERN_LIMITS,
        max_parameter_sets: int = MAX_PARAMETER_SETS,
        max_patterns: int = MAX_PATTERNS,
    ) -> None:
        self._limits = limits
        self._max_parameter_sets = max_parameter_sets
        self._max_patterns = max_patterns
        self._counts: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._counts)

    def count_url(self, url: str) -> str:
        """Count a URL; say why it is one too many, or nothing. A refused URL is not counted."""
        if "?" not in url and not _DATE(url):
            return ""  # a plain path, as most are
        path, names = _extract_pattern(url)
        if not names and not path:
            return ""
        shape, key = (xxh3_64_intdigest(text.encode()) for text in (path, path + "?" + "&".join(names)))
        seen = self._counts.get(key, 0)
        if seen >= self._limits[min(len(names), 3)]:
            return f"more than {seen} URLs of one pattern"
        if seen == 0 and names:
            if self._counts.get(shape, 0) >= self._max_parameter_sets:
                return f"more than {self._max_parameter_sets} sets of parameters on one path"
            self._counts[shape] = self._counts.get(shape, 0) + 1
        self._counts[key] = seen + 1
        if len(self._counts) > self._max_patterns:
            self._evict_rarest()
        return ""

    def dump(self) -> bytes:
        """Give what must survive a restart."""
        return msgspec.msgpack.encode(PatternCounts(self._counts))

    def load(self, stored: bytes) -> None:
        """Take over what `dump` gave."""
        self._counts = msgspec.msgpack.decode(stored, type=PatternCounts).counts

    def _evict_rarest(self) -> None:
        """Drop the quarter that was seen least."""
        for key in nsmallest(len(self._counts) // 4, self._counts, key=self._counts.__getitem__):
            del self._counts[key]


def _extract_pattern(url: str) -> tuple[str, list[str]]:
    """Part a URL into its struck-out path and parameter names; both empty if it is not to be counted."""
    host, rest = split_url(url)
    path, mark, query = rest.partition("?")
    if not mark and not _DATE(path):
        return "", []
    names = {_DIGITS.sub("0", pair.partition("=")[0]) for pair in query.split("&")[:_MAX_NAMES]} if mark else set()
    return host + _DIGITS.sub("0", path), sorted(names)
