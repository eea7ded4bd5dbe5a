"""A page as the fast scan reads it, without a tree: elements of its head, links, and marks of its text."""

from collections.abc import Iterator
from typing import NamedTuple

from msgspec import Struct

END = "\0"  # of a field
MUTE = ("viewport", "generator")  # names of meta tags that are not told; a robot that is called so needs a tree


class Seen(NamedTuple):
    """An element that says something of the page or of others; what it does not say is empty."""

    tag: str
    is_unscripted: str  # for those without scripts
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
        return self[_PLACES[name]]


_PLACES = {name.replace("_", "-"): place for place, name in enumerate(Seen._fields)}


class Glance(Struct, frozen=True):
    """What was seen of a page."""

    encoding: str
    language: str
    told: list[Seen]
    table: bytes  # of its links: target without fragment, rel and words of each; most targets are there once
    blocks: list[str]  # what structure.structure is made of
    marks: tuple[bytes, bytes]  # of its text
    bare: tuple[str, str] | None = None  # rel and words of its first link to a place of its own

    @property
    def links(self) -> Iterator[tuple[str, str, str]]:
        """Read the table of its links."""
        fields = iter(self.table.decode().split(END)[:-1])
        return zip(fields, fields, fields, strict=True)
