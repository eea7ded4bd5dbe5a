"""What a Content-Type says, read as browsers read it (WHATWG): the type, the charset, and whether it is a page."""

import re
from functools import lru_cache

HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
UNKNOWN_TYPES = frozenset({"", "unknown/unknown", "application/unknown"})  # which say nothing
MAX_TYPE = 100  # characters kept of a type
MAX_HEADER = 2000  # characters of a header that are looked at

_BLANKS = " \t\r\n"
_TOKEN = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]++"
_ESSENCE = re.compile(rf"{_TOKEN}/{_TOKEN}").fullmatch
_PIECES = re.compile(r'(?:"(?:\\.|[^"\\])*+(?:"|\Z)|[^",])++', re.DOTALL)  # a comma may stand inside quotes
_PARAMETER = re.compile(rf';[ \t\r\n]*+({_TOKEN})=(?:"((?:\\.|[^"\\])*+)(?:"|\\?\Z)|([^;]*+))|;', re.DOTALL)
_VALUE = re.compile(r"[\t -~\x80-\xff]++").fullmatch
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_TAGS = rb"!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p"
_PAGE = re.compile(rb"(?:\xef\xbb\xbf)?+\s*+<(?:!--|(?:" + _TAGS + rb")[\s/>])", re.IGNORECASE).match


def mime_of(content_type: str) -> str:
    """Give the type a header declares, without its parameters; empty if it declares none."""
    return _read(content_type[:MAX_HEADER])[0]


def charset_of(content_type: str) -> str:
    """Take the charset parameter out of a Content-Type header; empty if there is none."""
    return _read(content_type[:MAX_HEADER])[1]


def is_html(mime: str, body: bytes) -> bool:
    """Say whether these bytes are a page: by the declared type, by a sniff where none is declared."""
    return mime in HTML_TYPES if mime not in UNKNOWN_TYPES else _PAGE(body[:1500]) is not None


@lru_cache(maxsize=1024)
def _read(header: str) -> tuple[str, str]:
    """Read type and charset; of several types, commas between them, the last counts."""
    mime = charset = ""
    for piece in _PIECES.findall(header):
        found = piece.partition(";")[0].strip(_BLANKS).lower()
        if not _ESSENCE(found) or found == "*/*":
            continue
        charset = _charset(piece) or (charset if found == mime else "")
        mime = found
    return mime[:MAX_TYPE], charset


def _charset(piece: str) -> str:
    """Find the first parameter of that name that has a value."""
    for name, quoted, plain in _PARAMETER.findall(piece):
        value = _ESCAPE.sub(r"\1", quoted) or plain.rstrip(_BLANKS)
        if name.lower() == "charset" and _VALUE(value):
            return value.strip(_BLANKS).lower()
    return ""
