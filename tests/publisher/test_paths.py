"""Tests of canonical paths."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.publisher.paths import (
    MAX_PATH_LENGTH,
    add_page_parameters,
    canonicalize_decoded_path,
    canonicalize_path,
    strip_index_file,
)


@pytest.mark.parametrize(
    ("raw", "canonical"),
    [
        ("/", "/"),
        ("/a b", "/a%20b"),
        ("/%7ejoe/%2d", "/~joe/-"),
        ("/a%2fb", "/a%2Fb"),  # an escaped slash is kept
        ("/ä", "/%C3%A4"),
        ("/a/./b/../c", "/a/c"),
        ("/a/..", "/"),
        ("/../../etc/passwd", "/etc/passwd"),
        ("/a/b/.", "/a/b/"),
        ('/<script>"', "/%3Cscript%3E%22"),
        ("/100%", "/100%"),
    ],
)
def test_paths_are_canonicalized(raw: str, canonical: str) -> None:
    assert canonicalize_path(raw) == canonical


@pytest.mark.parametrize("raw", ["", "a", "http://x/", "*", "/" + "a" * MAX_PATH_LENGTH, "/" + "ä" * 700])
def test_invalid_path_is_rejected(raw: str) -> None:
    assert canonicalize_path(raw) is None


@given(st.text(max_size=60))
def test_canonicalization_is_idempotent(text: str) -> None:
    once = canonicalize_path("/" + text.encode("utf-8", "replace").decode())
    assert once is None or canonicalize_path(once) == once


def test_undecodable_file_name_is_percent_encoded() -> None:
    assert canonicalize_decoded_path(b"/\xff\xfe") == "/%FF%FE"
    assert canonicalize_decoded_path("/50%") == "/50%25"


def test_only_page_parameters_are_kept() -> None:
    assert add_page_parameters("/a", "utm=1&id=5&x=2", ("id",)) == "/a?id=5"
    assert add_page_parameters("/a", "utm=1", ("id",)) == "/a"
    assert add_page_parameters("/a", "id=5", ()) == "/a"


def test_index_file_name_is_removed() -> None:
    assert strip_index_file("/a/index.html", "index.html") == "/a/"
    assert strip_index_file("/a/myindex.html", "index.html") == "/a/myindex.html"
