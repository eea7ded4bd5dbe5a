"""How pictures look to the eye."""

import io
import sys

import pytest

from sanderling.errors import MissingExtra
from sanderling.pages.look import look

Image = pytest.importorskip("PIL.Image")


def picture(kind: str = "PNG", *, turned: bool = False, size: int = 64) -> bytes:
    image = Image.new("L", (size, size))
    image.putdata([((size - 1 - x) if turned else y) * 255 // size for y in range(size) for x in range(size)])
    out = io.BytesIO()
    image.convert("RGB").save(out, kind)
    return out.getvalue()


def test_the_same_picture_in_another_file_looks_the_same() -> None:
    one, other = look(picture("PNG", turned=True)), look(picture("JPEG", turned=True, size=200))
    assert one is not None
    assert other is not None
    assert (one ^ other).bit_count() <= 4


def test_what_is_no_image_has_no_look() -> None:
    assert look(b"") is None
    assert look(b"<html>") is None
    assert look(picture()[:100]) is None
    assert look(b"GIF89a\xff\xff\xff\xff\x00\x00\x00") is None


def test_without_pillow_one_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingExtra, match=r"\[images\]"):
        look(b"")
