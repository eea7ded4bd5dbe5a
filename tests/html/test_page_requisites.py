"""Page requisites of HTML, scripts and manifests."""

import pytest

from sanderling.html.page_requisites import (
    DEFAULT_ICON,
    find_manifest_icons,
    find_module_imports,
    find_page_requisites,
    parse_srcset,
    rewrite_srcset,
)
from sanderling.html.parser import parse_html


def find(page: str) -> list[str]:
    return list(find_page_requisites(parse_html(page.encode()), needs_icon=False))


@pytest.mark.parametrize(
    ("page", "urls"),
    [
        ("<img src=a srcset='b 2x, c 3x'>", ["a", "b", "c"]),
        ("<img srcset='data:,y 1x, e 2x'>", ["e"]),
        ("<picture><source srcset='a 1x, b 2x' media='(min-width: 1px)'><img src=c></picture>", ["a", "b", "c"]),
        ("<video src=v poster=p><source src=w><track src=t></video><audio src=x></audio>", ["v", "p", "w", "t", "x"]),
        ("<link rel=stylesheet href=s><link rel='Shortcut Icon' href=i><link rel=manifest href=m>", ["s", "i", "m"]),
        ("<link rel=preload as=font href=f><link rel=modulepreload href=m><link rel=next href=n>", ["f", "m"]),
        (
            "<link rel=prefetch href=next.html><link rel=prefetch href=/a/next.md.x-1.js><link rel=prefetch href=n>",
            ["/a/next.md.x-1.js"],
        ),
        ("<link rel=preload as=image imagesrcset='a 1x, b 2x'><link rel=dns-prefetch href=//x>", ["a", "b"]),
        ("<script src=s></script><script>var x</script>", ["s"]),
        ("<script type=module>import a from './a.js'; import 'b'; export * from '/c.js'</script>", ["./a.js", "/c.js"]),
        ("<iframe src=f></iframe><embed src=e><object data=o></object>", ["f", "e", "o"]),
        ("<iframe srcdoc=\"<img src='x'><style>a{b:url(y)}</style>\"></iframe>", ["x", "y"]),
        ("<style>@import 'a'; b { c: url(d) }</style><p style=\"background: url('e')\">", ["a", "d", "e"]),
        ("<table background=b><tr><td background=c></table>", ["b", "c"]),
        ("<svg><image href=a /><image xlink:href=b /><use href='s#i'/><use href='#own'/></svg>", ["a", "b", "s"]),
        ("<noscript><img src=a></noscript>", ["a"]),
        ("<img data-src=a><input type=IMAGE src=b><input type=text src=no>", ["a", "b"]),
        ("<a href=page>p</a><iframe src='about:blank'></iframe><iframe src='javascript:0'></iframe>", []),
    ],
)
def test_requisites_are_found(page: str, urls: list[str]) -> None:
    assert sorted(find(page)) == sorted(urls)


def test_page_without_icon_needs_default_icon() -> None:
    assert list(find_page_requisites(parse_html(b"<p>text"))) == [DEFAULT_ICON]
    assert list(find_page_requisites(parse_html(b"<link rel=icon href=i>"))) == ["i"]


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


def test_srcset_urls_are_replaced_in_place() -> None:
    assert rewrite_srcset("a 1x, b,\nc 3w", lambda url: f"/{url}") == "/a 1x, /b,\n/c 3w"


def test_static_imports_of_modules_are_found() -> None:
    script = "import{a}from'./a.js';import './b.js'\nconst c = './no.js'\nexport {d} from \"../d.js\";import e from 'e'"
    assert list(find_module_imports(script)) == ["./a.js", "./b.js", "../d.js"]


@pytest.mark.parametrize("body", [b"", b"[]", b"[" * 100_000, b'{"icons": 3}', b'{"icons": [1, {"src": 2}]}', b"\xff"])
def test_invalid_manifest_has_no_icons(body: bytes) -> None:
    assert find_manifest_icons(body) == []


def test_icons_of_manifest_are_found() -> None:
    assert find_manifest_icons(b'{"icons": [{"src": "a.png"}, {"src": "data:,x"}]}') == ["a.png"]
