"""How pictures look to the eye."""

import io
import sys
from itertools import combinations

import pytest

from sanderling.errors import MissingExtra
from sanderling.fingerprint.image_hash import compute_image_distance, compute_perceptual_hash, fingerprint_image

Image = pytest.importorskip("PIL.Image")


FLAT, RIGHT, LEFT, DOWN, UP, BOTH, BACK = (0, 0), (1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1)
"""Where pictures get brighter, from side to side and from top to bottom."""


def picture(way: tuple[int, int] = DOWN, kind: str = "PNG", size: int = 64) -> bytes:
    right, down = way
    image = Image.new("L", (size, size))
    image.putdata(
        [127 + (right * (2 * x - size) + down * (2 * y - size)) * 63 // size for y in range(size) for x in range(size)]
    )
    out = io.BytesIO()
    image.convert("RGB").save(out, kind)
    return out.getvalue()


@pytest.mark.parametrize(("one", "other"), list(combinations((FLAT, RIGHT, LEFT, DOWN, UP, BOTH), 2)))
def test_pictures_that_get_brighter_elsewhere_look_otherwise(one: tuple[int, int], other: tuple[int, int]) -> None:
    apart = compute_image_distance(fingerprint_image(picture(one)), fingerprint_image(picture(other)))
    assert apart is not None
    assert 0.2 < apart < 1.0


def test_a_picture_and_its_negative_are_as_unlike_as_can_be() -> None:
    assert compute_image_distance(fingerprint_image(picture(BOTH)), fingerprint_image(picture(BACK))) == 1.0


@pytest.mark.parametrize("way", [FLAT, RIGHT, LEFT, DOWN, UP, BOTH])
def test_the_same_picture_in_another_file_looks_the_same(way: tuple[int, int]) -> None:
    apart = compute_image_distance(fingerprint_image(picture(way)), fingerprint_image(picture(way, "JPEG", 200)))
    assert apart is not None
    assert apart < 0.02


def test_what_was_seen_in_another_way_once_is_not_compared() -> None:
    assert compute_image_distance(bytes(8), fingerprint_image(picture(FLAT))) is None
    assert compute_image_distance(bytes(8), bytes(8)) is None
    assert compute_image_distance(b"", fingerprint_image(picture())) is None


def test_what_is_no_image_has_no_look() -> None:
    assert compute_perceptual_hash(b"") is None
    assert compute_perceptual_hash(b"<html>") is None
    assert compute_perceptual_hash(picture()[:100]) is None
    assert compute_perceptual_hash(b"GIF89a\xff\xff\xff\xff\x00\x00\x00") is None


def test_without_pillow_one_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingExtra, match=r"\[images\]"):
        compute_perceptual_hash(b"")
