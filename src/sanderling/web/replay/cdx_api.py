"""A CDX server API over the index of a collection, with the parameters and formats of pywb and wayback servers.

/cdx?url=example.org/*&from=2025&filter==status:200&output=json&limit=100
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import islice
from typing import cast
from urllib.parse import urlsplit

from msgspec import Struct

from sanderling.errors import UsageError
from sanderling.warc.surt import build_surt
from sanderling.web.replay.capture_store import CaptureStore
from sanderling.web.replay.replay_url import parse_timestamp

FIELDS = ("urlkey", "timestamp", "url", "mime", "status", "digest", "length", "offset", "filename")
FIELD_SYNONYMS = {"original": "url", "mimetype": "mime", "statuscode": "status"}
MATCH_TYPES = ("exact", "prefix", "host", "domain")
OUTPUTS = ("cdxj", "json", "text", "link")
MAX_LINES = 100_000
MAX_FILTERS = 20
END_OF_KEY = "\x7f"
Row = dict[str, str]


class CdxQuery(Struct, frozen=True):
    """A query of the CDX server API."""

    url: str
    match_type: str = "exact"
    first: str = ""  # timestamps
    last: str = ""
    limit: int = MAX_LINES
    sort: str = ""  # reverse or closest
    closest: str = ""
    filters: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    output: str = "cdxj"


def parse_query(params: Mapping[str, str], filters: Sequence[str]) -> CdxQuery:
    """Parse the parameters. Raises UsageError with what is wrong."""
    url, match_type = params.get("url", ""), params.get("matchType", "exact")
    if not url:
        raise UsageError("the parameter url is missing")
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
        raise UsageError(f"output is one of {', '.join(OUTPUTS)}")
    for name in ("from", "to", "closest"):
        if not re.fullmatch("([0-9]{4,14})?", params.get(name, "")):
            raise UsageError(f"{name} is a time of 4 to 14 digits: 2026 or 20261119080000")
    names = re.split("[,+ ]", params.get("fl", params.get("fields", "")))
    return CdxQuery(
        url if "://" in url else f"http://{url}",
        match_type,
        params.get("from", ""),
        params.get("to", ""),
        min(abs(int(limit)), MAX_LINES),
        "reverse" if limit.startswith("-") else params.get("sort", "closest" if params.get("closest") else ""),
        params.get("closest", ""),
        tuple(filters[:MAX_FILTERS]),
        tuple(FIELD_SYNONYMS.get(name, name) for name in names if name),
        output,
    )


def find_rows(query: CdxQuery, store: CaptureStore) -> Iterator[Row]:
    """Yield the matching captures in the order of their keys, unless another order is asked for."""
    matches = [_build_filter(text) for text in query.filters]
    first_key, end_key = _find_key_range(query)
    rows = (_parse_line(line) for line in store.iterate_lines(first_key, end_key))
    first, last = query.first.ljust(14, "0") if query.first else "", query.last.ljust(14, "9")
    found = (
        row
        for row in rows
        if first <= row["timestamp"] and (not query.last or row["timestamp"] <= last) and all(m(row) for m in matches)
    )
    if query.sort == "closest" and query.closest:
        at = parse_timestamp(query.closest)
        return iter(nsmallest(query.limit, found, key=lambda row: abs(parse_timestamp(row["timestamp"]) - at)))
    if query.sort == "reverse":
        return iter(list(islice(found, MAX_LINES))[::-1][: query.limit])
    return islice(found, query.limit)


def format_row(row: Row, query: CdxQuery) -> str:
    """Format a row as a line of the requested output."""
    names = query.fields or FIELDS
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
        # A regular expression of a client could take exponential time; only alternatives and wildcards are supported.
        patterns = [_compile_wildcard(part) for part in value.split("|")]
        return lambda row: is_negated != any(p.fullmatch(row.get(name, "")) for p in patterns)
    if operator == "=":
        return lambda row: is_negated != (row.get(name, "") == value)
    return lambda row: is_negated != (value in row.get(name, ""))


def _compile_wildcard(text: str) -> re.Pattern[str]:
    parts = [re.escape(part) for part in text[:200].split(".*")[:4]]
    return re.compile("(?s:.*)".join(parts))
