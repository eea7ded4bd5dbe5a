"""Picture of a rendered page, bounded in height and bytes, and its comparison with the picture of the last version.

Blocks with the same text or image are compared where each picture shows them, so what moved down is not a difference.
"""

import asyncio
import base64
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from importlib.resources import files
from typing import Any

from msgspec import DecodeError, Struct, ValidationError, json
from xxhash import xxh3_64_intdigest

from sanderling.page_rendering import Box, VisualChange

PICTURE_TOOLS = files(__package__).joinpath("picture_tools.js").read_text()
MAX_HEIGHT, MAX_BYTES = 8_000, 2_000_000
FORMATS: tuple[dict[str, Any], ...] = ({"type": "png"}, {"type": "jpeg", "quality": 50})
MAX_BLOCKS = 600
MIN_AREA = 200  # pixels of a block; smaller ones are rules and dots
TOLERANCE = 24  # of a color channel, of 255: compression and smoothing of edges differ less
MIN_SHARE = 0.1  # of the pixels of a block
COMPARE_SECONDS = 20.0
Guard = Callable[[Awaitable[Any]], Awaitable[Any]]


class PictureBlock(Struct, frozen=True, array_like=True):
    """A block of a page: hash of its text or image address, and its box in the picture."""

    key: int
    box: Box


async def take_screenshot(page: Any, width: int, height: int, guard: Guard) -> bytes:
    """Return a picture of the page, as JPEG if it is large, or b"". `guard` limits the time."""
    clip = {"x": 0, "y": 0, "width": width, "height": max(1, min(height, MAX_HEIGHT))}
    for options in FORMATS:
        with suppress(Exception):  # the page was closed, or its script does not return
            image: bytes = await guard(page.screenshot(full_page=True, clip=clip, animations="disabled", **options))
            if len(image) <= MAX_BYTES:
                return image
    return b""


async def find_blocks(page: Any, width: int, height: int, guard: Guard) -> bytes:
    """Return the blocks in the picture of a page as JSON, or b""."""
    with suppress(Exception):  # as above, or the page returns something else
        rows = await guard(page.evaluate(f"limit => ({PICTURE_TOOLS}).findBlocks(limit)", MAX_BLOCKS))
        limits = width, min(height, MAX_HEIGHT)
        blocks = [
            PictureBlock(xxh3_64_intdigest(str(key).encode(errors="replace")), _clip_box(box, limits))
            for key, *box in rows[:MAX_BLOCKS]
        ]
        return json.encode([block for block in blocks if block.box[2] * block.box[3] >= MIN_AREA])
    return b""


def _clip_box(box: list[Any], limits: tuple[int, int]) -> Box:
    left, top, width, height = (max(-(2**31), min(2**31, int(value))) for value in box)
    right, bottom = min(left + width, limits[0]), min(top + height, limits[1])
    left, top = max(0, left), max(0, top)
    return left, top, max(0, right - left), max(0, bottom - top)


async def compare_pictures(browser: Any, old: tuple[bytes, bytes], new: tuple[bytes, bytes]) -> VisualChange | None:
    """Compare two pictures with their blocks, in a page of its own. None: no block differs, or they cannot be read."""
    pairs = pair_blocks(_decode_blocks(old[1]), _decode_blocks(new[1]))
    if not (pairs and old[0] and new[0]) or old == new:
        return None
    pictures = [base64.b64encode(picture).decode() for picture in (old[0], new[0])]
    argument = {"old": pictures[0], "new": pictures[1], "pairs": pairs, "tolerance": TOLERANCE}
    with suppress(Exception):  # a damaged picture, or the time is over
        page = await browser.new_page()
        try:
            comparison = page.evaluate(f"argument => ({PICTURE_TOOLS}).compare(argument)", argument)
            return build_visual_change(pairs, await asyncio.wait_for(comparison, COMPARE_SECONDS))
        finally:
            await page.close()
    return None


def _decode_blocks(packed: bytes) -> list[PictureBlock]:
    try:
        return json.decode(packed, type=list[PictureBlock])[:MAX_BLOCKS] if packed else []
    except (DecodeError, ValidationError):
        return []


def pair_blocks(old: Iterable[PictureBlock], new: Iterable[PictureBlock]) -> list[tuple[Box, Box]]:
    """Return the boxes of the blocks with the same key, in the same order of occurrence."""
    known = {key: block.box for key, block in _number_blocks(old)}
    return [(known[key], block.box) for key, block in _number_blocks(new) if key in known]


def _number_blocks(blocks: Iterable[PictureBlock]) -> list[tuple[tuple[int, int], PictureBlock]]:
    seen: Counter[int] = Counter()
    numbered = []
    for block in blocks:
        numbered.append(((block.key, seen[block.key]), block))
        seen[block.key] += 1
    return numbered


def build_visual_change(pairs: list[tuple[Box, Box]], shares: list[float]) -> VisualChange | None:
    """Return the block with the most differing pixels. None: no block differs enough."""
    found = [(share * new[2] * new[3], share, old, new) for (old, new), share in zip(pairs, shares, strict=True)]
    found = [row for row in found if row[1] >= MIN_SHARE]
    if not found:
        return None
    _, share, old, new = max(found)
    return VisualChange(round(share, 3), new, old, len(found))
