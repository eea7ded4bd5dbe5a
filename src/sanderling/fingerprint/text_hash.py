"""The two marks of every page's text: a hash to test for equality, and a MinHash sketch to estimate similarity.

They are made in C where that was compiled (`c/textmarks.c`), else in Python. Both say the same to the bit: what
one wrote the other may compare with.
"""

import ctypes
import struct
from collections.abc import Callable

from sanderling.fingerprint.minhash import sketch
from sanderling.html.native import NATIVE, Native
from sanderling.html.text import dense, text_mark

Marks = tuple[bytes, bytes]
Maker = Callable[[str], Marks | None]

TOLD = 1  # what the library gives where it made both marks
Numbers = ctypes.c_uint64 * 5  # MARKS of c/native.h
_pack_hash, _pack_sketch = struct.Struct(">Q").pack, struct.Struct("<4Q").pack


def text_marks(words: str) -> Marks:
    """Mark the readable text of a page: a hash of 8 bytes and a sketch of 32."""
    return (_native(words) if _native is not None else None) or in_python(words)


def in_python(words: str) -> Marks:
    """Mark a text without the library."""
    return text_mark(dense(words)), sketch(words)


def written(found: "ctypes.Array[ctypes.c_uint64]") -> Marks:
    """Convert the numbers of the library to marks."""
    return _pack_hash(found[0]), _pack_sketch(*found[1:])


def maker(native: Native) -> Maker:
    """Call the library; the result is None where memory is exhausted."""
    call = native.library.sanderling_text_marks
    call.argtypes = (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p, Numbers)

    def make(words: str) -> Marks | None:
        raw, found = words.encode("utf-8", "replace"), Numbers()
        return written(found) if call(raw, len(raw), native.hash_of, found) == TOLD else None

    return make


_native = maker(NATIVE) if NATIVE is not None else None
