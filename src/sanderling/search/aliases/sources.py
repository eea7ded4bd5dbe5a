"""Read texts, links and redirects of a collection."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sanderling.db.connection import Connection
from sanderling.errors import CollectionError
from sanderling.html.parser import parse_html
from sanderling.html.plain_text import decode_plain_text, is_text
from sanderling.html.text import render_text
from sanderling.http.content_type import is_html, parse_charset, parse_mime_type
from sanderling.search.aliases.anchors import Anchor, Redirect
from sanderling.search.aliases.finder import SourceText
from sanderling.storage.link_graph import unpack_links
from sanderling.storage.queries import find_url_id, load_pages, load_titles
from sanderling.storage.reports import list_newest_bodies, load_packed_links
from sanderling.urls.normalize import normalize_url
from sanderling.warc.records import RecordLocation
from sanderling.warc.warc_reader import read_record

MAX_PAGE_BYTES = 16 << 20


class StoredPageRef(NamedTuple):
    url: str
    folder: Path
    file: str
    start: int
    length: int


def list_stored_pages(db: Connection, archive: Path) -> Iterator[StoredPageRef]:
    """Yield the newest body of every page, in archive order."""
    for url, file, start, length in list_newest_bodies(db):
        yield StoredPageRef(url, archive, file, start, length)


def read_page_text(page: StoredPageRef) -> Iterator[SourceText]:
    try:
        record = read_record(page.folder, RecordLocation(page.file, page.start, page.length), MAX_PAGE_BYTES)
    except CollectionError:
        return
    content_type = record.get_header("content-type")
    mime = parse_mime_type(content_type)
    if is_html(mime, record.body):
        yield page.url, render_text(parse_html(record.body, parse_charset(content_type)))
    elif mime.startswith("text/") and is_text(record.body, parse_charset(content_type)):
        yield (
            page.url,
            join_lines(decode_plain_text(record.body, parse_charset(content_type)).encode("utf-8", "replace")),
        )


def join_lines(body: bytes) -> bytes:
    """Join the lines of paragraphs, so that a cue may span a line break."""
    return b"\n".join(b" ".join(paragraph.split()) for paragraph in body.split(b"\n\n"))


def load_anchors(db: Connection) -> Iterator[Anchor]:
    """Yield links with text; targets are URL ids."""
    for source, packed in load_packed_links(db):
        links = unpack_links(packed)
        for target, text in zip(links.target_ids, links.anchor_texts, strict=False):
            if text.strip():
                yield Anchor(source, str(target), text)


def load_redirects(db: Connection) -> Iterator[Redirect]:
    """Yield redirects whose target has a title."""
    for page in load_pages(db, "p.location <> ''"):
        normalized = normalize_url(page.location)
        target = find_url_id(db, normalized.url) if normalized else 0
        if title := load_titles(db, [target]).get(target):
            yield Redirect(page.url, page.location, title)
