"""Data model of the fast scan: a page without a tree."""

from collections.abc import Iterator

from msgspec import Struct

from sanderling.html.native_tables import ScannedElement

FIELD_END = "\0"


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
