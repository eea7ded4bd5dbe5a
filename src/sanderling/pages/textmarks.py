"""The two marks of every page's text: a hash that says whether it reads the same, a simhash that says how much alike.

They are made in C where that was compiled (`c/textmarks.c`), else in Python. Both say the same to the bit: what
one wrote the other may compare with.
"""

import ctypes
import struct
from collections.abc import Callable

from sanderling.pages.native import NATIVE, Native
from sanderling.pages.simhash import simhash
from sanderling.pages.text import dense, text_mark

Marks = tuple[bytes, bytes]
Maker = Callable[[str], Marks | None]

TOLD = 1  # what the library gives where it made both marks
_written, _swapped = struct.Struct(">Q").pack, struct.Struct("<Q").pack


def text_marks(words: str) -> Marks:
    """Mark the readable text of a page: whether it is the same, how much it is alike, eight bytes each."""
    return (_native(words) if _native is not None else None) or in_python(words)


def in_python(words: str) -> Marks:
    """Mark a text without the library."""
    letters = dense(words)
    return text_mark(letters), simhash(words, letters).to_bytes(8, "big")


def written(found: "ctypes.Array[ctypes.c_uint64]") -> Marks:
    """Write the two numbers of the library as marks."""
    return _written(found[0]), _swapped(found[1])


def maker(native: Native) -> Maker:
    """Call the library; what it makes is None for a text that is for Python."""
    numbers = ctypes.c_uint64 * 2
    call = native.library.sanderling_text_marks
    call.argtypes = (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p, numbers)

    def make(words: str) -> Marks | None:
        raw, found = words.encode("utf-8", "replace"), numbers()
        return written(found) if call(raw, len(raw), native.hash_of, found) == TOLD else None

    return make


_native = maker(NATIVE) if NATIVE is not None else None
