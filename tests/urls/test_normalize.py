"""URL normalization."""

import string

import ada_url
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sanderling.models import Reason
from sanderling.urls.normalize import (
    LENGTH_LIMIT,
    NormalizedUrl,
    find_rejection_reason,
    get_host,
    get_hostname,
    normalize_url,
    resolve_url,
    resolve_urls,
    split_url,
)

BASE = "https://example.org/guide/html/start.html?page=1#top"

GOLDEN = [
    ("HTTP://WWW.Example.COM:80", "http://www.example.com/"),
    ("http://x.org/%7Ejoe/%2D%5F", "http://x.org/~joe/-_"),
    ("http://x.org/a/./b/../c#top", "http://x.org/a/c"),
    ("http://x.org:8080/A?q=%2f", "http://x.org:8080/A?q=%2F"),
    ("http://www.jabong.com/women/clothing/Biba/?q=biba#pos=3", "http://www.jabong.com/women/clothing/Biba/?q=biba"),
]


def _normalize(raw: str) -> NormalizedUrl:
    normalized = normalize_url(raw)
    assert normalized is not None
    return normalized


@pytest.mark.parametrize(("raw", "key"), GOLDEN)
def test_golden_cases_of_the_specification(raw: str, key: str) -> None:
    assert _normalize(raw).url == key
    assert _normalize(key).url == key


def test_request_url_keeps_the_escapes() -> None:
    normalized = _normalize("http://x.org/%7ejoe")
    assert (normalized.url, normalized.request_url) == ("http://x.org/~joe", "http://x.org/%7ejoe")
    assert normalized.distinct_request_url == "http://x.org/%7ejoe"


def test_plain_url_has_no_distinct_request_url() -> None:
    normalized = _normalize("http://x.org/joe")
    assert normalized.distinct_request_url == ""


def test_credentials_are_removed() -> None:
    normalized = _normalize("http://me:secret@x.org/a@b?c@d")
    assert normalized.url == normalized.request_url == "http://x.org/a@b?c@d"


def test_malformed_escape_stays_unchanged() -> None:
    normalized = _normalize("http://x.org/%%34%31?%zz")
    assert normalized.url == "http://x.org/%%34%31?%zz"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("https://example.org/", Reason.NONE),
        ("mailto:joe@example.org", Reason.SCHEME),
        ("javascript:void(0)", Reason.SCHEME),
        ("data:text/html," + "x" * 100_000, Reason.SCHEME),
        ("ftp://example.org/", Reason.SCHEME),
        ("no scheme", Reason.BAD_URL),
        ("http://", Reason.BAD_URL),
        ("http://exa mple/", Reason.BAD_URL),
        ("http://\ud800/", Reason.BAD_URL),
        ("https://example.org/" + "x" * LENGTH_LIMIT, Reason.TOO_LONG),
        ("https://example.org/" + "x" * 10_000_000, Reason.TOO_LONG),
    ],
)
def test_invalid_url_has_a_reason(raw: str, reason: Reason) -> None:
    assert find_rejection_reason(raw) is reason
    assert (normalize_url(raw) is None) is (reason is not Reason.NONE)


def test_link_with_another_scheme_has_a_reason() -> None:
    assert find_rejection_reason("//example.org/", "ftp://example.org/") is Reason.SCHEME
    assert find_rejection_reason("page.html", BASE) is Reason.NONE


@pytest.mark.parametrize(
    ("raw", "request_url"),
    [
        ("next.html", "https://example.org/guide/html/next.html"),
        ("../up.html", "https://example.org/guide/up.html"),
        ("../../../../root.html", "https://example.org/root.html"),
        ("/rooted", "https://example.org/rooted"),
        ("//other.org/x", "https://other.org/x"),
        ("?page=2", "https://example.org/guide/html/start.html?page=2"),
        ("#here", "https://example.org/guide/html/start.html?page=1"),
        ("", "https://example.org/guide/html/start.html?page=1"),
        ("  spaced.html\n", "https://example.org/guide/html/spaced.html"),
        ("a b.html", "https://example.org/guide/html/a%20b.html"),
        ("..", "https://example.org/guide/"),
        ("x/./y/../z", "https://example.org/guide/html/x/z"),
        ("http://OTHER.org:80/X", "http://other.org/X"),
        ("http://127.1/", "http://127.0.0.1/"),
        ("\\back\\slash", "https://example.org/back/slash"),
    ],
)
def test_link_is_resolved_as_in_browsers(raw: str, request_url: str) -> None:
    normalized = resolve_url(BASE, raw)
    assert normalized is not None
    assert normalized.request_url == request_url


