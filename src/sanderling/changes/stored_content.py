"""Read a stored response as text, Markdown, or structured data."""

from sanderling.changes.versions import extract_record_text
from sanderling.html.parser import parse_html
from sanderling.html.reading import extract_structured_data, render_markdown
from sanderling.html.text import render_text
from sanderling.http.content_type import is_html, parse_charset, parse_mime_type
from sanderling.warc.warc_reader import StoredRecord


def read_content_type(record: StoredRecord) -> tuple[str, str]:
    """Return media type and charset of a response; empty: unknown."""
    content_type = record.get_header("Content-Type")
    return parse_mime_type(content_type), parse_charset(content_type)


def read_text(record: StoredRecord) -> str:
    """Return the visible text, a line per paragraph; empty for documents without text."""
    mime, charset = read_content_type(record)
    if is_html(mime, record.body):
        return "\n".join(line for line in render_text(parse_html(record.body, charset)).splitlines() if line.strip())
    return extract_record_text(record, mime or "text/plain", charset)


def read_markdown(record: StoredRecord, url: str) -> str:
    """Return the main content of an HTML page as Markdown with absolute links; of other documents, the text."""
    mime, charset = read_content_type(record)
    return render_markdown(record.body, charset, url) if is_html(mime, record.body) else read_text(record)


def read_data(record: StoredRecord, url: str) -> dict[str, object]:
    """Return the structured data of an HTML page by format; of other documents, nothing."""
    mime, charset = read_content_type(record)
    return extract_structured_data(record.body, charset, url) if is_html(mime, record.body) else {}
