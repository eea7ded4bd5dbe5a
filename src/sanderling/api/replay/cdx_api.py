"""A CDX server API over the index of a collection, with the parameters and formats of pywb and wayback servers.

/cdx?url=example.org/*&from=2025&filter==status:200&output=json&limit=100
"""

import json
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import islice
from typing import cast
from urllib.parse import urlsplit

from msgspec import Struct

from sanderling.api.replay.capture_store import CaptureStore
from sanderling.api.replay.replay_url import parse_timestamp
from sanderling.errors import UsageError
from sanderling.warc.cdxj import REVISIT_MIME
from sanderling.warc.surt import build_surt

FIELDS = ("urlkey", "timestamp", "url", "mime", "status", "digest", "length", "offset", "filename")
ORIGINAL_FIELDS = ("orig.length", "orig.offset", "orig.filename")  # of revisits, with resolveRevisits=true
FIELD_SYNONYMS = {"original": "url", "mimetype": "mime", "statuscode": "status"}
MATCH_TYPES = ("exact", "prefix", "host", "domain")
OUTPUTS = ("cdxj", "json", "text", "link")
MAX_LINES = 100_000
MAX_FILTERS = 20
END_OF_KEY = "\x7f"
MAX_PATTERN = 500
PATTERN_PART = re.compile(r"(?:[^\\\[\](){}*+?^$|]|\\[^a-zA-Z0-9]|\\d|\[\^?[\w./:-]+\])*")
Row = dict[str, str]


class CdxQuery(Struct, frozen=True):
    """A query of the CDX server API."""

    url: str
    match_type: str = "exact"
    first: str = ""  # timestamps
    last: str = ""
    limit: int = MAX_LINES
    sort: str = ""  # reverse, closest, or last: the last ones, in order
    closest: str = ""
    filters: tuple[str, ...] = ()
    collapse_digits: int = 0  # of the time: captures with these and the same status count once
    fields: tuple[str, ...] = ()
    output: str = "cdxj"
    resolve_revisits: bool = False


def parse_query(params: Mapping[str, str], filters: Sequence[str]) -> CdxQuery:
    """Parse the parameters. Raises UsageError if they are wrong."""
    url, match_type = params.get("url", ""), params.get("matchType", "exact")
    if not url:
        raise UsageError('The "url" param is required')  # in the words of pywb, for its clients
    if url.endswith("*"):
        url, match_type = url[:-1], "prefix"
    if url.startswith("*."):
        url, match_type = url[2:], "domain"
    limit = params.get("limit", str(MAX_LINES))
    if match_type not in MATCH_TYPES:
        raise UsageError(f"matchType is one of {', '.join(MATCH_TYPES)}")
    if not re.fullmatch(r"-?[0-9]{1,9}", limit):
        raise UsageError("limit is a number")
    output = params.get("output", "cdxj")
    if output not in OUTPUTS:
        raise UsageError(f"output={output[:40]} not supported")
    for name in ("from", "to", "closest"):
        if not re.fullmatch("([0-9]{4,14})?", params.get(name, "")):
            raise UsageError(f"{name} is a time of 4 to 14 digits: 2026 or 20261119080000")
    collapse = params.get("collapseTime", "0")
    if not re.fullmatch("[0-9]{1,2}", collapse):
        raise UsageError("collapseTime is a number of digits")
    names = re.split("[,+ ]", params.get("fl", params.get("fields", "")))
    return CdxQuery(
        url if "://" in url else f"http://{url}",
        match_type,
        params.get("from", ""),
        params.get("to", ""),
        min(abs(int(limit)) or MAX_LINES, MAX_LINES),  # 0: all, as in pywb
        "last" if limit.startswith("-") else params.get("sort", "closest" if params.get("closest") else ""),
        params.get("closest", ""),
        tuple(filters[:MAX_FILTERS]),
        int(collapse),
        tuple(FIELD_SYNONYMS.get(name, name) for name in names if name),
        output,
        params.get("resolveRevisits") == "true",
    )


def find_rows(query: CdxQuery, store: CaptureStore) -> Iterator[Row]:
    """Yield the matching captures in the order of their keys, unless another order is asked for."""
    matches = [_build_filter(text) for text in query.filters]
    first_key, end_key = _find_key_range(query)
    rows: Iterator[Row] = (_parse_line(line) for line in store.iterate_lines(first_key, end_key))
    rows = _resolve_revisits(rows) if query.resolve_revisits else rows
    first, last = query.first.ljust(14, "0") if query.first else "", query.last.ljust(14, "9")
    found: Iterator[Row] = (
        row
        for row in rows
        if first <= row["timestamp"] and (not query.last or row["timestamp"] <= last) and all(m(row) for m in matches)
    )
    found = _collapse(found, query.collapse_digits) if query.collapse_digits else found
    if query.sort == "closest" and query.closest:
        at = parse_timestamp(query.closest)
        return iter(nsmallest(query.limit, found, key=lambda row: abs(parse_timestamp(row["timestamp"]) - at)))
    if query.sort == "reverse":
        return iter(list(islice(found, MAX_LINES))[::-1][: query.limit])
    return iter(deque(found, query.limit)) if query.sort == "last" else islice(found, query.limit)


