"""Choose the codec of a text or XML file."""

import codecs
import re
from functools import lru_cache

import turbohtml

_XML_DECLARATION = re.compile(
    rb"""\A\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._:\-]{1,40})["']""", re.IGNORECASE
)
_ENCODING_BY_PREFIX = {  # longest prefix first
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    b"<\0": "utf-16-le",  # XML without a byte order mark starts with `<`
    b"\0<": "utf-16-be",
}
_PYTHON_CODECS = {  # WHATWG names that Python does not know
    "windows-874": "cp874",
    "iso-8859-8-i": "iso8859-8",
    "x-mac-cyrillic": "mac-cyrillic",
}
_AMBIGUOUS_NAMES = frozenset(  # WHATWG merges several labels here; Python's codec for the label itself is more precise
    ("", "utf-16le", "utf-16be", "replacement")
)
_SUPERSETS = {  # as browsers do (WHATWG): files declare the subset and use characters of the superset
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}
# Python codecs that are not web encodings, or that need a byte order mark (already checked).
_REJECTED_CODECS = frozenset(
    ("utf-7", "utf-16", "utf-32", "idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined")
)


def has_byte_order_mark(head: bytes) -> bool:
    return head.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE))


def detect_encoding(head: bytes, charset: str = "") -> str:
    """Return the codec by byte order mark, XML declaration, or HTTP charset; default UTF-8."""
    for prefix, name in _ENCODING_BY_PREFIX.items():
        if head.startswith(prefix):
            return name
    declared = _XML_DECLARATION.match(head)
    return (get_codec(declared[1].decode()) if declared else "") or get_codec(charset) or "utf-8"


def get_codec(label: str) -> str:
    """Return the Python codec of a label, or "" if it is no usable web encoding."""
    name = get_standard_name(label).lower()
    try:
        info = codecs.lookup(label if name in _AMBIGUOUS_NAMES else _PYTHON_CODECS.get(name, name))
    except (LookupError, ValueError):
        return ""
    if not info._is_text_encoding or info.name in _REJECTED_CODECS:
        return ""
    return _SUPERSETS.get(info.name, info.name)


@lru_cache(maxsize=256)
def get_standard_name(label: str) -> str:
    """Return the WHATWG name of a label, or ""."""
    try:
        return turbohtml.parse(b"", encoding=label).encoding or ""
    except LookupError:
        return ""
