"""Images and scripts replaced under their old URLs."""

import io
import sys

import pytest

from sanderling.changes.resources import Replaced, Resource, has_changed, look, replaced
from sanderling.errors import MissingExtra

Image = pytest.importorskip("PIL.Image")


def picture(kind: str = "PNG", *, turned: bool = False, size: int = 64) -> bytes:
    image = Image.new("L", (size, size))
    image.putdata([((size - 1 - x) if turned else y) * 255 // size for y in range(size) for x in range(size)])
    out = io.BytesIO()
    image.convert("RGB").save(out, kind)
    return out.getvalue()


def test_digests_count_more_than_validators() -> None:
    assert has_changed(Resource(digest=b"a", etag="1"), Resource(digest=b"b", etag="1"))
    assert not has_changed(Resource(digest=b"a", etag="1"), Resource(digest=b"a", etag="2"))
    assert has_changed(Resource(etag="1"), Resource(etag="2"))
    assert not has_changed(Resource(etag='W/"1"'), Resource(etag='"1"'))
    assert has_changed(Resource(last_modified="Mon"), Resource(last_modified="Tue"))
    assert not has_changed(Resource(), Resource(digest=b"a"))


def test_a_replaced_image_is_listed_with_how_much_it_differs() -> None:
    old = {"/a.png": Resource(digest=b"1", look=look(picture())), "/b.js": Resource(etag="x"), "/c": Resource()}
    new = {"/a.png": Resource(digest=b"2", look=look(picture(turned=True))), "/b.js": Resource(etag="y")}
    (image, script) = replaced(old, new)
    assert image.amount is not None
    assert image.amount > 0.2
    assert script == Replaced("/b.js", None)


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
