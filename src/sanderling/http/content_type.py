"""Parse Content-Type headers (WHATWG MIME Sniffing) and detect HTML."""

import re
from functools import lru_cache

HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
UNKNOWN_TYPES = frozenset({"", "unknown/unknown", "application/unknown"})  # treated as undeclared
MAX_TYPE_LENGTH = 100  # longer types are truncated
MAX_HEADER_LENGTH = 2000  # longer headers are truncated

_WHITESPACE = " \t\r\n"
_TOKEN = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]++"
_ESSENCE = re.compile(rf"{_TOKEN}/{_TOKEN}").fullmatch
_LIST_ITEMS = re.compile(r'(?:"(?:\\.|[^"\\])*+(?:"|\Z)|[^",])++', re.DOTALL)  # a quoted string may contain commas
_PARAMETER = re.compile(rf';[ \t\r\n]*+({_TOKEN})=(?:"((?:\\.|[^"\\])*+)(?:"|\\?\Z)|([^;]*+))|;', re.DOTALL)
_PARAMETER_VALUE = re.compile(r"[\t -~\x80-\xff]++").fullmatch
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_SNIFFED_TAGS = rb"!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p"
_HTML_START = re.compile(rb"(?:\xef\xbb\xbf)?+\s*+<(?:!--|(?:" + _SNIFFED_TAGS + rb")[\s/>])", re.IGNORECASE).match
_TYPE_NAMES = {
    "text/html": "html", "application/xhtml+xml": "html", "application/pdf": "pdf", "text/plain": "text",
    "application/json": "json", "text/xml": "xml", "application/xml": "xml", "text/markdown": "text",
    "application/msword": "word", "application/vnd.oasis.opendocument.text": "word",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "word",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "sheet",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "slides",
}  # fmt: skip


def parse_mime_type(content_type: str) -> str:
    return _parse_content_type(content_type[:MAX_HEADER_LENGTH])[0]


def parse_charset(content_type: str) -> str:
    return _parse_content_type(content_type[:MAX_HEADER_LENGTH])[1]


def is_html(mime: str, body: bytes) -> bool:
    """Return whether a body is HTML, by its type or, if undeclared, by its first bytes."""
    return mime in HTML_TYPES if mime not in UNKNOWN_TYPES else _HTML_START(body[:1500]) is not None


@lru_cache(maxsize=1024)
def _parse_content_type(header: str) -> tuple[str, str]:
    """Return type and charset of the last valid item in a comma-separated list."""
    mime = charset = ""
    for item in _LIST_ITEMS.findall(header):
        essence = item.partition(";")[0].strip(_WHITESPACE).lower()
        if not _ESSENCE(essence) or essence == "*/*":
            continue
        charset = _find_charset(item) or (charset if essence == mime else "")
        mime = essence
    return mime[:MAX_TYPE_LENGTH], charset


def _find_charset(item: str) -> str:
    for name, quoted, plain in _PARAMETER.findall(item):
        value = _ESCAPE.sub(r"\1", quoted) or plain.rstrip(_WHITESPACE)
        if name.lower() == "charset" and _PARAMETER_VALUE(value):
            return value.strip(_WHITESPACE).lower()
    return ""


def get_type_name(mime: str) -> str:
    """Return a short name of a media type, such as `word`: as filters of the search use it."""
    bare = mime.split(";")[0].strip().lower()
    return _TYPE_NAMES.get(bare) or bare.rpartition("/")[2] or "unknown"
