"""Data model of the fast scan: a page without a tree."""

from collections.abc import Iterator
from typing import NamedTuple

from msgspec import Struct

FIELD_END = "\0"
IGNORED_META_NAMES = (
    "viewport",
    "generator",
)  # meta elements that the scan skips; a crawler with such a user agent needs a tree


class ScannedElement(NamedTuple):
    """An element with metadata or a link; missing attributes are empty."""

    tag: str
    is_in_noscript: str  # "1" inside <noscript>, else ""
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
        return self[_FIELD_INDEXES[name]]


_FIELD_INDEXES = {name.replace("_", "-"): place for place, name in enumerate(ScannedElement._fields)}


class ScanResult(Struct, frozen=True):
    """Result of the fast scan of a page."""

    encoding: str
    language: str
    elements: list[ScannedElement]
    link_table: bytes  # href without fragment, rel, and anchor text of each link; targets may repeat
    structure_blocks: list[str]  # input of the structure fingerprint
    text_fingerprints: tuple[bytes, bytes]
    same_page_link: tuple[str, str] | None = None  # (rel, anchor text) of the first same-page link

    @property
    def links(self) -> Iterator[tuple[str, str, str]]:
        """Yield (href, rel, anchor text) of each link."""
        fields = iter(self.link_table.decode().split(FIELD_END)[:-1])
        return zip(fields, fields, fields, strict=True)
