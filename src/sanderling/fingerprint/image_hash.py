"""Perceptual hash of an image in 256 bits.

A difference hash in both directions that also distinguishes equal from darker cells. The usual variant is the same for
all images that only get brighter, or only vary from top to bottom.
"""

import io

from sanderling.errors import MissingExtra

GRID_SIDE = 8
IMAGE_HASH_SIZE = 4 * GRID_SIDE * GRID_SIDE // 8  # bytes
BRIGHTNESS_TOLERANCE = 1  # of 256 shades: other encodings and sizes of an image differ by this much
MAX_PIXELS = 50_000_000  # an image with larger declared dimensions is not opened


def compute_perceptual_hash(body: bytes) -> int | None:
    """Compare the brightness of 8 x 8 cells with their right and lower neighbors.

    None: not an image, damaged, or too large. Raises `MissingExtra` without Pillow.
    """
    try:
        from PIL import Image
    except ImportError:
        raise MissingExtra("comparing images", "images") from None
    try:
        with Image.open(io.BytesIO(body)) as image:
            if image.width * image.height > MAX_PIXELS:
                return None
            cells = image.convert("L").resize((GRID_SIDE + 1, GRID_SIDE + 1)).tobytes()
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
    indexes = [row * (GRID_SIDE + 1) + column for row in range(GRID_SIDE) for column in range(GRID_SIDE)]
    differences = [cells[index] - cells[index + offset] for offset in (1, GRID_SIDE + 1) for index in indexes]
    bits = [
        bit
        for difference in differences
        for bit in (difference > BRIGHTNESS_TOLERANCE, difference < -BRIGHTNESS_TOLERANCE)
    ]
    return sum(bit << index for index, bit in enumerate(bits))


def fingerprint_image(body: bytes) -> bytes:
    """Return the perceptual hash; empty if unreadable or without Pillow."""
    try:
        image_hash = compute_perceptual_hash(body)
    except MissingExtra:
        return b""
    return b"" if image_hash is None else image_hash.to_bytes(IMAGE_HASH_SIZE, "big")


def compute_image_distance(a: bytes, b: bytes) -> float | None:
    """Return the share of differing bits, 0 (looks the same) to 1; None if a hash is missing."""
    if len(a) != IMAGE_HASH_SIZE or len(b) != IMAGE_HASH_SIZE:
        return None
    return (int.from_bytes(a, "big") ^ int.from_bytes(b, "big")).bit_count() / (8 * IMAGE_HASH_SIZE)
