"""Limit the number of URLs per pattern and host, for traps that no single URL reveals.

A pattern is a path with digits replaced plus its parameter names. Plain paths are never rejected. The rarest patterns
are evicted.
"""

import re
from heapq import nsmallest

import msgspec
from msgspec import Struct
from xxhash import xxh3_64_intdigest

from sanderling.urls.normalize import split_url

PATTERN_LIMITS = (
    100_000,
    100_000,
    50_000,
    10_000,
)  # URLs per pattern with 0 (dates only), 1, 2, 3 or more parameters
MAX_PARAMETER_SETS = 500  # sets of parameter names per path: facets can be combined endlessly
MAX_PATTERNS = 200_000  # about 20 MB

_DIGITS = re.compile(r"\d+")
_DATE = re.compile(r"/\d{4}/\d{1,2}(?:/|$)").search
_MAX_NAMES = 16


class PatternCounts(Struct):
    """Serialized form of a `PatternBudget`."""

    counts: dict[int, int]


class PatternBudget:
    """Counts URLs by pattern."""

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
        """Count a new URL, or return why it is rejected."""
        if "?" not in url and not _DATE(url):
            return ""  # a plain path, the most frequent case
        path, names = _extract_pattern(url)
        if not names and not path:
            return ""
        path_key, key = (xxh3_64_intdigest(text.encode()) for text in (path, path + "?" + "&".join(names)))
        count = self._counts.get(key, 0)
        if count >= self._limits[min(len(names), 3)]:
            return f"more than {count} URLs of one pattern"
        if count == 0 and names:
            if self._counts.get(path_key, 0) >= self._max_parameter_sets:
                return f"more than {self._max_parameter_sets} sets of parameters on one path"
            self._counts[path_key] = self._counts.get(path_key, 0) + 1
        self._counts[key] = count + 1
        if len(self._counts) > self._max_patterns:
            self._evict_rarest()
        return ""

    def dump(self) -> bytes:
        """Serialize the counts."""
        return msgspec.msgpack.encode(PatternCounts(self._counts))

    def load(self, stored: bytes) -> None:
        """Restore counts serialized by `dump`."""
        self._counts = msgspec.msgpack.decode(stored, type=PatternCounts).counts

    def _evict_rarest(self) -> None:
        for key in nsmallest(len(self._counts) // 4, self._counts, key=self._counts.__getitem__):
            del self._counts[key]


def _extract_pattern(url: str) -> tuple[str, list[str]]:
    """Return path pattern and parameter names; both empty: not counted."""
    host, rest = split_url(url)
    path, question_mark, query = rest.partition("?")
    if not question_mark and not _DATE(path):
        return "", []
    pairs = query.split("&")[:_MAX_NAMES] if question_mark else []
    names = {_DIGITS.sub("0", pair.partition("=")[0]) for pair in pairs}
    return host + _DIGITS.sub("0", path), sorted(names)
