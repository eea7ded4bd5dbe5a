"""TVI files (SAR-8): parse the table of volatile parts, and patch the stored copy of a page.

Authors mark volatile text with `<!--Vol#a-->12.50<!--/Vol#a-->` (the paper: `<Vol#a>12.50</Vol#a>`) and name the file
with `<link rel="tvi" href="page.tvi">`. It is JSON, `{"a": "12.50"}`, or lines such as `Vol#a=12.50`.
"""

import re

import msgspec

MAX_TABLE_BYTES = 1 << 20
VOLATILE_TAG = re.compile(rb"<(?:!--\s*)?(/?)Vol#([A-Za-z0-9_.]{1,64})\s*(?:--)?>", re.IGNORECASE)


def parse_table(body: bytes) -> dict[str, str] | None:
    """Parse `{part id: text}`. None: not a table, so the page itself must be fetched."""
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
    """Find the byte span of each marked part. Ids used twice or not closed are left out."""
    opened: dict[str, int] = {}
    spans: dict[str, tuple[int, int]] = {}
    ambiguous: set[str] = set()
    for tag in VOLATILE_TAG.finditer(page):
        name = tag[2].decode("ascii")
        if tag[1]:
            if name in opened:
                spans[name] = (opened.pop(name), tag.start())
        elif name in opened or name in spans:
            ambiguous.add(name)
        else:
            opened[name] = tag.end()
    return {name: span for name, span in spans.items() if name not in ambiguous}


def patch_page(page: bytes, table: dict[str, str], charset: str = "utf-8") -> bytes | None:
    """Return the page with the listed parts replaced; None if a listed part is not in the page."""
    spans = find_volatile_spans(page)
    if not table or any(name not in spans for name in table):
        return None
    pieces, position = [], 0
    for name, (start, end) in sorted(spans.items(), key=lambda item: item[1]):
        if name not in table:
            continue
        if start < position:
            return None  # nested parts
        pieces += [page[position:start], table[name].encode(charset, "xmlcharrefreplace")]
        position = end
    return b"".join([*pieces, page[position:]])