def _resolve_revisits(rows: Iterator[Row]) -> Iterator[Row]:
    """Add the place of the record with the body to revisits of earlier rows, and its type and status, as pywb does."""
    originals: dict[str, Row] = {}
    for row in rows:
        is_revisit, digest = row.get("mime") == REVISIT_MIME, row.get("digest", "")
        original = originals.get(digest) if is_revisit else None
        if digest and not is_revisit and len(originals) < MAX_LINES:
            originals.setdefault(digest, dict(row))
        if original is not None:
            row |= {name: original[name] for name in ("mime", "status") if name in original}
        yield row | {name: original.get(name[5:], "-") if original else "-" for name in ORIGINAL_FIELDS}


def _collapse(rows: Iterator[Row], digits: int) -> Iterator[Row]:
    previous: tuple[str, str] | None = None
    for row in rows:
        if (key := (row["timestamp"][:digits], row.get("status", ""))) != previous:
            yield row
        previous = key


def format_row(row: Row, query: CdxQuery) -> str:
    """Format a row as a line of the requested output."""
    names = query.fields or (FIELDS + ORIGINAL_FIELDS if query.resolve_revisits else FIELDS)
    if query.output == "text":
        return " ".join(row.get(name, "-") for name in names) + "\n"
    if query.output == "json":
        return json.dumps({name: row[name] for name in names if name in row}) + "\n"
    fields = {name: row[name] for name in names if name in row and name not in ("urlkey", "timestamp")}
    return f"{row['urlkey']} {row['timestamp']} {json.dumps(fields)}\n"


def _parse_line(line: bytes) -> Row:
    key, timestamp, encoded = line.decode().split(" ", 2)
    return {"urlkey": key, "timestamp": timestamp, **cast(Row, json.loads(encoded))}


def _find_key_range(query: CdxQuery) -> tuple[bytes, bytes]:
    key = build_surt(query.url)
    if query.match_type == "prefix":
        if urlsplit(query.url).path in ("", "/") and not query.url.endswith("/"):
            key = key.partition(")")[0]
        return key.encode(), (key + END_OF_KEY).encode()
    host = key.partition(")")[0]
    if query.match_type == "host":
        return f"{host})".encode(), f"{host}){END_OF_KEY}".encode()
    if query.match_type == "domain":  # `)` sorts before `,`, and both before letters and digits
        return f"{host})".encode(), f"{host}-".encode()
    return f"{key} ".encode(), f"{key}!".encode()


def _build_filter(text: str) -> Callable[[Row], bool]:
    """Build a filter from `[!][=|~]field:value`; without a sign the value must be contained."""
    is_negated, text = text.startswith("!"), text.removeprefix("!")
    operator = text[:1] if text[:1] in ("=", "~") else ""
    name, colon, value = text.removeprefix(operator).partition(":")
    name = FIELD_SYNONYMS.get(name, name)
    if not colon or name not in FIELDS:
        raise UsageError(f"filter has the form [!][=|~]field:value with a field of {', '.join(FIELDS)}")
    if operator == "~":
        patterns = [_WildcardPattern(part) for part in value[:MAX_PATTERN].split("|")]
        return lambda row: is_negated != any(p.matches(row.get(name, "")) for p in patterns)
    if operator == "=":
        return lambda row: is_negated != (row.get(name, "") == value)
    return lambda row: is_negated != (value in row.get(name, ""))


class _WildcardPattern:
    """A regular expression of literals, `.`, `.*`, and classes, matched at the start of a text in linear time.

    Those with other repetitions could take exponential time, and are rejected.
    """

    def __init__(self, text: str) -> None:
        self._is_anchored = text.endswith("$")
        parts = text.removeprefix("^").removesuffix("$").split(".*")
        if not all(PATTERN_PART.fullmatch(part) for part in parts):
            raise UsageError("after ~, a filter may contain characters, [classes], \\d, ., .*, |, ^ and $")
        self._parts = [re.compile(part, re.DOTALL) for part in parts]

    def matches(self, text: str) -> bool:
        """Search the first place of each part: a later place could only leave less for the next part."""
        first = self._parts[0].match(text)
        if first is None or (len(self._parts) == 1 and self._is_anchored and first.end() < len(text)):
            return False
        position = first.end()
        for number, part in enumerate(self._parts[1:], 2):
            found = part.search(text, position)
            if found is None:
                return False
            if number == len(self._parts) and self._is_anchored:
                length = found.end() - found.start()  # all matches of a part have its length
                return len(text) - length >= position and part.match(text, len(text) - length) is not None
            position = found.end()
        return True
