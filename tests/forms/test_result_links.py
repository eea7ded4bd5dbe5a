"""Links of results: the next page, records, and other versions of the results."""

import pytest

from sanderling.forms.result_links import build_query_url, find_total, sort_links
from sanderling.html.form_fields import FormField, PageForm
from sanderling.models import Link, Url

FORM = PageForm(
    "https://a.test/s",
    "get",
    [FormField("cat", "choice", ["1", "2"]), FormField("q", "text"), FormField("sort", "choice")],
)


def find_next(url: str, *links: tuple[str, str]) -> str:
    return sort_links(url, FORM, [Link(Url(target), anchor=anchor) for target, anchor in links]).next_address[0]


@pytest.mark.parametrize(
    ("url", "links", "following"),
    [
        ("s?cat=1&q=", [("s?cat=1&q=&page=3", "3"), ("s?cat=1&q=&page=2", "2")], "s?cat=1&q=&page=2"),
        ("s?cat=1&page=2", [("s?cat=1&page=1", "1"), ("s?cat=1&page=3", "3")], "s?cat=1&page=3"),
        ("s?cat=1", [("s?cat=1&offset=20", "Next")], "s?cat=1&offset=20"),
        ("s?cat=1", [("s?cat=1&cursor=Zx9", "Next »")], "s?cat=1&cursor=Zx9"),
        ("s?cat=1", [("s/page/2?cat=1", "2")], "s/page/2?cat=1"),
        ("s/page/2?cat=1", [("s/page/1?cat=1", "1"), ("s/page/3?cat=1", "3")], "s/page/3?cat=1"),
        ("s?cat=1", [("s?cat=2", "Two"), ("s?cat=1&id=7", "A record"), ("s?cat=1&sort=date", "Date")], ""),
        ("s?cat=1&page=4", [("s?cat=1&page=3", "Previous")], ""),
    ],
)
def test_next_page(url: str, links: list[tuple[str, str]], following: str) -> None:
    base = "https://a.test/"
    expected = base + following if following else ""
    assert find_next(base + url, *((base + target, anchor) for target, anchor in links)) == expected


def test_other_orders_are_not_followed_and_records_are() -> None:
    targets = ["s?cat=1&sort=date", "s?cat=2&q=", "s?cat=1&id=7", "record/5", "s?cat=1&page=2"]
    links = [Link(Url("https://a.test/" + target), anchor="Lamp") for target in targets]
    found = sort_links("https://a.test/s?cat=1&q=", FORM, links)
    assert [link.url.rpartition("/")[2] for link in found.records] == ["s?cat=1&id=7", "5"]
    assert found.variants == 2


def test_next_page_of_a_document_is_on_the_same_host() -> None:
    assert sort_links("https://a.test/s?cat=1", FORM, [], "/s?page=2").next_address[0] == "https://a.test/s?page=2"
    assert sort_links("https://a.test/s?cat=1", FORM, [], "https://b.test/s?page=2").next_address == ("", "")


@pytest.mark.parametrize(
    ("line", "total"),
    [
        ("1,234 results", 1234),
        ("Showing 1 - 20 of 345", 345), ("Treffer 1 bis 10 von 99", 99), ("12 neue Treffer", 12),
        ("No results", 0), ("Page 2", 0), ("1.234 Ergebnisse", 1234),
    ],
)  # fmt: skip
def test_totals(line: str, total: int) -> None:
    assert find_total(["Heading", line]) == total


def test_addresses_of_queries() -> None:
    pairs = [("q", "a b"), ("cat", "ü")]
    assert build_query_url(FORM, pairs) == "https://a.test/s?q=a+b&cat=%C3%BC"
    latin = PageForm("https://a.test/s?old=1", "get", [], "", "iso-8859-1")
    assert build_query_url(latin, pairs) == "https://a.test/s?q=a+b&cat=%FC"
    post = PageForm("https://a.test/s", "post", [])
    assert build_query_url(post, pairs) == "https://a.test/s?__wb_method=POST&q=a+b&cat=%C3%BC"
