"""What a Content-Type says, read as browsers read it (WHATWG): the type, the charset, and whether it is a page."""

import re
from functools import lru_cache

HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
UNKNOWN_TYPES = frozenset({"", "unknown/unknown", "application/unknown"})  # which say nothing
MAX_TYPE_LENGTH = 100  # characters kept of a type
MAX_HEADER_LENGTH = 2000  # characters of a header that are looked at

_WHITESPACE = " \t\r\n"
_TOKEN = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]++"
_ESSENCE = re.compile(rf"{_TOKEN}/{_TOKEN}").fullmatch
_LIST_ITEMS = re.compile(r'(?:"(?:\\.|[^"\\])*+(?:"|\Z)|[^",])++', re.DOTALL)  # a comma may stand inside quotes
_PARAMETER = re.compile(rf';[ \t\r\n]*+({_TOKEN})=(?:"((?:\\.|[^"\\])*+)(?:"|\\?\Z)|([^;]*+))|;', re.DOTALL)
_PARAMETER_VALUE = re.compile(r"[\t -~\x80-\xff]++").fullmatch
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_SNIFFED_TAGS = rb"!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p"
_HTML_START = re.compile(rb"(?:\xef\xbb\xbf)?+\s*+<(?:!--|(?:" + _SNIFFED_TAGS + rb")[\s/>])", re.IGNORECASE).match


def parse_mime_type(content_type: str) -> str:
    """Give the type a header declares, without its parameters; empty if it declares none."""
    return _parse_content_type(content_type[:MAX_HEADER_LENGTH])[0]


def parse_charset(content_type: str) -> str:
    """Take the charset parameter out of a Content-Type header; empty if there is none."""
    return _parse_content_type(content_type[:MAX_HEADER_LENGTH])[1]


def is_html(mime: str, body: bytes) -> bool:
    """Say whether these bytes are a page: by the declared type, by a sniff where none is declared."""
    return mime in HTML_TYPES if mime not in UNKNOWN_TYPES else _HTML_START(body[:1500]) is not None


@lru_cache(maxsize=1024)
def _parse_content_type(header: str) -> tuple[str, str]:
    """Read type and charset; of several types, commas between them, the last counts."""
    mime = charset = ""
    for piece in _LIST_ITEMS.findall(header):
        found = piece.partition(";")[0].strip(_WHITESPACE).lower()
        if not _ESSENCE(found) or found == "*/*":
            continue
        charset = _find_charset(piece) or (charset if found == mime else "")
        mime = found
    return mime[:MAX_TYPE_LENGTH], charset


def _find_charset(item: str) -> str:
    """Find the first parameter of that name that has a value."""
    for name, quoted, plain in _PARAMETER.findall(item):
        value = _ESCAPE.sub(r"\1", quoted) or plain.rstrip(_WHITESPACE)
        if name.lower() == "charset" and _PARAMETER_VALUE(value):
            return value.strip(_WHITESPACE).lower()
    return ""
