"""Load the optional C library compiled from `_native/` by hatch_build.py.

Every function in it has a slower Python equivalent with the same results.
"""

import ctypes
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from xxhash import _xxhash  # type: ignore[attr-defined]  # loaded with ctypes for XXH3_64bits

SOURCE_DIR = Path(__file__).with_name("_native")
LIBRARY_PATH = Path(__file__).with_name("_native.so")


class NativeLibrary(NamedTuple):
    """The loaded library and the XXH3 function that it calls."""

    library: ctypes.CDLL
    hash_function: ctypes.c_void_p


def load_library(path: Path = LIBRARY_PATH) -> NativeLibrary | None:
    """Return None if the library is missing or stale, or xxhash does not export XXH3."""
    with suppress(OSError, AttributeError):
        native, hashes = ctypes.CDLL(str(path)), ctypes.CDLL(_xxhash.__file__)
        native.sanderling_init.restype = ctypes.c_uint32
        if native.sanderling_init() == compute_checksum(SOURCE_DIR):
            return NativeLibrary(native, ctypes.cast(hashes.XXH3_64bits, ctypes.c_void_p))
    return None


def compute_checksum(sources: Path) -> int:
    """Return the CRC-32 of the sources, which detects a stale library."""
    return crc32(b"".join(source.read_bytes() for source in sorted(sources.glob("*.[ch]"))))


NATIVE = load_library()
