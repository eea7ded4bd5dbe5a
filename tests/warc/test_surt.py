"""Tests of SURT keys, compared with the `surt` package that replay tools use."""

import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.warc.surt import build_surt


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://example.org/", "org,example)/"),
        ("https://www.Example.org:443/A/B.html?b=2&a=1#x", "org,example)/a/b.html?a=1&b=2"),
        ("http://www3.example.org:8080/", "org,example:8080)/"),
        ("http://wwww.archive.org/", "org,archive,wwww)/"),
        ("http://www-x.www3.example.org/", "org,example,www3,www-x)/"),
        ("http://www.www.example.org/", "org,example,www)/"),
        ("http://user:secret@example.org", "org,example)/"),
        ("http://127.0.0.1:8000/a/", "1,0,0,127:8000)/a"),
        ("http://a.test/x/../%7Eme/./", "test,a)/~me"),
        ("http://a.test/?phpsessid=0123456789abcdef0123456789abcdef&q=1", "test,a)/?q=1"),
        ("dns:example.org", "dns:example.org"),
    ],
)
def test_keys_match_those_of_indexers(url: str, key: str) -> None:
    assert build_surt(url) == key


HOSTS = [
    "www.Example.org",
    "www2.a.b.co.uk",
    "127.0.0.1",
    "xn--bcher-kva.test",
    "localhost",
    "[::1]",
    "www.com",
    "wwww.archive.org",
    "wwwx.www2.b.org",
    "a..b.org",
]
SEGMENTS = ["a", "B", "..", ".", "", "%7e", "%2F", "a%20b", "ä", "%C3%A4", "(A(abcdefghijklmnopqrstuvwx))", "p.aspx"]
SEGMENTS += ["%25", "%2525", "a;b", "~u", "a:b", "'", '"', "<", "|", "%", "%zz", "\\", "^", "`", "{x}", "%23"]
QUERIES = ["a=1", "b", "b=", "c=%20", "A=ä", "jsessionid=" + "a1" * 16, "xSID=" + "f" * 32, "cfid=1&cftoken=2", "=", ""]
QUERIES += ["ASPSESSIONIDabcdefgh=" + "a" * 24, "z=/?", "a=b=c", "%26=1", "%23=2", "q=a+b", "x y"]

URLS = st.builds(
    lambda scheme, user, host, port, path, query: f"{scheme}://{user}{host}{port}{path}{query}",
    st.sampled_from(["http", "https", "HTTP"]),
    st.sampled_from(["", "u:p@", "u@"]),
    st.sampled_from(HOSTS)
    | st.lists(st.sampled_from(["www", "www2", "wwww", "www-x", "xwww", "a", "org"]), min_size=2).map(".".join)
    | st.from_regex(r"[a-z]{1,5}(\.[a-z0-9-]{1,5}){0,3}\.[a-z]{2,4}", fullmatch=True),
    st.sampled_from(["", ":80", ":443", ":8080", ":"]),
    st.lists(st.sampled_from(SEGMENTS) | st.from_regex(r"[!-.0->@-~]{0,9}", fullmatch=True)).map(
        lambda parts: "".join(f"/{part}" for part in parts)
    ),
    st.lists(st.sampled_from(QUERIES)).map(lambda parts: "?" + "&".join(parts) if parts else ""),
)


@pytest.fixture(scope="module")
def reference() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it has invalid escapes in regular expressions
        return pytest.importorskip("surt").surt


@given(url=URLS)
def test_key_equals_that_of_the_surt_package(reference: Any, url: str) -> None:
    assert build_surt(url) == reference(url)


@given(url=URLS)
def test_key_is_ascii_without_spaces(url: str) -> None:
    assert build_surt(url).isascii()
    assert len(build_surt(url).split()) == 1


@given(text=st.text())
def test_any_text_has_a_key_without_spaces(text: str) -> None:
    assert len(build_surt(f"http://{text}/{text}?{text}").split()) == 1
    assert len(build_surt("x" + text).split()) == 1
