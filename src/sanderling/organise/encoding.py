"""The query of a link is in the encoding of its page, as in browsers: old servers expect no other."""

import re

QUERY_BYTES = frozenset(range(0x21, 0x7F)) - frozenset(b"\"#<>'")
CODECS = {  # of encodings that browsers and Python call differently, or know differently well
    "shift_jis": "cp932",
    "euc-kr": "cp949",
    "big5": "big5hkscs",
    "windows-874": "cp874",
    "iso-8859-8-i": "iso-8859-8",
    "x-mac-cyrillic": "mac-cyrillic",
}
NOT_ASCII = re.compile(r"[^\x00-\x7f]+")


def in_encoding(raw: str, encoding: str, most: int) -> str:
    """Escape the query in the encoding of its page; the parser would take UTF-8. What is too long stays as it is."""
    if raw.isascii() or "?" not in raw or len(raw) > most or encoding.lower().startswith("utf"):
        return raw
    rest, number_sign, fragment = raw.partition("#")
    path, mark, query = rest.partition("?")
    return path + mark + NOT_ASCII.sub(lambda found: _escaped(found[0], encoding), query) + number_sign + fragment


def _escaped(text: str, encoding: str) -> str:
    try:
        encoded = text.encode(CODECS.get(encoding.lower(), encoding))
        return "".join(chr(byte) if byte in QUERY_BYTES else f"%{byte:02X}" for byte in encoded)
    except UnicodeEncodeError:
        if len(text) > 1:
            return "".join(_escaped(char, encoding) for char in text)
        return f"%26%23{ord(text)}%3B"
    except LookupError:
        return text
