"""A new page at a glance: all that is asked of it, read without a tree, where that makes no difference.

`c/glance.c` reads most pages of most sites so, in less than half of the time; the others it gives back, and they are
parsed. What it says is what the tree says.
"""

import ctypes
from collections.abc import Callable

from sanderling.content.soft_404 import LONGEST, may_pretend
from sanderling.fingerprint.text_hash import TOLD, Numbers, in_python, written
from sanderling.html.declared_encoding import encoding_of
from sanderling.html.native import NATIVE, Native
from sanderling.html.scanned_page import END, Glance, Seen
from sanderling.html.text import MAX_TEXT

MOST = 100_000  # fields that elements tell; of more a tree takes less room


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
