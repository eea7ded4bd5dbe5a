"""TVI files (SAR): parse the table of volatile parts, and patch the stored copy of a page.

Authors mark volatile text with `<!--Vol#a-->12.50<!--/Vol#a-->` (the paper: `<Vol#a>12.50</Vol#a>`) and name the file
with `<link rel="tvi" href="page.tvi">`. It is JSON, `{"a": "12.50"}`, or lines such as `Vol#a=12.50`.
"""

import re
from collections.abc import Sequence

import msgspec

from sanderling.db.connection import Connection

SQL_CHUNK = 400
TVI_VISITS_PER_PAGE_VISIT = 3  # the file covers only a part of the page
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


class TviFiles:
    """The TVI files of a collection: decide whether to visit the file or the page."""

    def __init__(self, db: Connection) -> None:
        self.db = db

    def record_file(self, page_id: int, tvi_id: int) -> None:
        self.db.execute(
            "INSERT INTO tvi_files (page, tvi) VALUES (?, ?) ON CONFLICT (page) DO UPDATE SET tvi = excluded.tvi",
            (page_id, tvi_id),
        )

    def delete_pages(self, page_ids: Sequence[int]) -> None:
        """Delete pages whose file is gone or unusable."""
        self.db.executemany("DELETE FROM tvi_files WHERE page = ?", [(page,) for page in page_ids])

    def select_tvi_visits(self, page_ids: Sequence[int]) -> dict[int, int]:
        """Select due pages whose TVI file is visited instead: `{page id: file id}`. Restarts other pages."""
        rows: list[tuple[int, int, int]] = []
        for start in range(0, len(page_ids), SQL_CHUNK):
            part = list(page_ids[start : start + SQL_CHUNK])
            placeholders = ",".join("?" * len(part))
            rows += self.db.execute(
                f"SELECT page, tvi, visits FROM tvi_files WHERE page IN ({placeholders})", part
            ).fetchall()
        requested = {page: side for page, side, turns in rows if turns < TVI_VISITS_PER_PAGE_VISIT}
        self.db.executemany(
            "UPDATE tvi_files SET visits = visits + 1, is_requested = 1 WHERE page = ?", [(p,) for p in requested]
        )
        others = [(page,) for page, _, _ in rows if page not in requested]
        self.db.executemany("UPDATE tvi_files SET visits = 0, is_requested = 0 WHERE page = ?", others)
        return requested

    def take_requested_pages(self, tvi_id: int) -> list[int]:
        """Return the pages for which this file was requested, and clear the requests."""
        rows = self.db.execute(
            "UPDATE tvi_files SET is_requested = 0 WHERE tvi = ? AND is_requested = 1 RETURNING page", (tvi_id,)
        )
        return [page for (page,) in rows.fetchall()]
