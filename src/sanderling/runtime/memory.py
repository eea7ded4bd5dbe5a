"""How this process asks the system for memory."""

import gc
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

TRIM_THRESHOLD, TOP_PAD, MMAP_THRESHOLD = -1, -2, -3  # glibc's numbers for its settings
LARGE = 1 << 20
WIDE = 2 << 20  # bytes of a wide page of memory, where an ordinary one has 4096
ADVISE_WIDE, MAKE_WIDE = 14, 25  # what madvise is asked in Linux; the second since 6.1
SPARE = 16 << 20  # freed bytes at the end of the heap that are kept for the next batch
# For migrants: the next page uses the memory of the last. Given back and asked for again, it would come at a price.
KEEP_FREED = {
    "MALLOC_TRIM_THRESHOLD_": (TRIM_THRESHOLD, 32 << 20),
    "MALLOC_MMAP_THRESHOLD_": (MMAP_THRESHOLD, 32 << 20),
    "MALLOC_TOP_PAD_": (TOP_PAD, 1 << 20),
}
SELDOM = 20_000, 20, 20  # new objects before cycles are looked for; Python's own 700 is met several times a page


def give_large_blocks_back() -> bool:
    """Let large blocks live outside the heap, so that growing one leaves no hole behind; say whether it could be done.

    glibc raises its threshold whenever a mapped block is freed; the arrays of a long crawl, doubled now and then, then
    leave holes of tens of megabytes in the heap. What is left of it is kept: the next batch needs as much.
    """
    tell = _mallopt()
    return bool(tell(MMAP_THRESHOLD, LARGE) and tell(TRIM_THRESHOLD, SPARE) and tell(TOP_PAD, LARGE))


def keep_freed() -> bool:
    """Let freed memory stay with this process, unless its user said otherwise; say whether it could be done."""
    tell = _mallopt()
    done = [tell(*setting) for name, setting in KEEP_FREED.items() if name not in os.environ]
    return all(done)


def _mallopt() -> Callable[[int, int], int]:
    """How to tell the C library; where that is another one, it does not listen."""
    import ctypes  # fresh migrants do without

    try:
        told: Callable[[int, int], int] = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return lambda _setting, _value: 0
    return told


def use_wide_pages() -> int:
    """Let large stretches of memory lie in wide pages, where Linux waits to be asked; say how many bytes may.

    Known URLs are looked up all over the memory of a long crawl. With pages of 4 KB the processor must find out for
    nearly each of them where its page is. What is allocated later is not meant: ask again when memory has grown.
    """
    import ctypes

    try:
        madvise = ctypes.CDLL(None).madvise
        stretches = list(_stretches(Path("/proc/self/maps").read_text().splitlines()))
    except (OSError, AttributeError):  # another system
        return 0
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    advised = [(start, size) for start, size in stretches if not madvise(start, size, ADVISE_WIDE)]
    for start, size in advised:
        madvise(start, size, MAKE_WIDE)  # else the system does it some day
    return sum(size for _, size in advised)


def _stretches(maps: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Start and size of what holds wide pages, of memory that is ours alone, of no file, and not a thread's stack."""
    guarded = 0  # where the last stretch ends that nobody may touch: above it is a stack
    for line in maps:
        bounds, rights, _, _, inode, *name = line.split()
        start, end = (int(bound, 16) for bound in bounds.split("-"))
        if rights == "---p":
            guarded = end
        elif rights == "rw-p" and inode == "0" and name in ([], ["[heap]"]) and start != guarded:
            start = -(-start // WIDE) * WIDE
            if end - start >= WIDE:
                yield start, (end - start) // WIDE * WIDE


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
