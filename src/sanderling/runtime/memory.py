"""How this process asks the system for memory."""

import gc
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

TRIM_THRESHOLD, TOP_PAD, MMAP_THRESHOLD = -1, -2, -3  # glibc's numbers for its settings
LARGE_BLOCK_BYTES = 1 << 20
HUGE_PAGE_BYTES = 2 << 20  # bytes of a wide page of memory, where an ordinary one has 4096
MADV_HUGEPAGE, MADV_COLLAPSE = 14, 25  # what madvise is asked in Linux; the second since 6.1
HEAP_TRIM_BYTES = 16 << 20  # freed bytes at the end of the heap that are kept for the next batch
# For migrants: the next page uses the memory of the last. Given back and asked for again, it would come at a price.
KEEP_FREED_SETTINGS = {
    "MALLOC_TRIM_THRESHOLD_": (TRIM_THRESHOLD, 32 << 20),
    "MALLOC_MMAP_THRESHOLD_": (MMAP_THRESHOLD, 32 << 20),
    "MALLOC_TOP_PAD_": (TOP_PAD, 1 << 20),
}
GC_THRESHOLDS = 20_000, 20, 20  # new objects before cycles are looked for; Python's own 700 is met several times a page


def map_large_blocks() -> bool:
    """Let large blocks live outside the heap, so that growing one leaves no hole behind; say whether it could be done.

    glibc raises its threshold whenever a mapped block is freed; the arrays of a long crawl, doubled now and then, then
    leave holes of tens of megabytes in the heap. What is left of it is kept: the next batch needs as much.
    """
    tell = _load_mallopt()
    return bool(
        tell(MMAP_THRESHOLD, LARGE_BLOCK_BYTES)
        and tell(TRIM_THRESHOLD, HEAP_TRIM_BYTES)
        and tell(TOP_PAD, LARGE_BLOCK_BYTES)
    )


def keep_freed_memory() -> bool:
    """Let freed memory stay with this process, unless its user said otherwise; say whether it could be done."""
    tell = _load_mallopt()
    done = [tell(*setting) for name, setting in KEEP_FREED_SETTINGS.items() if name not in os.environ]
    return all(done)


def _load_mallopt() -> Callable[[int, int], int]:
    """How to tell the C library; where that is another one, it does not listen."""
    import ctypes  # fresh migrants do without

    try:
        told: Callable[[int, int], int] = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return lambda _setting, _value: 0
    return told


def use_huge_pages() -> int:
    """Let large stretches of memory lie in wide pages, where Linux waits to be asked; say how many bytes may.

    Known URLs are looked up all over the memory of a long crawl. With pages of 4 KB the processor must find out for
    nearly each of them where its page is. What is allocated later is not meant: ask again when memory has grown.
    """
    import ctypes

    try:
        madvise = ctypes.CDLL(None).madvise
        stretches = list(_find_huge_page_ranges(Path("/proc/self/maps").read_text().splitlines()))
    except (OSError, AttributeError):  # another system
        return 0
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    advised = [(start, size) for start, size in stretches if not madvise(start, size, MADV_HUGEPAGE)]
    for start, size in advised:
        madvise(start, size, MADV_COLLAPSE)  # else the system does it some day
    return sum(size for _, size in advised)


def _find_huge_page_ranges(maps: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Start and size of what holds wide pages, of memory that is ours alone, of no file, and not a thread's stack."""
    guarded = 0  # where the last stretch ends that nobody may touch: above it is a stack
    for line in maps:
        bounds, rights, _, _, inode, *name = line.split()
        start, end = (int(bound, 16) for bound in bounds.split("-"))
        if rights == "---p":
            guarded = end
        elif rights == "rw-p" and inode == "0" and name in ([], ["[heap]"]) and start != guarded:
            start = -(-start // HUGE_PAGE_BYTES) * HUGE_PAGE_BYTES
            if end - start >= HUGE_PAGE_BYTES:
                yield start, (end - start) // HUGE_PAGE_BYTES * HUGE_PAGE_BYTES


def reduce_gc_frequency() -> None:
    """Let the collector of cycles wait: a batch makes many objects that die together, and hardly a cycle."""
    gc.set_threshold(*GC_THRESHOLDS)


@contextmanager
def freeze_loaded_modules() -> Iterator[None]:
    """Look for no cycles while modules are loaded, and never look through them later, not even at the end."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
