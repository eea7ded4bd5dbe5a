"""Hash and MinHash sketch of the text of every page: equality and estimated similarity.

C and Python give the same bits, so their results can be mixed in a collection.
"""

import ctypes
import struct
from collections.abc import Callable

from sanderling.fingerprint.minhash import sketch_text
from sanderling.html.native import NATIVE
from sanderling.html.text import compact_text, hash_text

TextFingerprints = tuple[bytes, bytes]
TextHasher = Callable[[str], TextFingerprints | None]

NATIVE_OK = 1  # status of the library if it computed both
NativeHashes = ctypes.c_uint64 * 5  # FINGERPRINT_WORDS of html/_native/native.h
_pack_hash, _pack_sketch = struct.Struct(">Q").pack, struct.Struct("<4Q").pack


def fingerprint_text(text: str) -> TextFingerprints:
    """Return the hash (8 bytes) and the sketch (32 bytes) of a text."""
    return (_native_hasher(text) if _native_hasher is not None else None) or fingerprint_text_in_python(text)


def fingerprint_text_in_python(text: str) -> TextFingerprints:
    return hash_text(compact_text(text)), sketch_text(text)


def pack_native_hashes(hashes: "ctypes.Array[ctypes.c_uint64]") -> TextFingerprints:
    return _pack_hash(hashes[0]), _pack_sketch(*hashes[1:])


def build_text_hasher(native: ctypes.CDLL) -> TextHasher:
    """Bind the library. Its result is None if memory is exhausted."""
    call = native.sanderling_text_fingerprints
    call.argtypes = (ctypes.c_char_p, ctypes.c_size_t, NativeHashes)

    def hash_text(text: str) -> TextFingerprints | None:
        raw, hashes = text.encode("utf-8", "replace"), NativeHashes()
        return pack_native_hashes(hashes) if call(raw, len(raw), hashes) == NATIVE_OK else None

    return hash_text


_native_hasher = build_text_hasher(NATIVE) if NATIVE is not None else None
