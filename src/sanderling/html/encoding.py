"""In which encoding a file is written: bytes of its beginning in, the name of a codec out."""

import codecs
import re
from functools import lru_cache

import turbohtml

_DECLARED = re.compile(rb"""\A\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._:\-]{1,40})["']""", re.IGNORECASE)
_MARKS = {  # longer ones first
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    b"<\0": "utf-16-le",  # without a mark, XML begins with `<`
    b"\0<": "utf-16-be",
}
_CODECS = {  # of encodings that browsers and Python call differently
    "windows-874": "cp874",
    "iso-8859-8-i": "iso8859-8",
    "x-mac-cyrillic": "mac-cyrillic",
}
_UNSAID = frozenset(  # the label says more: which byte is first, or an encoding that browsers refuse to show
    ("", "utf-16le", "utf-16be", "replacement")
)
_WIDER = {  # what browsers read instead (WHATWG): files declare the narrow one and use characters of the wide one
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}
# Names Python knows that are no encodings of web files, or that need a mark at the start which was not there.
_REFUSED = frozenset(
    ("utf-7", "utf-16", "utf-32", "idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined")
)


def has_mark(head: bytes) -> bool:
    """Say whether bytes begin with a byte order mark."""
    return head.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE))


def encoding_of(head: bytes, charset: str = "") -> str:
    """Choose by the first bytes, then by what the file declares, then by what the server does; else UTF-8."""
    for mark, name in _MARKS.items():
        if head.startswith(mark):
            return name
    declared = _DECLARED.match(head)
    return (codec_of(declared[1].decode()) if declared else "") or codec_of(charset) or "utf-8"


def codec_of(label: str) -> str:
    """Give the codec for a label, by the names of WHATWG, then by Python's; nothing if no file could be in it."""
    name = standard_name(label).lower()
    try:
        info = codecs.lookup(label if name in _UNSAID else _CODECS.get(name, name))
    except (LookupError, ValueError):
        return ""
    if not info._is_text_encoding or info.name in _REFUSED:
        return ""
    return _WIDER.get(info.name, info.name)


@lru_cache(maxsize=256)
def standard_name(label: str) -> str:
    """Name an encoding as the standard does (WHATWG); nothing if the label is none of its labels."""
    try:
        return turbohtml.parse(b"", encoding=label).encoding or ""
    except LookupError:
        return ""
