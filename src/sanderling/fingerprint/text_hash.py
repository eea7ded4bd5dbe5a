"""The two marks of every page's text: a hash to test for equality, and a MinHash sketch to estimate similarity.

They are made in C where that was compiled (`html/_native/text_fingerprints.c`), else in Python. Both say the same to the bit: what
one wrote the other may compare with.
"""

import ctypes
import struct
from collections.abc import Callable

from sanderling.fingerprint.minhash import sketch_text
from sanderling.html.native import NATIVE, NativeLibrary
from sanderling.html.text import compact_text, hash_text

TextFingerprints = tuple[bytes, bytes]
TextHasher = Callable[[str], TextFingerprints | None]

NATIVE_OK = 1  # what the library gives where it made both marks
NativeHashes = ctypes.c_uint64 * 5  # FINGERPRINT_WORDS of html/_native/native.h
_pack_hash, _pack_sketch = struct.Struct(">Q").pack, struct.Struct("<4Q").pack


def fingerprint_text(text: str) -> TextFingerprints:
    """Mark the readable text of a page: a hash of 8 bytes and a sketch of 32."""
    return (_native_hasher(text) if _native_hasher is not None else None) or fingerprint_text_in_python(text)


def fingerprint_text_in_python(text: str) -> TextFingerprints:
    """Mark a text without the library."""
    return hash_text(compact_text(text)), sketch_text(text)


def pack_native_hashes(hashes: "ctypes.Array[ctypes.c_uint64]") -> TextFingerprints:
    """Convert the numbers of the library to marks."""
    return _pack_hash(hashes[0]), _pack_sketch(*hashes[1:])


def build_text_hasher(native: NativeLibrary) -> TextHasher:
    """Call the library; the result is None where memory is exhausted."""
    call = native.library.sanderling_text_fingerprints
    call.argtypes = (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p, NativeHashes)

    def make(words: str) -> TextFingerprints | None:
        raw, found = words.encode("utf-8", "replace"), NativeHashes()
        return pack_native_hashes(found) if call(raw, len(raw), native.hash_function, found) == NATIVE_OK else None

    return make


_native_hasher = build_text_hasher(NATIVE) if NATIVE is not None else None
