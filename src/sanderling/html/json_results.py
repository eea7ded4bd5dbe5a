"""Read the results of a form that answers with JSON: the records, the next page, and the number of results."""

from collections.abc import Iterator
from typing import Any

import msgspec

from sanderling.html.form_fields import MAX_LINES, MAX_TEXT, FormPage

MAX_DEPTH = 5
MAX_MEMBERS = 1_000  # of an object or list that are searched
NEXT_NAMES = frozenset(("next", "nextpage", "nexturl", "nextlink", "nexthref", "nextpageurl", "odatanextlink", "more"))
TOTAL_NAMES = frozenset(
    ("total", "count", "totalcount", "totalresults", "totalhits", "totalitems", "totalelements", "numfound", "hits",
     "matches", "recordstotal", "odatacount")
)  # fmt: skip


def pack_json_page(body: bytes) -> bytes:
    """Return the encoded results of a JSON document; empty if it is none."""
    try:
        document = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return b""
    longest = max(_find_lists(document, 0), key=len, default=[])
    records = [_describe_record(record) for record in longest[:MAX_LINES]]
    next_url, total = "", 0
    for name, value in _find_members(document, 0):
        key = "".join(letter for letter in name.lower() if letter.isalnum())
        if isinstance(value, dict):
            value = value.get("href")
        if key in NEXT_NAMES and isinstance(value, str) and not next_url:
            next_url = value
        elif key in TOTAL_NAMES and type(value) is int:
            total = max(total, value)
    return msgspec.msgpack.encode(FormPage([], records, records, next_url, total))


def _find_lists(value: object, depth: int) -> Iterator[list[Any]]:
    """Yield the lists that are not part of a record."""
    if isinstance(value, list):
        yield value
    elif isinstance(value, dict) and depth < MAX_DEPTH:
        for member in list(value.values())[:MAX_MEMBERS]:
            yield from _find_lists(member, depth + 1)


def _find_members(value: object, depth: int) -> Iterator[tuple[str, Any]]:
    """Yield the members of objects that are not part of a record."""
    if isinstance(value, dict) and depth < MAX_DEPTH:
        for name, member in list(value.items())[:MAX_MEMBERS]:
            yield str(name), member
            yield from _find_members(member, depth + 1)


def _describe_record(record: object) -> str:
    """Return the texts and numbers of a record in a line."""
    if isinstance(record, dict):
        return " ".join(_describe_record(member) for member in list(record.values())[:40])[:MAX_TEXT]
    if isinstance(record, list):
        return " ".join(_describe_record(member) for member in record[:40])[:MAX_TEXT]
    return " ".join(str(record).split())[:MAX_TEXT] if isinstance(record, str | int | float) else ""
