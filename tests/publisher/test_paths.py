"""One spelling per path."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.publisher.paths import LONGEST, canonical, encoded, with_query, without_index


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
    assert canonical(raw) == spelled


@pytest.mark.parametrize("raw", ["", "a", "http://x/", "*", "/" + "a" * LONGEST, "/" + "ä" * 700])
def test_what_is_no_page_of_ours_is_none(raw: str) -> None:
    assert canonical(raw) is None


@given(st.text(max_size=60))
def test_spelling_twice_changes_nothing(text: str) -> None:
    once = canonical("/" + text.encode("utf-8", "replace").decode())
    assert once is None or canonical(once) == once


def test_file_names_in_any_bytes_become_paths() -> None:
    assert encoded(b"/\xff\xfe") == "/%FF%FE"
    assert encoded("/50%") == "/50%25"


def test_only_the_named_parameters_make_a_page_of_their_own() -> None:
    assert with_query("/a", "utm=1&id=5&x=2", ("id",)) == "/a?id=5"
    assert with_query("/a", "utm=1", ("id",)) == "/a"
    assert with_query("/a", "id=5", ()) == "/a"


def test_an_index_page_goes_by_its_folder() -> None:
    assert without_index("/a/index.html", "index.html") == "/a/"
    assert without_index("/a/myindex.html", "index.html") == "/a/myindex.html"
