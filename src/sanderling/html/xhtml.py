"""Expand self-closed tags of XHTML pages, such as `<script src="x"/>`, before HTML parsing.

An HTML parser would take the rest of the page as the content of the script. A page counts as XHTML if it names the
namespace and is well-formed XML; headers are not used, because the archive may be read without them.
"""

import re
from xml.parsers.expat import ExpatError, ParserCreate

from sanderling.html.native_tables import NAMESPACE_SEARCH_BYTES, RAW_TEXT_TAGS, VOID_TAGS, XHTML_NAMESPACE

SINGLE_BYTE_ENCODING = "iso-8859-1"  # every byte is a character, so tags are found whatever the real encoding is
UTF8_BOM = b"\xef\xbb\xbf"
# A self-closed raw text element. Matching the first letter separately is twice as fast.
_search_self_closed_raw_text = re.compile(
    rb"<[stinx](?:cript|tyle|itle|extarea|frame|oframes|oembed|mp)\b[^<>]*/>"
).search


def expand_self_closed_tags(body: bytes) -> bytes:
    """Replace `<x/>` with `<x></x>`, if an HTML parser would misread it."""
    if XHTML_NAMESPACE not in body[:NAMESPACE_SEARCH_BYTES] or _search_self_closed_raw_text(body) is None:
        return body
    parts, done = [], 0
    for end, name in _find_self_closed_tags(body):
        parts += [body[done : end - 2], b"></", name.encode(SINGLE_BYTE_ENCODING), b">"]
        done = end
    return b"".join(parts) + body[done:]


def _find_self_closed_tags(body: bytes) -> list[tuple[int, str]]:
    """Return (end offset, name) of self-closed tags; empty unless one is a raw text element."""
    parser, found, is_empty = ParserCreate(SINGLE_BYTE_ENCODING), list[tuple[int, str]](), False
    bom_length = len(UTF8_BOM) if body.startswith(UTF8_BOM) else 0
    raw = ""  # open raw text element

    def on_start(name: str, _attributes: object) -> None:
        nonlocal is_empty, raw
        is_empty = True
        raw = raw or (name if name in RAW_TEXT_TAGS else "")

    def on_text(_text: str) -> None:
        nonlocal is_empty
        is_empty = False

    def on_end(name: str) -> None:
        nonlocal is_empty, raw
        offset = parser.CurrentByteIndex + bom_length
        if is_empty and body[offset - 2 : offset] == b"/>" and name not in VOID_TAGS and raw in ("", name):
            found.append((offset, name))
        is_empty = False
        raw = "" if name == raw else raw

    def reject_entity(*_: object) -> None:
        raise ValueError("entity declarations are rejected: they may expand exponentially")

    parser.UseForeignDTD(True)  # accepts HTML entities such as `&nbsp;`
    parser.EntityDeclHandler = reject_entity
    parser.StartElementHandler, parser.CharacterDataHandler, parser.EndElementHandler = on_start, on_text, on_end
    try:
        parser.Parse(body[bom_length:], True)
    except (ExpatError, ValueError):
        return []
    return found if any(name in RAW_TEXT_TAGS for _, name in found) else []
