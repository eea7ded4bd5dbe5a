"""What is left of a page without what no mark sees: tokens, comments, hidden values, the data in scripts.

Two versions of which the same is left differ in nothing that is ever told, and need not be compared. That is known
where the library was compiled (`html/_native/stable_hash.c`); elsewhere all pages whose bytes differ are compared.
"""

import ctypes
from collections.abc import Callable

from sanderling.fingerprint.model import FINGERPRINT_VERSION
from sanderling.html.native import NATIVE, NativeLibrary

HASHED_CHARSET = "utf-8"  # pages in others are not sifted
DIGEST_PREFIX_SIZE = 8  # bytes of a digest that say of which body something is left
_VERSION_PREFIX = FINGERPRINT_VERSION.to_bytes(2, "big")  # of what these marks do not see


def compute_stable_hash(body: bytes) -> bytes:
    """Hash what is left of a page in UTF-8; empty if that is not sure."""
    return _native_hasher(body) if _native_hasher is not None else b""


def pack_stable_hash(stable_hash: bytes, digest: bytes) -> bytes:
    """Write down what is left of the body with this digest."""
    return _VERSION_PREFIX + stable_hash + digest[:DIGEST_PREFIX_SIZE] if stable_hash else b""


def unpack_stable_hash(packed_hash: bytes, digest: bytes) -> bytes:
    """Read what is left of the body with this digest; empty if that was not written down."""
    return (
        packed_hash[len(_VERSION_PREFIX) : -DIGEST_PREFIX_SIZE]
        if packed_hash == pack_stable_hash(packed_hash[len(_VERSION_PREFIX) : -DIGEST_PREFIX_SIZE], digest)
        else b""
    )


def build_stable_hasher(native: NativeLibrary) -> Callable[[bytes], bytes]:
    """Call the library."""
    call = native.library.sanderling_stable_hash
    call.argtypes = (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint64))

    def made(body: bytes) -> bytes:
        found = ctypes.c_uint64()
        return found.value.to_bytes(8, "big") if call(body, len(body), native.hash_function, found) else b""

    return made


_native_hasher = build_stable_hasher(NATIVE) if NATIVE is not None else None
