"""Texts, links and redirects of a stored collection, for the search for other names."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sanderling.db.connection import Connection
from sanderling.errors import CollectionError
from sanderling.html.parser import parse
from sanderling.html.plain_text import is_text, plain_text
from sanderling.html.text import text
from sanderling.http.content_type import charset_of, is_html, mime_of
from sanderling.search.aliases.anchors import Anchor, Redirect
from sanderling.search.aliases.finder import Text
from sanderling.storage.link_graph import unpack_links
from sanderling.storage.queries import pages, url_id
from sanderling.urls.normalize import normalise
from sanderling.warc.reader import read_record
from sanderling.warc.records import Place

MOST = 16 << 20  # bytes of one page


class Stored(NamedTuple):
    """Where a page lies: enough for another process to read it."""

    url: str
    folder: Path
    file: str
    start: int
    length: int


def stored_pages(db: Connection, archive: Path) -> Iterator[Stored]:
    """Name the newest stored body of every page, in the order it lies on disk."""
    rows = db.execute(
        """SELECT h.name || u.path, f.name, v.start, v.length FROM pages AS p
        JOIN urls AS u ON u.id = p.url JOIN hosts AS h ON h.id = u.host
        JOIN visits AS v ON v.id = p.visit JOIN files AS f ON f.id = v.file
        WHERE v.length > 0 AND p.duplicate_of = 0 AND p.status BETWEEN 200 AND 299 ORDER BY f.id, v.start"""
    )
    for url, file, start, length in rows:
        yield Stored(url, archive, file, start, length)


def page_texts(page: Stored) -> Iterator[Text]:
    """Read one page as a person would; nothing if it is damaged or no text."""
    try:
        record = read_record(page.folder, Place(page.file, page.start, page.length), MOST)
    except CollectionError:
        return
    kind = record.header("content-type")
    mime = mime_of(kind)
    if is_html(mime, record.body):
        yield page.url, text(parse(record.body, charset_of(kind)))
    elif mime.startswith("text/") and is_text(record.body, charset_of(kind)):
        yield page.url, joined(plain_text(record.body, charset_of(kind)).encode("utf-8", "replace"))


def joined(body: bytes) -> bytes:
    """Join the lines of plain text into paragraphs, so that a cue may run over the end of a line."""
    return b"\n".join(b" ".join(paragraph.split()) for paragraph in body.split(b"\n\n"))


def stored_anchors(db: Connection) -> Iterator[Anchor]:
    """Give every stored link that has words; targets go by their ids."""
    for source, packed in db.execute(
        """SELECT h.name || u.path, p.links FROM pages AS p
        JOIN urls AS u ON u.id = p.url JOIN hosts AS h ON h.id = u.host WHERE p.links <> x''"""
    ):
        links = unpack_links(packed)
        for target, words in zip(links.targets, links.anchors, strict=False):
            if words.strip():
                yield Anchor(source, str(target), words)


def stored_redirects(db: Connection) -> Iterator[Redirect]:
    """Give every stored redirect whose target has a title."""
    for page in pages(db, "p.location <> ''"):
        spelling = normalise(page.location)
        target = url_id(db, spelling.url) if spelling else 0
        row = db.execute("SELECT title FROM pages WHERE url = ?", (target,)).fetchone()
        if row and row[0]:
            yield Redirect(page.url, page.location, row[0])
