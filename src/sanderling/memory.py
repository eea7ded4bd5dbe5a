"""How this process asks the system for memory."""

import ctypes
import gc

MMAP_THRESHOLD = -3  # glibc's number for the size above which a block is mapped by itself
LARGE = 1 << 20
SELDOM = 20_000, 20, 20  # new objects before cycles are looked for; Python's own 700 is met several times a page


def give_large_blocks_back() -> bool:
    """Let large blocks live outside the heap, so that growing one leaves no hole behind; say whether it could be done.

    glibc raises its threshold whenever a mapped block is freed; the arrays of a long crawl, doubled now and then, then
    leave holes of tens of megabytes in the heap.
    """
    try:
        return bool(ctypes.CDLL(None).mallopt(MMAP_THRESHOLD, LARGE))
    except (OSError, AttributeError):  # another C library
        return False


def look_for_cycles_seldom() -> None:
    """Let the collector of cycles wait: a batch makes many objects that die together, and hardly a cycle."""
    gc.set_threshold(*SELDOM)
