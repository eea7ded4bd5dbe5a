"""Percent-encode queries in the encoding of their page, as browsers do.

Python's codecs for Chinese and Japanese differ from the encoders of the WHATWG Encoding Standard in thousands of
characters. Their tables are derived here from codecs with the same repertoire.
"""

import re
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from functools import cache

QUERY_BYTES = frozenset(range(0x21, 0x7F)) - frozenset(b"\"#<>'")
QUERY_CODECS = {  # Python codecs for encodings that browsers name or define differently
    "euc-kr": "cp949",
    "windows-874": "cp874",
    "iso-8859-8-i": "iso-8859-8",
    "x-mac-cyrillic": "mac-cyrillic",
}
NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
SHIFT_JIS_SKIPPED = (0xED, 0xEE, *range(0xF0, 0xFA))  # lead bytes of NEC duplicates and of the private use area
BIG5_EXTRA = {chr(0x2400 + n): bytes((0xA3, 0xC0 + n)) for n in range(32)} | {
    "\u2421": b"\xa3\xe0",
    "仝": b"\xc6\xdf",
    "嘅": b"\xfbH",
    "廐": b"\xfb\xf9",
    "廴": b"\xc6\xcf",
    "悤": b"\xfcl",
    "无": b"\xc6\xd3",
    "猪": b"\xfeR",
    "癶": b"\xc6\xd5",
    "隶": b"\xc6\xd7",
}  # characters that Python's codec lacks or has elsewhere
BIG5_SYMBOL_LEADS = (0xA1, 0xA2, 0xA3)  # defined as in code page 950
GBK_REFUSED = "\ue5e5"  # decodes to a space
GB18030_2022 = dict(
    zip(
        "\u1e3f\u9fb4\u9fb5\u9fb6\u9fb7\u9fb8\u9fb9\u9fba\u9fbb"
        "\ufe10\ufe11\ufe12\ufe13\ufe14\ufe15\ufe16\ufe17\ufe18\ufe19",
        re.findall(
            b"..",
            bytes.fromhex("a8bcfe59fe61fe66fe67fe6dfe7efe90fea0a6d9a6dba6daa6dca6dda6dea6dfa6eca6eda6f3"),
            re.DOTALL,
        ),
        strict=True,
    )
)  # characters that Python's codec has in the private use area
BIG5_LAST_POINTERS = "═╞╡╪十卅"  # of these the last of two pointers is used
BIG5_FIRST_LEAD = 0xA1  # lower ones are HKSCS, which encoders do not use
SOUND_MARKS = {"\uff9e": "\u309b", "\uff9f": "\u309c"}  # half-width to full-width, not combining
KATAKANA = range(0xFF61, 0xFFA0)  # half width
YEN, OVERLINE, MINUS, FULLWIDTH_MINUS = "\u00a5", "\u203e", "\u2212", "\uff0d"
ESCAPE_ASCII, ESCAPE_ROMAN, ESCAPE_JIS = b"\x1b(B", b"\x1b(J", b"\x1b$B"


def encode_query(raw: str, encoding: str, max_length: int) -> str:
    """Percent-encode the query of a URL in the encoding of its page."""
    if raw.isascii() or "?" not in raw or len(raw) > max_length or encoding.lower().startswith("utf"):
        return raw
    rest, number_sign, fragment = raw.partition("#")
    path, question_mark, query = rest.partition("?")
    escaped = NOT_ASCII.sub(lambda match: _escape_text(match[0], encoding), query)
    return path + question_mark + escaped + number_sign + fragment


def _escape_text(text: str, encoding: str) -> str:
    try:
        encoded = _encode_text(text, encoding.lower())
        return "".join(chr(byte) if byte in QUERY_BYTES else f"%{byte:02X}" for byte in encoded)
    except UnicodeEncodeError:
        if len(text) > 1:
            return "".join(_escape_text(char, encoding) for char in text)
        return f"%26%23{ord(text)}%3B"
    except LookupError:
        return text


def _encode_text(text: str, encoding: str) -> bytes:
    if encoding in ("euc-jp", "shift_jis", "big5", "gbk"):
        table = _build_table(encoding)
        return b"".join(table[char] if char in table else _refuse(char, encoding) for char in text)
    if encoding == "iso-2022-jp":
        return _encode_iso_2022_jp(text)
    return text.encode(QUERY_CODECS.get(encoding, encoding))


