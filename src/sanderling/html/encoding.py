"""In which encoding a file is written: bytes of its beginning in, the name of a codec out."""

import codecs
import re
from functools import lru_cache

import turbohtml

_XML_DECLARATION = re.compile(
    rb"""\A\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._:\-]{1,40})["']""", re.IGNORECASE
)
_ENCODING_BY_PREFIX = {  # longer ones first
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    b"<\0": "utf-16-le",  # without a mark, XML begins with `<`
    b"\0<": "utf-16-be",
}
_PYTHON_CODECS = {  # of encodings that browsers and Python call differently
    "windows-874": "cp874",
    "iso-8859-8-i": "iso8859-8",
    "x-mac-cyrillic": "mac-cyrillic",
}
_AMBIGUOUS_NAMES = frozenset(  # the label says more: which byte is first, or an encoding that browsers refuse to show
    ("", "utf-16le", "utf-16be", "replacement")
)
_SUPERSETS = {  # what browsers read instead (WHATWG): files declare the narrow one and use characters of the wide one
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}
# Names Python knows that are no encodings of web files, or that need a mark at the start which was not there.
_REJECTED_CODECS = frozenset(
    ("utf-7", "utf-16", "utf-32", "idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined")
)


def has_byte_order_mark(head: bytes) -> bool:
    """Say whether bytes begin with a byte order mark."""
    return head.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE))


def detect_encoding(head: bytes, charset: str = "") -> str:
    """Choose by the first bytes, then by what the file declares, then by what the server does; else UTF-8."""
    for mark, name in _ENCODING_BY_PREFIX.items():
        if head.startswith(mark):
            return name
    declared = _XML_DECLARATION.match(head)
    return (get_codec(declared[1].decode()) if declared else "") or get_codec(charset) or "utf-8"


def get_codec(label: str) -> str:
    """Give the codec for a label, by the names of WHATWG, then by Python's; nothing if no file could be in it."""
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
    """Name an encoding as the standard does (WHATWG); nothing if the label is none of its labels."""
    try:
        return turbohtml.parse(b"", encoding=label).encoding or ""
    except LookupError:
        return ""
