"""One spelling per path."""

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
    ("raw", "spelled"),
    [
        ("/", "/"),
        ("/a b", "/a%20b"),
        ("/%7ejoe/%2d", "/~joe/-"),
        ("/a%2fb", "/a%2Fb"),  # an escaped slash is no slash
        ("/ä", "/%C3%A4"),
        ("/a/./b/../c", "/a/c"),
        ("/a/..", "/"),
        ("/../../etc/passwd", "/etc/passwd"),
        ("/a/b/.", "/a/b/"),
        ('/<script>"', "/%3Cscript%3E%22"),
        ("/100%", "/100%"),
    ],
)
def test_paths_are_spelled_in_one_way(raw: str, spelled: str) -> None:
    assert canonicalize_path(raw) == spelled


@pytest.mark.parametrize("raw", ["", "a", "http://x/", "*", "/" + "a" * MAX_PATH_LENGTH, "/" + "ä" * 700])
def test_what_is_no_page_of_ours_is_none(raw: str) -> None:
    assert canonicalize_path(raw) is None


@given(st.text(max_size=60))
def test_spelling_twice_changes_nothing(text: str) -> None:
    once = canonicalize_path("/" + text.encode("utf-8", "replace").decode())
    assert once is None or canonicalize_path(once) == once


def test_file_names_in_any_bytes_become_paths() -> None:
    assert canonicalize_decoded_path(b"/\xff\xfe") == "/%FF%FE"
    assert canonicalize_decoded_path("/50%") == "/50%25"


def test_only_the_named_parameters_make_a_page_of_their_own() -> None:
    assert add_page_parameters("/a", "utm=1&id=5&x=2", ("id",)) == "/a?id=5"
    assert add_page_parameters("/a", "utm=1", ("id",)) == "/a"
    assert add_page_parameters("/a", "id=5", ()) == "/a"


def test_an_index_page_goes_by_its_folder() -> None:
    assert strip_index_file("/a/index.html", "index.html") == "/a/"
    assert strip_index_file("/a/myindex.html", "index.html") == "/a/myindex.html"
