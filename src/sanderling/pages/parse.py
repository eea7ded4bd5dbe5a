"""Bytes to a tree: the only module that knows which HTML parser we use."""

from collections.abc import Sequence
from itertools import repeat

import turbohtml
from turbohtml import Document, Element, Namespace

from sanderling.pages.media import charset_of, is_html

__all__ = ["Document", "Element", "Namespace", "charset_of", "is_html", "parse", "values"]


def parse(body: bytes, charset: str = "") -> Document:
    """Parse a page as a browser would: byte order mark, then the declared charset, then what the page says itself."""
    if charset and not body.startswith((b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe")):
        try:
            return turbohtml.parse(body, encoding=charset, positions=False)
        except LookupError:  # a charset nobody knows is no declaration
            pass
    return turbohtml.parse(body, detect_encoding=True, positions=False)


def values(elements: Sequence[Element], name: str) -> list[str]:
    """Read one attribute of elements that have it, all in one go."""
    found = list(map(Element.attr, elements, repeat(name)))
    return [value or "" for value in found] if None in found else found  # type: ignore[return-value]
