"""How this process asks the system for memory."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

TRIM_THRESHOLD, TOP_PAD, MMAP_THRESHOLD = -1, -2, -3  # glibc's numbers for its settings
LARGE = 1 << 20
SPARE = 16 << 20  # freed bytes at the end of the heap that are kept for the next batch
SELDOM = 20_000, 20, 20  # new objects before cycles are looked for; Python's own 700 is met several times a page


def give_large_blocks_back() -> bool:
    """Let large blocks live outside the heap, so that growing one leaves no hole behind; say whether it could be done.

    glibc raises its threshold whenever a mapped block is freed; the arrays of a long crawl, doubled now and then, then
    leave holes of tens of megabytes in the heap. What is left of it is kept: the next batch needs as much.
    """
    import ctypes  # migrants do without

    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # another C library
        return False
    return bool(mallopt(MMAP_THRESHOLD, LARGE) and mallopt(TRIM_THRESHOLD, SPARE) and mallopt(TOP_PAD, LARGE))


def look_for_cycles_seldom() -> None:
    """Let the collector of cycles wait: a batch makes many objects that die together, and hardly a cycle."""
    gc.set_threshold(*SELDOM)


@contextmanager
def modules_stay() -> Iterator[None]:
    """Look for no cycles while modules are loaded, and never look through them later, not even at the end."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
