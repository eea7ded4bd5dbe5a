"""How a picture looks to the eye, in 256 bits: a small change of the picture turns few of them.

A difference hash that sees both directions, and tells what is as bright from what is darker. For the usual one (is each
spot brighter than the one to its right?) all pictures are the same that only get brighter, or only from top to bottom.
"""

import io

from sanderling.errors import MissingExtra

GRID_SIDE = 8
IMAGE_HASH_SIZE = 4 * GRID_SIDE * GRID_SIDE // 8  # bytes
BRIGHTNESS_TOLERANCE = (
    1  # how far apart two of 256 shades may be: what other codings and sizes of a picture make of one
)
MAX_PIXELS = 50_000_000  # a picture that says it is larger is not opened


def compute_perceptual_hash(body: bytes) -> int | None:
    """Take the perceptual hash of an image: whether each of 8 x 8 spots is brighter or darker than two beside it.

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
            spots = image.convert("L").resize((GRID_SIDE + 1, GRID_SIDE + 1)).tobytes()
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
    places = [row * (GRID_SIDE + 1) + column for row in range(GRID_SIDE) for column in range(GRID_SIDE)]
    steps = [
        spots[place] - spots[place + way] for way in (1, GRID_SIDE + 1) for place in places
    ]  # to the right, and down
    bits = [bit for step in steps for bit in (step > BRIGHTNESS_TOLERANCE, step < -BRIGHTNESS_TOLERANCE)]
    return sum(bit << place for place, bit in enumerate(bits))


def fingerprint_image(body: bytes) -> bytes:
    """The same in bytes; none where nobody can say, be it that the library is not installed."""
    try:
        seen = compute_perceptual_hash(body)
    except MissingExtra:
        return b""
    return b"" if seen is None else seen.to_bytes(IMAGE_HASH_SIZE, "big")


def compute_image_distance(a: bytes, b: bytes) -> float | None:
    """How much two pictures differ, from 0 (the same to the eye) to 1; None if one was not seen, or not in this way."""
    if len(a) != IMAGE_HASH_SIZE or len(b) != IMAGE_HASH_SIZE:
        return None
    return (int.from_bytes(a, "big") ^ int.from_bytes(b, "big")).bit_count() / (8 * IMAGE_HASH_SIZE)
