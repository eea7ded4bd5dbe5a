"""Build index documents from stored responses."""

from collections.abc import Iterable
from itertools import compress
from operator import not_

from msgspec import Struct

from sanderling.content.document_process import extract_document_text
from sanderling.content.document_readers import find_document_kind
from sanderling.content.extract import extract_blocks
from sanderling.html.links import extract_metadata
from sanderling.html.parser import parse_html
from sanderling.html.plain_text import decode_plain_text, is_text
from sanderling.html.robots_meta import parse_robots_tag
from sanderling.html.text import get_single_line_text
from sanderling.http.content_type import is_html, parse_charset, parse_mime_type
from sanderling.search.fields import get_host_with_port
from sanderling.search.language import detect_page_language
from sanderling.search.search_types import MAX_BODY_CHARS, MAX_FIELD_CHARS, Document
from sanderling.warc.warc_reader import StoredRecord

MAX_HTML_BYTES = 4_000_000  # the rest of the page is not parsed
MIN_MAIN_CONTENT_CHARS = 200  # a page with less main content is indexed with its boilerplate
HEADING_TAGS = ("h1", "h2", "h3", "h4", "h5", "h6")


class ParsedHead(Struct, frozen=True):
    """Title and language extracted by the crawl."""

    title: str
    language: str


class RobotsAgent(Struct, frozen=True):
    agent: str = "sanderling"


def build_document(
    record: StoredRecord,
    url: str,
    changed_at: float,
    head: ParsedHead | None = None,
    robots_agent: RobotsAgent | None = None,
) -> Document | None:
    """Return None without text or with noindex.

    With a parsed head, the noindex decision of the crawl stands.
    """
    robots_agent = robots_agent or RobotsAgent()
    declared = record.get_header("Content-Type")
    mime = parse_mime_type(declared)
    if head is None and parse_robots_tag(record.get_header("X-Robots-Tag"), robots_agent.agent)[0]:
        return None
    base = Document(
        url, mime=mime or "text/html", site=get_host_with_port(url), changed_at=changed_at, visited_at=changed_at
    )
    if is_html(mime, record.body):
        return _build_html_document(record.body[:MAX_HTML_BYTES], parse_charset(declared), base, head, robots_agent)
    body = _read_document_text(record.body, mime, parse_charset(declared)).strip()
    return _build_text_document(base, body) if body else None


def _read_document_text(body: bytes, mime: str, charset: str) -> str:
    if kind := find_document_kind(mime):
        return extract_document_text(kind, body)
    is_readable = mime.startswith("text/") and is_text(body, charset)
    return decode_plain_text(body[: MAX_BODY_CHARS * 4], charset) if is_readable else ""


def _build_html_document(
    body: bytes, charset: str, base: Document, head: ParsedHead | None, robots_agent: RobotsAgent
) -> Document | None:
    tree = parse_html(body, charset)
    if head is None:
        metadata = extract_metadata(tree, base.url, agent=robots_agent.agent)
        if metadata.noindex:
            return None
        head = ParsedHead(metadata.title, metadata.language)
    blocks = extract_blocks(tree)
    text = _join_lines(compress(blocks.lines, blocks.main_mask))
    if len(text) < MIN_MAIN_CONTENT_CHARS:  # the main content comes first: snippets show the start of the text
        text = _join_lines([text, *compress(blocks.lines, map(not_, blocks.main_mask))])
    headings = (get_single_line_text(element) for element in tree.iter_elements(HEADING_TAGS))
    return Document(
        base.url, head.title, _join_headings(headings), body=text[:MAX_BODY_CHARS],
        language=detect_page_language(head.language, text), mime=base.mime, site=base.site,
        changed_at=base.changed_at, visited_at=base.visited_at,
    )  # fmt: skip


def _join_lines(lines: Iterable[str]) -> str:
    return "\n".join([line for line in lines if line and not line.isspace()])


def _join_headings(headings: Iterable[str]) -> str:
    lines: list[str] = []
    room = MAX_FIELD_CHARS * 2
    for text in headings:
        line = " ".join(text.split())
        if room <= 0:
            break
        if line:
            lines.append(line[:room])
            room -= len(line) + 1
    return "\n".join(lines)


def _build_text_document(base: Document, body: str) -> Document:
    """Use a short first line as the title, else the file name."""
    first_line = body.split("\n", 1)[0].strip()
    title = first_line if 0 < len(first_line) <= 120 else base.url.rsplit("/", 1)[-1] or base.url
    return Document(
        base.url,
        title,
        body=body[:MAX_BODY_CHARS],
        mime=base.mime,
        site=base.site,
        language=detect_page_language("", body),
        changed_at=base.changed_at,
        visited_at=base.visited_at,
    )
