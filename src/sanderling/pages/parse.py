"""Bytes to a tree: the only module that knows which HTML parser we use."""

from collections.abc import Sequence
from itertools import repeat

import turbohtml
from turbohtml import Document, Element

__all__ = ["Document", "Element", "charset_of", "is_html", "parse", "values"]

HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})


def is_html(mime: str, body: bytes) -> bool:
    """Say whether these bytes are a page: by the declared type, by a sniff where none is declared."""
    if mime:
        return mime in HTML_TYPES
    start = body[:512].lstrip().lower()
    return start.startswith((b"<!doctype html", b"<html", b"<head", b"<body", b"<title", b"<!--"))


def charset_of(content_type: str) -> str:
    """Take the charset parameter out of a Content-Type header; empty if there is none."""
    for part in content_type.split(";")[1:]:
        name, _, value = part.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip("\"'").lower()
    return ""


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
