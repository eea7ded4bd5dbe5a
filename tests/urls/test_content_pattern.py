"""URL patterns that one program probably answers."""

import pytest

from sanderling.urls.content_pattern import (
    find_content_pattern,
    has_variable_part,
    hash_content_pattern,
    is_random_token,
)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("/calendar?d=1", "/calendar?d=73000"),
        ("/list?page=2&sort=name", "/list?sort=price&page=9"),
        ("/2031/11/14/", "/2032/1/2/"),
        ("/cal/2031-11-14", "/cal/2031-11-15"),
        ("/r/8f7ad6c2", "/r/b1e07c44"),
        ("/r/kqzx", "/r/wvut"),
        ("/item/17", "/item/18"),
        ("/x/8f7ad6c2/view", "/x/b1e07c44/view"),
    ],
)
def test_urls_of_one_program_have_one_pattern(first: str, second: str) -> None:
    host = "https://a.org"
    assert find_content_pattern(host + first) == find_content_pattern(host + second)
    assert hash_content_pattern(host + first) == hash_content_pattern(host + second) < 2**63


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("https://a.org/calendar?d=1", "https://b.org/calendar?d=1"),
        ("https://a.org/calendar?d=1", "https://a.org/calendar?m=1"),
        ("https://a.org/calendar?d=1", "https://a.org/calendar"),
        ("https://a.org/de/about", "https://a.org/en/about"),
        ("https://a.org/x/a.pdf", "https://a.org/x/a.html"),
        ("https://a.org/python3/a", "https://a.org/rust/a"),
    ],
)
def test_other_pages_have_another_pattern(first: str, second: str) -> None:
    assert find_content_pattern(first) != find_content_pattern(second)


def test_patterns_are_readable() -> None:
    assert find_content_pattern("https://a.org/cal/2031/11?view=day&d=14") == "https://a.org/cal/0/0?d&view"
    assert find_content_pattern("https://a.org/r/8f7ad6c2") == "https://a.org/r/*"
    assert find_content_pattern("https://a.org/") == "https://a.org/"


def test_numbers_and_queries_are_variable() -> None:
    assert has_variable_part("https://a.org/cal?d=x")
    assert has_variable_part("https://a.org/p17")
    assert not has_variable_part("https://a1.org/about/us")


def test_identifiers_differ_from_names() -> None:
    assert is_random_token("8f7ad6c2")
    assert not is_random_token("python3")
    assert not is_random_token("2031-11-14")
