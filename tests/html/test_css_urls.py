"""URLs of style sheets, compared with a reference tokenizer."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
import tinycss2

from sanderling.html.css_urls import MAX_CSS_URLS, find_css_urls, rewrite_css_urls


@pytest.mark.parametrize(
    ("css", "urls"),
    [
        ("a { background: url(a.png) }", ["a.png"]),
        ("a{b:url( 'a b.png' )}", ["a b.png"]),
        ('@import "a.css"; @import url(b.css) print; a { content: "no.png" }', ["a.css", "b.css"]),
        ("@import 'a.css' layer(x) supports(display: grid) screen;", ["a.css"]),
        ("/* url(no.png) */ a{b:url(yes.png)} /* open", ["yes.png"]),
        ("@font-face { src: local('no'), url(a.woff2) format('woff2'), url(a.ttf) }", ["a.woff2", "a.ttf"]),
        ("a { b: image-set('a.png' 1x, url(b.png) 2x, 'c.png' type('image/png') 3x) }", ["a.png", "b.png", "c.png"]),
        ("@namespace svg url(http://www.w3.org/2000/svg); a{b:url(x.svg#i)}", ["x.svg#i"]),
        (r"a{b:url(a\)b.png);c:url(\61.png)}", ["a)b.png", "a.png"]),
        ("a{b:url(data:image/png;base64,AA==);c:url(#grad);d:url()}", []),
        ("a{b:URL(A.png)}", ["A.png"]),
        ("a { b: url(", []),
        ("@import", []),
    ],
)
def test_urls_are_found_as_browsers_do(css: str, urls: list[str]) -> None:
    assert [found.url for found in find_css_urls(css)] == urls


def test_urls_are_replaced_in_place_and_cannot_end_the_style() -> None:
    css = "@import 'a.css';a{b:url( x.png );c:url('y')}"
    assert rewrite_css_urls(css, lambda url: f"/r/{url}") == '@import "/r/a.css";a{b:url( "/r/x.png" );c:url("/r/y")}'
    assert "</style" not in rewrite_css_urls("a{b:url(x)}", lambda _: '"</style><script>')


def test_number_of_urls_is_bounded() -> None:
    assert len(list(find_css_urls("a{b:url(x)}" * (MAX_CSS_URLS + 10)))) == MAX_CSS_URLS


def _find_reference_urls(tokens: list[Any], rule: str = "") -> Iterator[str]:
    for token in tokens:
        if token.type == "url" and rule != "namespace":
            yield token.value
        elif token.type == "function" and token.lower_name in ("url", "image-set", "-webkit-image-set"):
            yield from (t.value for t in token.arguments if t.type == "string")
            yield from _find_reference_urls([t for t in token.arguments if t.type != "string"])
        elif token.type == "function":
            yield from _find_reference_urls(token.arguments)
        elif token.type in ("() block", "[] block", "{} block"):
            yield from _find_reference_urls(token.content)


def _find_reference(css: str) -> list[str]:
    found: list[str] = []
    for rule in tinycss2.parse_stylesheet(css):
        if rule.type == "at-rule":
            if rule.lower_at_keyword == "import":
                found += [t.value for t in rule.prelude if t.type == "string"][:1]
            found += _find_reference_urls(rule.prelude, rule.lower_at_keyword)
        elif rule.type == "qualified-rule":
            found += _find_reference_urls(rule.prelude)
        if rule.type in ("at-rule", "qualified-rule"):
            found += _find_reference_urls(rule.content or [])
    return [url for url in map(str.strip, found) if url and not url.startswith(("#", "data:"))]


def test_random_style_sheets_agree_with_reference_tokenizer() -> None:
    parts = [
        *("a{", "}", "b:", "url(x.png)", "url('y z')", 'url( "q" )', "/* c */", "/* url(n) */", '"text"', "'t'", ";"),
        *("@import 'i.css';", "@import url(j.css) print;", "@media print {", "attr(x)", "color:red", "\n", " "),
        *("@font-face{src:url(f.woff) format('w')}", "image-set('s1' 1x, url(s2) 2x)", "calc(1px + (2px))"),
        r"url(e\)f)",
    ]
    chooser = random.Random(7)
    compared = 0
    for _ in range(3000):
        css = "".join(chooser.choices(parts, k=chooser.randint(1, 14)))
        if css.count("{") == css.count("}") and tinycss2.parse_stylesheet(css):
            if any(rule.type == "error" for rule in tinycss2.parse_stylesheet(css)):
                continue  # a browser drops the rule; one URL more is harmless
            ours, reference = {found.url for found in find_css_urls(css)}, set(_find_reference(css))
            assert reference <= ours, css
            compared += 1
    assert compared > 300
