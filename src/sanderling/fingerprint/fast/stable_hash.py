"""What is left of a page without what no mark sees: tokens, comments, hidden values, the data in scripts.

Two versions of which the same is left differ in nothing that is ever told, and need not be compared. That is known
where the library was compiled (`c/sieve.c`); elsewhere all pages whose bytes differ are compared.
"""

import ctypes
from collections.abc import Callable

from sanderling.fingerprint.model import VERSION
from sanderling.html.native import NATIVE, Native

CHARSET = "utf-8"  # pages in others are not sifted
TIE = 8  # bytes of a digest that say of which body something is left
_START = VERSION.to_bytes(2, "big")  # of what these marks do not see


def sift(body: bytes) -> bytes:
    """Hash what is left of a page in UTF-8; empty if that is not sure."""
    return _sifter(body) if _sifter is not None else b""


def tied(left: bytes, digest: bytes) -> bytes:
    """Write down what is left of the body with this digest."""
    return _START + left + digest[:TIE] if left else b""


def left_of(mark: bytes, digest: bytes) -> bytes:
    """Read what is left of the body with this digest; empty if that was not written down."""
    return mark[len(_START) : -TIE] if mark == tied(mark[len(_START) : -TIE], digest) else b""


def sifter(native: Native) -> Callable[[bytes], bytes]:
    """Call the library."""
    call = native.library.sanderling_sift
    call.argtypes = (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint64))

    def made(body: bytes) -> bytes:
        found = ctypes.c_uint64()
        return found.value.to_bytes(8, "big") if call(body, len(body), native.hash_of, found) else b""

    return made


_sifter = sifter(NATIVE) if NATIVE is not None else None
