import io
import sys
from itertools import combinations

import pytest

from sanderling.errors import MissingExtra
from sanderling.fingerprint.image_hash import compute_image_distance, compute_perceptual_hash, fingerprint_image

Image = pytest.importorskip("PIL.Image")


FLAT, RIGHT, LEFT, DOWN, UP, BOTH, BACK = (0, 0), (1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1)
"""Direction in which an image gets brighter: (x, y)."""


def make_image(direction: tuple[int, int] = DOWN, kind: str = "PNG", size: int = 64) -> bytes:
    right, down = direction
    image = Image.new("L", (size, size))
    image.putdata(
        [127 + (right * (2 * x - size) + down * (2 * y - size)) * 63 // size for y in range(size) for x in range(size)]
    )
    out = io.BytesIO()
    image.convert("RGB").save(out, kind)
    return out.getvalue()


@pytest.mark.parametrize(("first", "second"), list(combinations((FLAT, RIGHT, LEFT, DOWN, UP, BOTH), 2)))
def test_images_with_other_gradients_differ(first: tuple[int, int], second: tuple[int, int]) -> None:
    distance = compute_image_distance(fingerprint_image(make_image(first)), fingerprint_image(make_image(second)))
    assert distance is not None
    assert 0.2 < distance < 1.0


def test_negative_has_the_largest_distance() -> None:
    assert compute_image_distance(fingerprint_image(make_image(BOTH)), fingerprint_image(make_image(BACK))) == 1.0


@pytest.mark.parametrize("direction", [FLAT, RIGHT, LEFT, DOWN, UP, BOTH])
def test_image_in_another_format_and_size_is_nearly_equal(direction: tuple[int, int]) -> None:
    distance = compute_image_distance(
        fingerprint_image(make_image(direction)), fingerprint_image(make_image(direction, "JPEG", 200))
    )
    assert distance is not None
    assert distance < 0.02


def test_hashes_of_other_sizes_are_not_compared() -> None:
    assert compute_image_distance(bytes(8), fingerprint_image(make_image(FLAT))) is None
    assert compute_image_distance(bytes(8), bytes(8)) is None
    assert compute_image_distance(b"", fingerprint_image(make_image())) is None


def test_invalid_image_has_no_hash() -> None:
    assert compute_perceptual_hash(b"") is None
    assert compute_perceptual_hash(b"<html>") is None
    assert compute_perceptual_hash(make_image()[:100]) is None
    assert compute_perceptual_hash(b"GIF89a\xff\xff\xff\xff\x00\x00\x00") is None


def test_missing_pillow_names_the_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingExtra, match=r"\[images\]"):
        compute_perceptual_hash(b"")
