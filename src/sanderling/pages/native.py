"""The few files of C in `c/`, where somebody compiled them (installing does so where there is a compiler).

All they do is done by Python as well, and takes several times as long: without them a crawl is the same, and slower.
"""

import ctypes
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from xxhash import _xxhash  # type: ignore[attr-defined]  # the library itself, for its function in C

SOURCES = Path(__file__).with_name("c")
LIBRARY = Path(__file__).with_name("_native.so")
VERSION = 3  # of what is called how; a library of another one is left alone


class Native(NamedTuple):
    """The library, and the hash it borrows."""

    library: ctypes.CDLL
    hash_of: ctypes.c_void_p


def load(library: Path = LIBRARY) -> Native | None:
    """Load the library, if it is there, made of these sources, and the hash is at hand that it needs."""
    with suppress(OSError, AttributeError):
        if is_stale(library):
            return None
        native, hashes = ctypes.CDLL(str(library)), ctypes.CDLL(_xxhash.__file__)
        if native.sanderling_ready() == VERSION:
            return Native(native, ctypes.cast(hashes.XXH3_64bits, ctypes.c_void_p))
    return None


def is_stale(library: Path) -> bool:
    """Say whether sources changed since the library was made, as by an update that compiled nothing."""
    made = library.stat().st_mtime
    return any(source.stat().st_mtime > made for source in SOURCES.glob("*.[ch]"))


NATIVE = load()
