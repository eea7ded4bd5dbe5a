"""Tests of subresource extraction."""

import pytest

from sanderling.html.parser import parse_html
from sanderling.html.subresources import find_subresources, parse_srcset


def test_images_scripts_and_style_sheets_are_found() -> None:
    page = (
        "<link rel='Shortcut Icon' href=i><link rel=stylesheet href=s><link rel=next href=n><script src=c></script>"
        "<script>var x</script><img src=a><video src=v poster=p></video><input type=IMAGE src=b><input type=text src=t>"
    )
    assert list(find_subresources(parse_html(page.encode()))) == ["i", "s", "c", "a", "p", "b"]


def test_srcset_is_used_for_image_without_source() -> None:
    page = "<img src=a srcset='b 2x'><img srcset='c 1x, d 2x'><img src='data:,x' srcset='data:,y 1x, e 2x'><img>"
    assert list(find_subresources(parse_html(page.encode()))) == ["a", "c", "d", "e"]


@pytest.mark.parametrize(
    ("srcset", "urls"),
    [
        ("", []),
        (" , ,", []),
        ("a", ["a"]),
        ("a 1x,b\n2x ,, c", ["a", "b", "c"]),
        ("a, b 2x", ["a", "b"]),
        ("a,b 2x", ["a,b"]),
        (",a,,", ["a"]),
        ("a calc(1px, 2px) 3w, b 4w", ["a", "b"]),
        ("a (b, c", ["a"]),
        ("a\xa0b 1x", ["a\xa0b"]),
    ],
)
def test_srcset_is_parsed_like_browsers(srcset: str, urls: list[str]) -> None:
    assert parse_srcset(srcset) == urls
