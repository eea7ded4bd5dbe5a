"""Tune the C allocator, huge pages and garbage collection."""

import gc
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

TRIM_THRESHOLD, TOP_PAD, MMAP_THRESHOLD = -1, -2, -3  # mallopt parameters of glibc
LARGE_BLOCK_BYTES = 1 << 20
HUGE_PAGE_BYTES = 2 << 20  # an ordinary page has 4096 bytes
MADV_HUGEPAGE, MADV_COLLAPSE = 14, 25  # madvise on Linux; MADV_COLLAPSE since 6.1
HEAP_TRIM_BYTES = 16 << 20  # free bytes at the top of the heap kept for the next batch
# For workers: the next page reuses the memory of the last. Returning it to the system would cost page faults.
KEEP_FREED_SETTINGS = {
    "MALLOC_TRIM_THRESHOLD_": (TRIM_THRESHOLD, 32 << 20),
    "MALLOC_MMAP_THRESHOLD_": (MMAP_THRESHOLD, 32 << 20),
    "MALLOC_TOP_PAD_": (TOP_PAD, 1 << 20),
}
GC_THRESHOLDS = 20_000, 20, 20  # the default of 700 objects is reached several times per page


def map_large_blocks() -> bool:
    """Allocate large blocks with mmap, because growing arrays leave large holes. Returns False if not supported."""
    mallopt = _load_mallopt()
    return bool(
        mallopt(MMAP_THRESHOLD, LARGE_BLOCK_BYTES)
        and mallopt(TRIM_THRESHOLD, HEAP_TRIM_BYTES)
        and mallopt(TOP_PAD, LARGE_BLOCK_BYTES)
    )


def keep_freed_memory() -> bool:
    """Keep freed memory in this process. Returns False if not supported."""
    mallopt = _load_mallopt()
    results = [mallopt(*setting) for name, setting in KEEP_FREED_SETTINGS.items() if name not in os.environ]
    return all(results)


def _load_mallopt() -> Callable[[int, int], int]:
    """Return mallopt, or a function that always fails (musl, macOS)."""
    import ctypes  # slow import, not needed by new workers

    try:
        mallopt: Callable[[int, int], int] = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return lambda _setting, _value: 0
    return mallopt


def use_huge_pages() -> int:
    """Request huge pages for allocated memory (Linux) and return the bytes advised.

    Lookups of known URLs are scattered; with 4 KB pages nearly each misses the TLB. Call again after growth.
    """
    import ctypes

    try:
        madvise = ctypes.CDLL(None).madvise
        ranges = list(_find_huge_page_ranges(Path("/proc/self/maps").read_text().splitlines()))
    except (OSError, AttributeError):  # not Linux
        return 0
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    advised = [(start, size) for start, size in ranges if not madvise(start, size, MADV_HUGEPAGE)]
    for start, size in advised:
        madvise(start, size, MADV_COLLAPSE)  # otherwise khugepaged does it later
    return sum(size for _, size in advised)


def _find_huge_page_ranges(maps: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Yield start and size of aligned private anonymous ranges."""
    guard_end = 0  # end of the last guard page; the range above it is a thread stack
    for line in maps:
        bounds, permissions, _, _, inode, *name = line.split()
        start, end = (int(bound, 16) for bound in bounds.split("-"))
        if permissions == "---p":
            guard_end = end
        elif permissions == "rw-p" and inode == "0" and name in ([], ["[heap]"]) and start != guard_end:
            start = -(-start // HUGE_PAGE_BYTES) * HUGE_PAGE_BYTES
            if end - start >= HUGE_PAGE_BYTES:
                yield start, (end - start) // HUGE_PAGE_BYTES * HUGE_PAGE_BYTES


def reduce_gc_frequency() -> None:
    """Collect garbage less often: batches create hardly any cycles."""
    gc.set_threshold(*GC_THRESHOLDS)


@contextmanager
def freeze_loaded_modules() -> Iterator[None]:
    """Disable garbage collection in the block and exempt its objects from later collections."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
