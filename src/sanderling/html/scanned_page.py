"""A page as the fast scan reads it, without a tree: elements of its head, links, and marks of its text."""

from collections.abc import Iterator
from typing import NamedTuple

from msgspec import Struct

FIELD_END = "\0"  # of a field
IGNORED_META_NAMES = (
    "viewport",
    "generator",
)  # names of meta tags that are not told; a robot that is called so needs a tree


class ScannedElement(NamedTuple):
    """An element that says something of the page or of others; what it does not say is empty."""

    tag: str
    is_in_noscript: str  # for those without scripts
    text: str
    href: str
    rel: str
    type: str
    hreflang: str
    media: str
    name: str
    content: str
    http_equiv: str
    src: str
    alt: str

    def attr(self, name: str) -> str:
        """Give one attribute."""
        return self[_FIELD_INDEXES[name]]


_FIELD_INDEXES = {name.replace("_", "-"): place for place, name in enumerate(ScannedElement._fields)}


class ScanResult(Struct, frozen=True):
    """What was seen of a page."""

    encoding: str
    language: str
    elements: list[ScannedElement]
    link_table: bytes  # of its links: target without fragment, rel and words of each; most targets are there once
    structure_blocks: list[str]  # what structure.structure is made of
    text_fingerprints: tuple[bytes, bytes]  # of its text
    same_page_link: tuple[str, str] | None = None  # rel and words of its first link to a place of its own

    @property
    def links(self) -> Iterator[tuple[str, str, str]]:
        """Read the table of its links."""
        fields = iter(self.link_table.decode().split(FIELD_END)[:-1])
        return zip(fields, fields, fields, strict=True)
