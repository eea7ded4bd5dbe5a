"""The two marks of every page's text: a hash that says whether it reads the same, a simhash that says how much alike.

They are made by a few lines of C where somebody compiled them (`textmarks.c`; installing does so where there is a
compiler), else in Python. Both say the same to the bit: what one wrote the other may compare with.
"""

import ctypes
import struct
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from xxhash import _xxhash  # type: ignore[attr-defined]  # the library itself, for its function in C

from sanderling.pages.simhash import simhash
from sanderling.pages.text import dense, text_mark

Marks = tuple[bytes, bytes]
Maker = Callable[[str], Marks | None]

SOURCE = Path(__file__).with_name("textmarks.c")
LIBRARY = Path(__file__).with_name("_textmarks.so")
VERSION = 1  # of what is called how; a library of another one is left alone
TOLD = 1  # what the library gives where it made both marks


def text_marks(words: str) -> Marks:
    """Mark the readable text of a page: whether it is the same, how much it is alike, eight bytes each."""
    return (_native(words) if _native is not None else None) or in_python(words)


def in_python(words: str) -> Marks:
    """Mark a text without the library."""
    letters = dense(words)
    return text_mark(letters), simhash(words, letters).to_bytes(8, "big")


def load(library: Path = LIBRARY) -> Maker | None:
    """Load the library, if it is there, of our version, and the hash is at hand that it needs."""
    with suppress(OSError, AttributeError):
        native, hashes = ctypes.CDLL(str(library)), ctypes.CDLL(_xxhash.__file__)
        if native.sanderling_ready() == VERSION:
            return _maker(native.sanderling_text_marks, ctypes.cast(hashes.XXH3_64bits, ctypes.c_void_p))
    return None


def _maker(call: "ctypes._NamedFuncPointer", hash_of: ctypes.c_void_p) -> Maker:
    numbers = ctypes.c_uint64 * 2
    call.argtypes = (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p, numbers)
    written, swapped = struct.Struct(">Q").pack, struct.Struct("<Q").pack

    def make(words: str) -> Marks | None:
        """Mark a text; None says: this one is for Python."""
        raw, found = words.encode("utf-8", "replace"), numbers()
        return (written(found[0]), swapped(found[1])) if call(raw, len(raw), hash_of, found) == TOLD else None

    return make


_native = load()
IS_NATIVE = _native is not None
