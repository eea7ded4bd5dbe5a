"""Bytes to a tree: the only module that knows which HTML parser we use."""

import re
from collections.abc import Sequence
from functools import partial
from itertools import repeat

import turbohtml
from turbohtml import Document, Element, Namespace

from sanderling.html.declared_encoding import MARKS_OF_ORDER, PRESCAN
from sanderling.html.xhtml import closed
from sanderling.http.content_type import charset_of, is_html

_XML_ENCODING = re.compile(rb"""<\?xml\b[^>]*?\bencoding\s*=\s*["']([A-Za-z0-9._:\-]{1,40})["']""").match
_META_CHARSET = re.compile(rb"<meta[^>]*?charset", re.IGNORECASE).search

__all__ = ["Document", "Element", "Namespace", "charset_of", "is_html", "parse", "values"]


def parse(body: bytes, charset: str = "", positions: bool = False) -> Document:
    """Parse a page as a browser would: byte order mark, then the declared charset, then what the page says itself.

    With `positions` elements know where in the body they begin. Trees that a page hangs into the shadow of its own stay
    templates, so that their links are found.
    """
    body = closed(body)
    tree = _parsed(body, charset, positions)
    if not any("<" in frame.text.partition("</noscript")[2] for frame in tree.find_all("iframe")):
        if tree.find("base") is not None and _may_move_base(body):
            _drop_unscripted_bases(tree, _parsed(body, charset, False, scripting=True))
        return tree
    tree = _parsed(body, charset, positions, scripting=True)
    for element in tree.find_all("noscript"):
        element.set_text("")
    return tree


def _may_move_base(body: bytes) -> bool:
    """Return whether a `<base>` tag follows a `<noscript>` tag in the source."""
    lower = body.lower()
    return -1 < lower.find(b"<noscript") < lower.rfind(b"<base")


def _drop_unscripted_bases(tree: Document, scripted: Document) -> None:
    """Remove the bases before the first one that a browser with scripting builds.

    Without scripting, `<base>` ends a `<noscript>` in the head, and stands beside it in the tree (WHATWG 13.2.6.4.5).
    """
    first = next((base.attr("href") for base in scripted.find_all("base") if base.attr("href") is not None), None)
    for element in tree.find_all("base"):
        if first is not None and element.attr("href") == first:
            return
        element.decompose()


def _parsed(body: bytes, charset: str, positions: bool, scripting: bool = False) -> Document:
    """Parse a page; with `scripting` what is for those without scripts is one text.

    A browser reads it so: there a frame that nothing closes takes no more along. Else it swallows the rest of the page.
    """
    charset = charset or (_of_xml(body) if body.startswith(b"<?xml") else "")
    read = partial(
        turbohtml.parse, body, positions=positions, scripting=scripting, allow_declarative_shadow_roots=False
    )
    if charset and not body.startswith(MARKS_OF_ORDER):
        try:
            return read(encoding=charset)
        except LookupError:  # a charset nobody knows is no declaration
            pass
    return read(detect_encoding=True)


def _of_xml(body: bytes) -> str:
    """Take the encoding out of an XML declaration, unless the page says it the way of HTML, which counts more."""
    declared = _XML_ENCODING(body[:PRESCAN])
    if declared is None or _META_CHARSET(body[:PRESCAN]):
        return ""
    name = declared[1].decode().lower()
    return "utf-8" if name.startswith("utf-16") else name  # what could be read so far is no UTF-16


def values(elements: Sequence[Element], name: str) -> list[str]:
    """Read one attribute of elements that have it, all in one go."""
    found = list(map(Element.attr, elements, repeat(name)))
    return [value or "" for value in found] if None in found else found  # type: ignore[return-value]
