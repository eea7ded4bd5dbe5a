"""The stable hash of a page ignores tokens, comments, hidden values, and data in scripts.

Versions with the same stable hash have the same fingerprint and need not be compared. Without the compiled library
there are no stable hashes.
"""

import ctypes
from collections.abc import Callable

from sanderling.fingerprint.model import FINGERPRINT_VERSION
from sanderling.html.native import NATIVE

HASHED_CHARSET = "utf-8"  # pages in other charsets have no stable hash
DIGEST_PREFIX_SIZE = 8  # bytes of the body digest stored with the hash
_VERSION_PREFIX = FINGERPRINT_VERSION.to_bytes(2, "big")  # what is stable depends on the version


def compute_stable_hash(body: bytes) -> bytes:
    """Return the stable hash of a page in UTF-8; empty if unknown."""
    return _native_hasher(body) if _native_hasher is not None else b""


def pack_stable_hash(stable_hash: bytes, digest: bytes) -> bytes:
    return _VERSION_PREFIX + stable_hash + digest[:DIGEST_PREFIX_SIZE] if stable_hash else b""


def unpack_stable_hash(packed_hash: bytes, digest: bytes) -> bytes:
    """Return the packed hash; empty if it belongs to another body or version."""
    return (
        packed_hash[len(_VERSION_PREFIX) : -DIGEST_PREFIX_SIZE]
        if packed_hash == pack_stable_hash(packed_hash[len(_VERSION_PREFIX) : -DIGEST_PREFIX_SIZE], digest)
        else b""
    )


def build_stable_hasher(native: ctypes.CDLL) -> Callable[[bytes], bytes]:
    call = native.sanderling_stable_hash
    call.argtypes = (ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_uint64))

    def hash_body(body: bytes) -> bytes:
        result = ctypes.c_uint64()
        return result.value.to_bytes(8, "big") if call(body, len(body), result) else b""

    return hash_body


_native_hasher = build_stable_hasher(NATIVE) if NATIVE is not None else None