def _refuse(char: str, encoding: str) -> bytes:
    raise UnicodeEncodeError(encoding, char, 0, 1, "no such character")


def _encode_iso_2022_jp(text: str) -> bytes:
    """Encode a run of other characters than ASCII, and return to ASCII."""
    parts, state = [], ESCAPE_ASCII
    for char in text:
        if char in (YEN, OVERLINE):
            needed, code = ESCAPE_ROMAN, b"\\" if char == YEN else b"~"
        else:
            fullwidth = unicodedata.normalize("NFKC", char) if ord(char) in KATAKANA else char
            code = bytes(byte & 0x7F for byte in _build_jis_table().get(SOUND_MARKS.get(char, fullwidth), b""))
            needed = ESCAPE_JIS
        parts.append((b"" if needed == state else needed) + (code or _refuse(char, "iso-2022-jp")))
        state = needed
    return b"".join(parts) + ESCAPE_ASCII


@cache
def _build_table(encoding: str) -> dict[str, bytes]:
    """Return the bytes of each character besides ASCII in an encoder of the standard."""
    if encoding == "gbk":
        table = _invert_codes(_list_codes(range(0x81, 0xFF), range(0x40, 0xFF)), "gb18030")
        table.pop(GBK_REFUSED)
        return table | GB18030_2022 | {"€": b"\x80"}
    if encoding == "big5":
        symbols = _invert_codes(_list_codes(BIG5_SYMBOL_LEADS, range(0x40, 0xFF)), "cp950")
        table = _invert_codes(_list_codes(range(BIG5_FIRST_LEAD, 0xFF), range(0x40, 0xFF)), "big5hkscs")
        used = frozenset(symbols.values())
        table = {char: code for char, code in table.items() if code not in used} | symbols | BIG5_EXTRA
        return table | {char: char.encode("big5hkscs") for char in BIG5_LAST_POINTERS}
    table = _build_jis_table() if encoding == "euc-jp" else _invert_shift_jis()
    prefix = b"\x8e" if encoding == "euc-jp" else b""
    return (
        table
        | {chr(code): prefix + bytes([code - KATAKANA.start + 0xA1]) for code in KATAKANA}
        | {YEN: b"\\", OVERLINE: b"~", MINUS: table[FULLWIDTH_MINUS]}
    )


@cache
def _build_jis_table() -> dict[str, bytes]:
    """Return the index jis0208 of the standard, with codes as in EUC-JP."""
    rows = (*range(0x81, 0xA0), *range(0xE0, 0xF0))
    table: dict[str, bytes] = {}
    for code in _list_codes(rows, range(0x40, 0xFD)):
        row, cell = _convert_to_row(code)
        with suppress(UnicodeDecodeError):
            table.setdefault(code.decode("cp932"), bytes([row, cell]))
    return table | {MINUS: table[FULLWIDTH_MINUS]}


def _convert_to_row(code: bytes) -> tuple[int, int]:
    """Return the two bytes of EUC-JP for two bytes of Shift_JIS."""
    lead, trail = code
    pointer = (lead - (0x81 if lead < 0xA0 else 0xC1)) * 188 + trail - (0x40 if trail < 0x7F else 0x41)
    return pointer // 94 + 0xA1, pointer % 94 + 0xA1


def _invert_shift_jis() -> dict[str, bytes]:
    leads = (lead for lead in (*range(0x81, 0xA0), *range(0xE0, 0xFD)) if lead not in SHIFT_JIS_SKIPPED)
    return _invert_codes(_list_codes(leads, range(0x40, 0xFD)), "cp932")


def _list_codes(leads: Iterable[int], trails: Iterable[int]) -> list[bytes]:
    trails = tuple(trail for trail in trails if trail != 0x7F)
    return [bytes((lead, trail)) for lead in leads for trail in trails]


def _invert_codes(codes: Iterable[bytes], codec: str) -> dict[str, bytes]:
    """Return the first code of each character."""
    table: dict[str, bytes] = {}
    for code in codes:
        with suppress(UnicodeDecodeError):
            table.setdefault(code.decode(codec), code)
    return table
