"""Parse HTML bytes into a tree. The only module that depends on a specific HTML parser."""

import re
from collections.abc import Sequence
from functools import partial
from itertools import repeat

import turbohtml
from turbohtml import Document, Element, Namespace

from sanderling.html.declared_encoding import BYTE_ORDER_MARKS, PRESCAN_BYTES
from sanderling.html.xhtml import expand_self_closed_tags
from sanderling.http.content_type import is_html, parse_charset

_match_xml_encoding = re.compile(rb"""<\?xml\b[^>]*?\bencoding\s*=\s*["']([A-Za-z0-9._:\-]{1,40})["']""").match
_search_meta_charset = re.compile(rb"<meta[^>]*?charset", re.IGNORECASE).search

__all__ = ["Document", "Element", "Namespace", "get_attribute_values", "is_html", "parse_charset", "parse_html"]


def parse_html(body: bytes, charset: str = "") -> Document:
    """Parse a page as a browser does. Encoding: byte order mark, then `charset`, then meta declaration.

    Declarative shadow roots stay templates, so that their links are found. An unclosed `<iframe>` inside
    `<noscript>` would swallow the rest of the page; such a page is parsed
    again with scripting, where `<noscript>` is plain text, and the text is dropped.
    """
    body = expand_self_closed_tags(body)
    tree = _parse_body(body, charset)
    if not any("<" in frame.text.partition("</noscript")[2] for frame in tree.find_all("iframe")):
        if tree.find("base") is not None and _may_move_base(body):
            _drop_noscript_bases(tree, _parse_body(body, charset, scripting=True))
        return tree
    tree = _parse_body(body, charset, scripting=True)
    for element in tree.find_all("noscript"):
        element.set_text("")
    return tree


def _may_move_base(body: bytes) -> bool:
    lower = body.lower()
    return -1 < lower.find(b"<noscript") < lower.rfind(b"<base")


def _drop_noscript_bases(tree: Document, scripting_tree: Document) -> None:
    """Remove the base elements before the first that a browser with scripting builds (WHATWG 13.2.6.4.5)."""
    first = next((base.attr("href") for base in scripting_tree.find_all("base") if base.attr("href") is not None), None)
    for element in tree.find_all("base"):
        if first is not None and element.attr("href") == first:
            return
        element.decompose()


def _parse_body(body: bytes, charset: str, scripting: bool = False) -> Document:
    """Parse a page. With `scripting`, the content of `<noscript>` is a single text node."""
    charset = charset or (_get_xml_encoding(body) if body.startswith(b"<?xml") else "")
    read = partial(turbohtml.parse, body, scripting=scripting, allow_declarative_shadow_roots=False)
    if charset and not body.startswith(BYTE_ORDER_MARKS):
        try:
            return read(encoding=charset)
        except LookupError:  # ignore an unknown charset
            pass
    return read(detect_encoding=True)


def _get_xml_encoding(body: bytes) -> str:
    """Return the encoding of the XML declaration, unless a meta charset overrides it."""
    declared = _match_xml_encoding(body[:PRESCAN_BYTES])
    if declared is None or _search_meta_charset(body[:PRESCAN_BYTES]):
        return ""
    name = declared[1].decode().lower()
    return "utf-8" if name.startswith("utf-16") else name  # the declaration was readable as ASCII, so it is not UTF-16


def get_attribute_values(elements: Sequence[Element], name: str) -> list[str]:
    """Return an attribute of all elements; much faster than a loop."""
    found = list(map(Element.attr, elements, repeat(name)))
    return [value or "" for value in found] if None in found else found  # type: ignore[return-value]
