"""What a page uses and does not contain: an image or script replaced under its old URL (IPC, future work).

The page itself is the same to the byte then. Validators or digests of the resources tell; for an image a perceptual
hash (difference hash, 64 bits) says how much it differs.
"""

import io
from collections.abc import Mapping
from itertools import pairwise

from msgspec import Struct

from sanderling.errors import MissingExtra

SIDE = 8
MAX_PIXELS = 50_000_000  # a picture that says it is larger is not opened


class Resource(Struct, frozen=True):
    """What is known of one resource; empty or None for what is not."""

    etag: str = ""
    last_modified: str = ""
    digest: bytes = b""
    look: int | None = None  # perceptual hash of an image


class Replaced(Struct, frozen=True):
    """A resource that is another one under the same URL."""

    url: str
    amount: float | None = None  # for images, from 0 (the same to the eye) to 1; None if nobody can say


def has_changed(old: Resource, new: Resource) -> bool:
    """Trust digests most, then validators; a weak ETag only says that it is as good as the same."""
    if old.digest and new.digest:
        return old.digest != new.digest
    if old.etag and new.etag:
        return old.etag.removeprefix("W/") != new.etag.removeprefix("W/")
    return bool(old.last_modified and new.last_modified and old.last_modified != new.last_modified)


def replaced(old: Mapping[str, Resource], new: Mapping[str, Resource]) -> list[Replaced]:
    """List the resources of a page that were replaced under their URLs."""
    return [
        Replaced(url, _amount(old[url], new[url]))
        for url in sorted(old.keys() & new.keys())
        if has_changed(old[url], new[url])
    ]


def _amount(old: Resource, new: Resource) -> float | None:
    if old.look is None or new.look is None:
        return None
    return (old.look ^ new.look).bit_count() / (SIDE * SIDE)


def look(body: bytes) -> int | None:
    """Take the perceptual hash of an image: whether each of 8 x 8 spots is brighter than the one to its right.

    None for what is no image, or one that is damaged or too large to open.
    """
    try:
        from PIL import Image
    except ImportError:
        raise MissingExtra("comparing images", "images") from None
    try:
        with Image.open(io.BytesIO(body)) as image:
            if image.width * image.height > MAX_PIXELS:
                return None
            grey = image.convert("L").resize((SIDE + 1, SIDE))
            spots = grey.tobytes()
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
    rows = [spots[row * (SIDE + 1) : (row + 1) * (SIDE + 1)] for row in range(SIDE)]
    bits = [left > right for row in rows for left, right in pairwise(row)]
    return sum(bit << place for place, bit in enumerate(bits))
