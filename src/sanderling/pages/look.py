"""How a picture looks to the eye, in 64 bits: a small change of the picture turns few of them (difference hash)."""

import io
from itertools import pairwise

from sanderling.errors import MissingExtra

SIDE = 8
MAX_PIXELS = 50_000_000  # a picture that says it is larger is not opened


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


def look_mark(body: bytes) -> bytes:
    """The same in eight bytes; none where nobody can say, be it that the library is not installed."""
    try:
        seen = look(body)
    except MissingExtra:
        return b""
    return b"" if seen is None else seen.to_bytes(8, "big")


def unlike(one: bytes, other: bytes) -> float | None:
    """How much two pictures differ, from 0 (the same to the eye) to 1; None if one of them was not seen."""
    if not one or not other:
        return None
    return (int.from_bytes(one, "big") ^ int.from_bytes(other, "big")).bit_count() / (SIDE * SIDE)
