"""Load the optional C library compiled from `_native/` by hatch_build.py.

Every function in it has a slower Python equivalent with the same results. Lists and limits that both use are in
`native_tables.py`.
"""

import ctypes
import logging
from contextlib import suppress
from pathlib import Path
from zlib import crc32

SOURCE_DIR = Path(__file__).with_name("_native")
TABLES_PATH = Path(__file__).with_name("native_tables.py")
LIBRARY_PATH = Path(__file__).with_name("_native.so")


def load_library(path: Path = LIBRARY_PATH) -> ctypes.CDLL | None:
    """Return None if the library is missing or stale."""
    with suppress(OSError, AttributeError):
        native = ctypes.CDLL(str(path))
        native.sanderling_init.restype = ctypes.c_uint32
        if native.sanderling_init() == compute_checksum(SOURCE_DIR):
            return native
        logging.getLogger(__name__).warning("the C library is older than its sources, and not used: run `make setup`")
    return None


def compute_checksum(sources: Path) -> int:
    """Return the CRC-32 of the sources, which detects a stale library."""
    files = [*sorted(sources.glob("*.[ch]")), TABLES_PATH]
    return crc32(b"".join(file.read_bytes() for file in files))


NATIVE = load_library()
