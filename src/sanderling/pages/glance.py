"""A new page at a glance: all that is asked of it, read without a tree, where that makes no difference.

`c/glance.c` reads most pages of most sites so, in less than half of the time; the others it gives back, and they are
parsed. What it says is what the tree says.
"""

import ctypes
from collections.abc import Callable, Iterator
from typing import NamedTuple

from msgspec import Struct

from sanderling.pages.declared import encoding_of
from sanderling.pages.native import NATIVE, Native
from sanderling.pages.pretence import LONGEST, may_pretend
from sanderling.pages.text import MAX_TEXT
from sanderling.pages.textmarks import TOLD, Marks, Numbers, in_python, written

MOST = 100_000  # fields that elements tell; of more a tree takes less room
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
    marks: Marks  # of its text
    bare: tuple[str, str] | None = None  # rel and words of its first link to a place of its own

    @property
    def links(self) -> Iterator[tuple[str, str, str]]:
        """Read the table of its links."""
        fields = iter(self.table.decode().split(END)[:-1])
        return zip(fields, fields, fields, strict=True)


class _Found(ctypes.Structure):
    """What the library gives: texts in UTF-8, to be given back."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("room", "said", "text")),
        *((name, ctypes.c_uint64) for name in ("links_size", "said_size", "text_size", "letters", "told", "blocks")),
        ("marks", Numbers),
        ("is_marked", ctypes.c_int32),
    )

    def read_text(self) -> str:
        return ctypes.string_at(self.text, self.text_size).decode()


def glance(body: bytes, charset: str) -> Glance | None:
    """Look at a page; None says that it has to be parsed."""
    if _looker is None or len(body) > MAX_TEXT:
        return None
    encoding = encoding_of(body, charset)
    return _looker(body, encoding) if encoding == "UTF-8" or (encoding and body.isascii()) else None


def looker(native: Native) -> Callable[[bytes, str], Glance | None]:
    """Call the library."""
    look, give_back = native.library.sanderling_glance, native.library.sanderling_give_back
    pointer = ctypes.POINTER(_Found)
    look.argtypes = (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p, pointer)
    give_back.argtypes = (ctypes.c_void_p,)

    def seen(body: bytes, encoding: str) -> Glance | None:
        found = _Found()
        if not look(body, len(body), native.hash_of, found):
            return None
        try:
            return _read(found, encoding)
        finally:
            give_back(found.room)

    return seen


def _read(found: _Found, encoding: str) -> Glance | None:
    if found.told > MOST:
        return None
    table = ctypes.string_at(found.said, found.links_size)
    said = ctypes.string_at(found.said + found.links_size, found.said_size - found.links_size)
    fields = said.decode().split(END)
    told = list(map(Seen._make, zip(*[iter(fields[: found.told])] * len(Seen._fields), strict=True)))
    language, heading, *bare = fields[found.told + found.blocks : -1]
    if found.letters <= LONGEST:
        title = next((one.text for one in told if one.tag == "title" and not one.is_unscripted), "")
        if may_pretend((title, heading), found.read_text()):
            return None
    marks = written(found.marks) if found.is_marked == TOLD else in_python(found.read_text())
    blocks = fields[found.told : found.told + found.blocks]
    return Glance(encoding, language, told, table, blocks, marks, (bare[0], bare[1]) if bare else None)


_looker = looker(NATIVE) if NATIVE is not None else None
