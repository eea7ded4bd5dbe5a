"""The few files of C in `c/`, where somebody compiled them (installing does so where there is a compiler).

All they do is done by Python as well, and takes several times as long: without them a crawl is the same, and slower.
"""

import ctypes
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from xxhash import _xxhash  # type: ignore[attr-defined]  # the library itself, for its function in C

SOURCE_DIR = Path(__file__).with_name("_native")
LIBRARY_PATH = Path(__file__).with_name("_native.so")


class NativeLibrary(NamedTuple):
    """The library, and the hash it borrows."""

    library: ctypes.CDLL
    hash_function: ctypes.c_void_p


def load_library(path: Path = LIBRARY_PATH) -> NativeLibrary | None:
    """Load the library, if it is there, made of these sources, and the hash is at hand that it needs."""
    with suppress(OSError, AttributeError):
        native, hashes = ctypes.CDLL(str(path)), ctypes.CDLL(_xxhash.__file__)
        native.sanderling_ready.restype = ctypes.c_uint32
        if native.sanderling_ready() == compute_checksum(SOURCE_DIR):
            return NativeLibrary(native, ctypes.cast(hashes.XXH3_64bits, ctypes.c_void_p))
    return None


def compute_checksum(sources: Path) -> int:
    """Sum the sources up, as hatch_build.py does for the library it makes: an update may have compiled nothing."""
    return crc32(b"".join(source.read_bytes() for source in sorted(sources.glob("*.[ch]"))))


NATIVE = load_library()
