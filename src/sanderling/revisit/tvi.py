"""Volatile parts of a page in a small side file (SAR-8): read the table of variable information, patch the stored copy.

An author marks what changes, `<!--Vol#a-->12.50<!--/Vol#a-->` or as the paper writes it `<Vol#a>12.50</Vol#a>`,
names the table with `<link rel="tvi" href="page.tvi">`, served as JSON `{"a": "12.50"}` or as lines `Vol#a=12.50`.
"""

import re

import msgspec

MAX_TABLE_BYTES = 1 << 20  # bytes of a table worth reading: it is meant to be small
VOLATILE_TAG = re.compile(rb"<(?:!--\s*)?(/?)Vol#([A-Za-z0-9_.]{1,64})\s*(?:--)?>", re.IGNORECASE)


def parse_table(body: bytes) -> dict[str, str] | None:
    """Volatile id to text; None if the file is no table, so that the page itself must be fetched."""
    if len(body) > MAX_TABLE_BYTES:
        return None
    if body.lstrip()[:1] == b"{":
        try:
            return msgspec.json.decode(body, type=dict[str, str])
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
    return _parse_lines(body)


def _parse_lines(body: bytes) -> dict[str, str] | None:
    try:
        lines = body.decode("utf-8").splitlines()
    except UnicodeDecodeError:
        return None
    table = {}
    for line in filter(str.strip, lines):
        name, equals, text = line.partition("=")
        if not equals or not name.strip().lower().startswith("vol#"):
            return None
        table[name.strip()[4:]] = text
    return table or None


def find_volatile_spans(page: bytes) -> dict[str, tuple[int, int]]:
    """Where each marked part begins and ends; a name used twice or not closed is left out, for it says nothing sure."""
    opened: dict[str, int] = {}
    spans: dict[str, tuple[int, int]] = {}
    unsure: set[str] = set()
    for mark in VOLATILE_TAG.finditer(page):
        name = mark[2].decode("ascii")
        if mark[1]:
            if name in opened:
                spans[name] = (opened.pop(name), mark.start())
        elif name in opened or name in spans:
            unsure.add(name)
        else:
            opened[name] = mark.end()
    return {name: span for name, span in spans.items() if name not in unsure}


def patch_page(page: bytes, table: dict[str, str], charset: str = "utf-8") -> bytes | None:
    """The stored copy with its volatile parts replaced; None if the table speaks of a part the copy does not have."""
    spans = find_volatile_spans(page)
    if not table or any(name not in spans for name in table):
        return None
    out, at = [], 0
    for name, (start, end) in sorted(spans.items(), key=lambda item: item[1]):
        if name not in table:
            continue
        if start < at:
            return None  # parts within parts
        out += [page[at:start], table[name].encode(charset, "xmlcharrefreplace")]
        at = end
    return b"".join([*out, page[at:]])
