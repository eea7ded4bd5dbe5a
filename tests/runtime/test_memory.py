"""Huge pages."""

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


def test_huge_page_ranges_exclude_files_and_stacks() -> None:
    assert list(_find_huge_page_ranges(MAPS.splitlines())) == [
        (0x55D0C0000000, 4 * HUGE_PAGE_BYTES),
        (0x7F0000200000, 2 * HUGE_PAGE_BYTES),
    ]


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs /proc of Linux")
def test_huge_pages_do_not_change_the_content_of_memory() -> None:
    block = bytearray(b"sanderling" * HUGE_PAGE_BYTES)
    advised = use_huge_pages()
    assert advised == 0 or advised >= 8 * HUGE_PAGE_BYTES  # 0: kernel without huge pages
    assert block == b"sanderling" * HUGE_PAGE_BYTES
