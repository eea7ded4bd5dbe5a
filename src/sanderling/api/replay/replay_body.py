"""Bodies of captures for replay."""

from sanderling.api.replay.capture_store import ReplayCapture
from sanderling.api.replay.rewriting import REQUISITE, rewrite_page, rewrite_style_sheet
from sanderling.http.content_type import is_html, parse_charset, parse_mime_type
from sanderling.warc.cdxj import REVISIT_MIME

RAW = "id_"  # modifier: the body as it is stored


def build_body(capture: ReplayCapture, modifier: str, banner: str) -> tuple[bytes, str]:
    """Return body and type: pages and style sheets rewritten, anything else as it is stored."""
    record, entry = capture.record, capture.entry
    declared: str = record.get_header("Content-Type") or ("" if entry.mime == REVISIT_MIME else entry.mime)
    mime, charset = parse_mime_type(declared), parse_charset(declared)
    if modifier == RAW:
        return record.body, declared or "application/octet-stream"
    if is_html(mime, record.body) and modifier != REQUISITE:
        page = rewrite_page(record.body, charset, entry.url, entry.captured_at, banner)
        return page, "text/html; charset=utf-8"
    if mime == "text/css":
        return rewrite_style_sheet(record.body, charset, entry.url, entry.captured_at), "text/css; charset=utf-8"
    return record.body, declared or "application/octet-stream"
