"""Pages written as XML: there `<script src="x"/>` is closed, where HTML would take the rest of the page into it.

That a page is one, its bytes say: it names the XHTML namespace and is well-formed. So whoever reads it again from the
archive, without its headers, reads it the same way. Any other page stays as it is, and is read as browsers read HTML.
"""

import re
from xml.parsers.expat import ExpatError, ParserCreate

XHTML_NAMESPACE = b"http://www.w3.org/1999/xhtml"
NAMESPACE_SEARCH_BYTES = 2048  # bytes in which a page has to name it
SINGLE_BYTE_ENCODING = (
    "iso-8859-1"  # in which any byte is a letter: whatever is said of its encoding, a page has the same tags
)
UTF8_BOM = b"\xef\xbb\xbf"
VOID_TAGS = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr")
)

RAW_TEXT_TAGS = frozenset(("script", "style", "title", "textarea", "iframe", "noframes", "noembed", "xmp"))
"""Elements whose content is no markup: in HTML they take all up to their end tag."""

# one of those; the first letter apart is twice as fast
_search_self_closed_raw_text = re.compile(
    rb"<[stinx](?:cript|tyle|itle|extarea|frame|oframes|oembed|mp)\b[^<>]*/>"
).search


def expand_self_closed_tags(body: bytes) -> bytes:
    """Give each element that a page closes in its own tag an end tag, where one would swallow what follows."""
    if XHTML_NAMESPACE not in body[:NAMESPACE_SEARCH_BYTES] or _search_self_closed_raw_text(body) is None:
        return body
    parts, done = [], 0
    for end, name in _find_self_closed_tags(body):
        parts += [body[done : end - 2], b"></", name.encode(SINGLE_BYTE_ENCODING), b">"]
        done = end
    return b"".join(parts) + body[done:]


def _find_self_closed_tags(body: bytes) -> list[tuple[int, str]]:
    """Find where tags end that close their element, with its name; none if the page is no XML or ends as in HTML."""
    parser, found, is_empty = ParserCreate(SINGLE_BYTE_ENCODING), list[tuple[int, str]](), False
    mark = len(UTF8_BOM) if body.startswith(UTF8_BOM) else 0
    raw = ""  # what is open in which HTML sees no tags

    def start(name: str, _attributes: object) -> None:
        nonlocal is_empty, raw
        is_empty = True
        raw = raw or (name if name in RAW_TEXT_TAGS else "")

    def fill(_text: str) -> None:
        nonlocal is_empty
        is_empty = False

    def end(name: str) -> None:
        nonlocal is_empty, raw
        at = parser.CurrentByteIndex + mark
        if is_empty and body[at - 2 : at] == b"/>" and name not in VOID_TAGS and raw in ("", name):
            found.append((at, name))
        is_empty = False
        raw = "" if name == raw else raw

    def refuse(*_: object) -> None:
        raise ValueError("entities of its own may be a bomb")

    parser.UseForeignDTD(True)  # so `&nbsp;` needs no declaration
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler, parser.CharacterDataHandler, parser.EndElementHandler = start, fill, end
    try:
        parser.Parse(body[mark:], True)
    except (ExpatError, ValueError):
        return []
    return found if any(name in RAW_TEXT_TAGS for _, name in found) else []
