"""Picture of a rendered page, bounded in height and bytes."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

MAX_HEIGHT, MAX_BYTES = 8_000, 2_000_000
FORMATS: tuple[dict[str, Any], ...] = ({"type": "png"}, {"type": "jpeg", "quality": 50})


async def take_screenshot(
    page: Any, width: int, height: int, guard: Callable[[Awaitable[bytes]], Awaitable[bytes]]
) -> bytes:
    """Return a picture of the page, as JPEG if it is large, or b"". `guard` limits the time."""
    clip = {"x": 0, "y": 0, "width": width, "height": max(1, min(height, MAX_HEIGHT))}
    for options in FORMATS:
        with suppress(Exception):  # the page was closed, or its script does not return
            image = await guard(page.screenshot(full_page=True, clip=clip, animations="disabled", **options))
            if len(image) <= MAX_BYTES:
                return image
    return b""