@pytest.mark.parametrize(
    ("encoding", "request_url"),
    [
        ("utf-8", "http://x/%C3%BC?%C3%BC=1"),
        ("UTF-16", "http://x/%C3%BC?%C3%BC=1"),
        ("windows-1252", "http://x/%C3%BC?%FC=1"),
        ("windows-1251", "http://x/%C3%BC?%26%23252%3B=1"),
        ("no such thing", "http://x/%C3%BC?%C3%BC=1"),
    ],
)
def test_query_is_encoded_in_the_encoding_of_its_page(encoding: str, request_url: str) -> None:
    resolved = resolve_url("http://x/", "ü?ü=1#ü", encoding)
    assert resolved is not None
    assert resolved.request_url == request_url
    assert resolve_urls("http://x/", ["ü?ü=1#ü"], encoding) == [resolved]


def test_resolved_links_keep_their_order() -> None:
    resolved = resolve_urls(BASE, ["a", "mailto:x@y", "b"])
    assert [s and s.request_url for s in resolved] == [
        "https://example.org/guide/html/a",
        None,
        "https://example.org/guide/html/b",
    ]


def test_absolute_links_work_without_a_valid_base() -> None:
    resolved = resolve_urls("about:blank", ["http://x.org/a", "b"])
    assert [s and s.request_url for s in resolved] == ["http://x.org/a", None]


def test_url_is_split_into_host_and_path() -> None:
    assert split_url("http://a/") == ("http://a", "/")
    assert split_url("https://x.org:8443/a?b=/c") == ("https://x.org:8443", "/a?b=/c")
    assert get_host("https://x.org/?/") == "https://x.org"
    assert get_hostname("http://[::1]:80") == "::1"
    assert get_hostname("http://x.org:81") == "x.org"


# Characters with special rules, not all of Unicode.
TEXT = st.text(alphabet=string.ascii_letters + "09%~-._/:?#[]@!$&'()*+,;= \\\t\x00é|^`{}<>\"", max_size=40)
BASES = st.sampled_from(["https://example.org/a/b/c?d#e", "http://x/", "http://1.2.3.4:81/a//b/", "https://x/a/.b/c"])


@settings(max_examples=500)
@given(BASES, TEXT)
def test_fast_path_agrees_with_ada_url(base: str, raw: str) -> None:
    normalized = resolve_url(base, raw)
    try:
        href = ada_url.join_url(base, raw)
    except ValueError:
        href = ""
    expected = normalize_url(href) if href else None
    assert normalized == expected


@settings(max_examples=500)
@given(BASES, TEXT)
def test_normalization_is_idempotent(base: str, raw: str) -> None:
    normalized = resolve_url(base, raw)
    if normalized is None:
        return
    by_key, by_request_url = _normalize(normalized.url), _normalize(normalized.request_url)
    assert by_request_url == normalized
    assert by_key.url == by_key.request_url == normalized.url


def _rfc3986_form(url: str) -> str:
    """Normalize escapes by RFC 3986, 6.2.2: an independent implementation."""
    out, at = [], 0
    while at < len(url):
        triplet = url[at : at + 3]
        if url[at] == "%" and len(triplet) == 3 and all(c in string.hexdigits for c in triplet[1:]):
            char = chr(int(triplet[1:], 16))
            out.append(char if char.isascii() and (char.isalnum() or char in "-._~") else triplet.upper())
            at += 3
        else:
            out.append(url[at])
            at += 1
    return "".join(out)


# Few different parts, so that equal pairs occur.
ESCAPED = st.lists(st.sampled_from(["a", "A", "%41", "%61", "%2f", "%2F", "/", "%", "%25", "4", "1", "?", "~", "%7E"]))


@settings(max_examples=500)
@given(ESCAPED, ESCAPED)
def test_urls_that_differ_by_rfc_3986_have_different_keys(left: list[str], right: list[str]) -> None:
    a, b = (_normalize("http://x.org/" + "".join(parts)) for parts in (left, right))
    if a.url == b.url:
        assert _rfc3986_form(a.request_url) == _rfc3986_form(b.request_url)


@given(st.text(max_size=60))
def test_arbitrary_text_raises_no_exception(raw: str) -> None:
    assert (normalize_url(raw) is None) == (find_rejection_reason(raw) is not Reason.NONE)
    resolve_url(BASE, raw)
