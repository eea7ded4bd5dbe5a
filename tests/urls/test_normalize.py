"""One spelling per URL."""

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

GOLDEN = [  # SPEC 2.2
    ("HTTP://WWW.Example.COM:80", "http://www.example.com/"),
    ("http://x.org/%7Ejoe/%2D%5F", "http://x.org/~joe/-_"),
    ("http://x.org/a/./b/../c#top", "http://x.org/a/c"),
    ("http://x.org:8080/A?q=%2f", "http://x.org:8080/A?q=%2F"),
    ("http://www.jabong.com/women/clothing/Biba/?q=biba#pos=3", "http://www.jabong.com/women/clothing/Biba/?q=biba"),
]


def _spelt(raw: str) -> NormalizedUrl:
    spelling = normalize_url(raw)
    assert spelling is not None
    return spelling


@pytest.mark.parametrize(("raw", "key"), GOLDEN)
def test_the_printed_rules_hold(raw: str, key: str) -> None:
    assert _spelt(raw).url == key
    assert _spelt(key).url == key


def test_the_wire_form_keeps_the_escapes_as_written() -> None:
    spelling = _spelt("http://x.org/%7ejoe")
    assert (spelling.url, spelling.request_url) == ("http://x.org/~joe", "http://x.org/%7ejoe")
    assert spelling.distinct_request_url == "http://x.org/%7ejoe"


def test_a_plain_url_has_one_form() -> None:
    spelling = _spelt("http://x.org/joe")
    assert spelling.distinct_request_url == ""


def test_credentials_are_in_neither_form() -> None:
    spelling = _spelt("http://me:secret@x.org/a@b?c@d")
    assert spelling.url == spelling.request_url == "http://x.org/a@b?c@d"


def test_a_malformed_escape_is_left_alone() -> None:
    spelling = _spelt("http://x.org/%%34%31?%zz")
    assert spelling.url == "http://x.org/%%34%31?%zz"


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
def test_a_useless_string_has_a_named_reason(raw: str, reason: Reason) -> None:
    assert find_rejection_reason(raw) is reason
    assert (normalize_url(raw) is None) is (reason is not Reason.NONE)


def test_a_link_of_another_scheme_has_a_named_reason() -> None:
    assert find_rejection_reason("//example.org/", "ftp://example.org/") is Reason.SCHEME
    assert find_rejection_reason("page.html", BASE) is Reason.NONE


@pytest.mark.parametrize(
    ("raw", "wire"),
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
def test_a_link_is_read_as_a_browser_reads_it(raw: str, wire: str) -> None:
    spelling = resolve_url(BASE, raw)
    assert spelling is not None
    assert spelling.request_url == wire


@pytest.mark.parametrize(
    ("encoding", "wire"),
    [
        ("utf-8", "http://x/%C3%BC?%C3%BC=1"),
        ("UTF-16", "http://x/%C3%BC?%C3%BC=1"),
        ("windows-1252", "http://x/%C3%BC?%FC=1"),
        ("windows-1251", "http://x/%C3%BC?%26%23252%3B=1"),
        ("no such thing", "http://x/%C3%BC?%C3%BC=1"),
    ],
)
def test_a_query_is_sent_in_the_encoding_of_its_page(encoding: str, wire: str) -> None:
    one = resolve_url("http://x/", "ü?ü=1#ü", encoding)
    assert one is not None
    assert one.request_url == wire
    assert resolve_urls("http://x/", ["ü?ü=1#ü"], encoding) == [one]


def test_links_of_a_page_keep_their_order_and_their_gaps() -> None:
    spellings = resolve_urls(BASE, ["a", "mailto:x@y", "b"])
    assert [s and s.request_url for s in spellings] == [
        "https://example.org/guide/html/a",
        None,
        "https://example.org/guide/html/b",
    ]


def test_on_a_page_without_a_usable_address_absolute_links_still_work() -> None:
    spellings = resolve_urls("about:blank", ["http://x.org/a", "b"])
    assert [s and s.request_url for s in spellings] == ["http://x.org/a", None]


def test_a_url_parts_into_host_and_path() -> None:
    assert split_url("http://a/") == ("http://a", "/")
    assert split_url("https://x.org:8443/a?b=/c") == ("https://x.org:8443", "/a?b=/c")
    assert get_host("https://x.org/?/") == "https://x.org"
    assert get_hostname("http://[::1]:80") == "::1"
    assert get_hostname("http://x.org:81") == "x.org"


# What a link may be made of: the characters where rules meet, not all of Unicode.
TEXT = st.text(alphabet=string.ascii_letters + "09%~-._/:?#[]@!$&'()*+,;= \\\t\x00é|^`{}<>\"", max_size=40)
BASES = st.sampled_from(["https://example.org/a/b/c?d#e", "http://x/", "http://1.2.3.4:81/a//b/", "https://x/a/.b/c"])


@settings(max_examples=500)
@given(BASES, TEXT)
def test_the_fast_way_and_the_library_agree(base: str, raw: str) -> None:
    spelling = resolve_url(base, raw)
    try:
        href = ada_url.join_url(base, raw)
    except ValueError:
        href = ""
    slow = normalize_url(href) if href else None
    assert spelling == slow


@settings(max_examples=500)
@given(BASES, TEXT)
def test_spelling_twice_changes_nothing(base: str, raw: str) -> None:
    spelling = resolve_url(base, raw)
    if spelling is None:
        return
    by_key, by_wire = _spelt(spelling.url), _spelt(spelling.request_url)
    assert by_wire == spelling
    assert by_key.url == by_key.request_url == spelling.url


def _rfc3986_form(url: str) -> str:
    """Decode the unreserved and raise the hex digits, character by character: RFC 3986, 6.2.2, written anew."""
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


# Short texts of few characters, so that pairs do meet.
ESCAPED = st.lists(st.sampled_from(["a", "A", "%41", "%61", "%2f", "%2F", "/", "%", "%25", "4", "1", "?", "~", "%7E"]))


@settings(max_examples=500)
@given(ESCAPED, ESCAPED)
def test_two_urls_that_differ_by_rfc_3986_are_never_merged(left: list[str], right: list[str]) -> None:
    a, b = (_spelt("http://x.org/" + "".join(parts)) for parts in (left, right))
    if a.url == b.url:
        assert _rfc3986_form(a.request_url) == _rfc3986_form(b.request_url)


@given(st.text(max_size=60))
def test_no_string_breaks_it(raw: str) -> None:
    assert (normalize_url(raw) is None) == (find_rejection_reason(raw) is not Reason.NONE)
    resolve_url(BASE, raw)
