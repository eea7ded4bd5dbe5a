"""How memory is asked for."""

from pathlib import Path

import pytest

from sanderling.runtime.memory import HUGE_PAGE_BYTES, _find_huge_page_ranges, use_huge_pages

MAPS = """\
55d0c0000000-55d0c0800000 rw-p 00000000 00:00 0                          [heap]
7f0000001000-7f0000601000 rw-p 00000000 00:00 0
7f0001000000-7f0001300000 rw-p 00000000 fe:00 1234                       /usr/lib/libc.so.6
7f0002000000-7f0002800000 r--p 00000000 00:00 0
7f0003001000-7f0003202000 rw-p 00000000 00:00 0
7f0004000000-7f0004001000 ---p 00000000 00:00 0
7f0004001000-7f0004801000 rw-p 00000000 00:00 0
7ffd00000000-7ffd00800000 rw-p 00000000 00:00 0                          [stack]
"""


def test_only_whole_wide_pages_of_the_heap_and_of_blocks_are_meant_but_no_file_and_no_stack() -> None:
    assert list(_find_huge_page_ranges(MAPS.splitlines())) == [
        (0x55D0C0000000, 4 * HUGE_PAGE_BYTES),
        (0x7F0000200000, 2 * HUGE_PAGE_BYTES),
    ]


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="only Linux tells where memory lies")
def test_a_large_block_may_lie_in_wide_pages_and_stays_what_it_was() -> None:
    block = bytearray(b"sanderling" * HUGE_PAGE_BYTES)
    allowed = use_huge_pages()
    assert allowed == 0 or allowed >= 8 * HUGE_PAGE_BYTES  # 0: this Linux was built without wide pages
    assert block == b"sanderling" * HUGE_PAGE_BYTES
