"""How this process asks the system for memory."""

import gc

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


def never_look_at_modules() -> None:
    """Let the collector pass over what is there by now, also when the process ends: it stays as long as we do."""
    gc.freeze()
