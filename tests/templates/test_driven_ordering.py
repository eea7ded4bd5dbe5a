"""Driving: links that promise pages like the samples come first, with a share of exploration."""

from sanderling.frontier.ordering.protocol import CrawledPage
from sanderling.models import Url
from sanderling.templates.driven_ordering import (
    MAX_EXPLORED_SHARE,
    MIN_EXPLORED_SHARE,
    MIN_PATIENCE,
    RANKS,
    Arrival,
    DrivenOrdering,
)
from sanderling.templates.link_model import LinkEvidence, tokenize_link
from sanderling.templates.page_features import PageView

PRODUCT, OTHER = b"\0\1\0\2", b"\0\3\0\4"


def test_links_that_promise_such_pages_are_put_first() -> None:
    samples = [PageView(n, f"https://a.example/p/{n}.html", "", b"\0\1\0\2") for n in (1, 2)]
    ordering = DrivenOrdering(samples)
    for n in range(5):
        ordering.match_model.learn(tokenize_link(LinkEvidence(f"https://a.example/topic{n}.html")), 0.0)
    ordering.place("https://a.example/p/3.html", 3)
    ordering.place("https://a.example/help.html", 4)
    assert ordering.find_promising(0.5) == {3}


def test_pages_must_be_about_the_query() -> None:
    samples = [PageView(n, f"https://a.example/p/{n}.html", "", b"\0\1\0\2") for n in (1, 2)]
    ordering = DrivenOrdering(samples, "red chairs")
    for n in range(10, 16):
        ordering.take_in(Arrival(PageView(n, f"https://a.example/help/{n}.html", "Help", b"\0\3\0\4")))
    for n, relevance in enumerate([0.0, 0.1, 0.4, 0.2, 0.7], 3):  # of the text, as workers report it
        ordering.take_in(Arrival(PageView(n, f"https://a.example/p/{n}.html", "", b"\0\1\0\2"), relevance=relevance))
    ordering.take_in(Arrival(PageView(8, "https://a.example/p/8.html", "Red chair", b"\0\1\0\2")))  # of unknown text
    assert set(ordering.matches) == {"https://a.example/p/7.html", "https://a.example/p/8.html"}


def test_a_query_without_a_usable_word_asks_for_the_type_only() -> None:
    samples = [PageView(n, f"https://a.example/p/{n}.html", "", b"\0\1\0\2") for n in (1, 2)]
    ordering = DrivenOrdering(samples, "the")
    for n in range(10, 16):
        ordering.take_in(Arrival(PageView(n, f"https://a.example/help/{n}.html", "Help", b"\0\3\0\4")))
    ordering.take_in(Arrival(PageView(3, "https://a.example/p/3.html", "Table", b"\0\1\0\2"), relevance=0.0))
    assert set(ordering.matches) == {"https://a.example/p/3.html"}


def build_other(n: int) -> Arrival:
    return Arrival(PageView(n, f"https://a.example/help/{n}.html", "Help", OTHER))


def test_parked_pages_are_requested_only_if_they_are_about_the_query() -> None:
    samples = [PageView(n, f"https://a.example/p/{n}.html", "", PRODUCT) for n in (1, 2)]
    ordering = DrivenOrdering(samples, "red chairs")
    for n in range(10, 16):
        ordering.take_in(build_other(n))
    for n, title in ((3, "Red chair"), (4, "Lamp")):
        url = Url(f"https://a.example/p/{n}.html")
        ordering.learn(CrawledPage(n, url, [], title=title, structure_fingerprint=PRODUCT, is_parked=True))
    ordering.pop_rank_gains()
    assert ordering.request_parked_pages() == {3}
    assert ordering.requested == {3}


def test_links_that_wait_longest_get_their_share_of_the_fetches() -> None:
    ordering = DrivenOrdering([PageView(1, "https://a.example/p/1.html", "", PRODUCT)])
    for n in range(100, 140):
        ordering.place(f"https://a.example/help/{n}.html", n)
    for n in range(10, 18):
        ordering.note(build_other(n))
    first = [id_ for id_, gain in ordering.pop_rank_gains().items() if gain > 1]
    assert first == list(range(100, 100 + len(first)))
    assert len(first) + 1 >= 8 * MIN_EXPLORED_SHARE
    assert len(first) <= 8 * MAX_EXPLORED_SHARE


def test_the_way_that_brings_more_matches_gets_more_of_the_fetches() -> None:
    counts = []
    for is_match in (False, True):
        ordering = DrivenOrdering([PageView(1, "https://a.example/p/1.html", "", PRODUCT)])
        for n in range(100, 160):
            ordering.place(f"https://a.example/p/{n}.html", n)
        for n in range(10, 16):
            ordering.take_in(build_other(n))
        for n in range(20, 28):
            product = Arrival(PageView(n, f"https://a.example/p/{n}.html", "", PRODUCT))
            ordering.note(product if is_match else build_other(n))
        counts.append(sum(gain > RANKS / 2 for gain in ordering.pop_rank_gains().values()))
    assert counts[1] < counts[0]


def test_a_crawl_without_matches_is_exhausted() -> None:
    ordering = DrivenOrdering([PageView(1, "https://a.example/p/1.html", "", PRODUCT)])
    for n in range(MIN_PATIENCE):
        ordering.take_in(build_other(10 + n))
    assert not ordering.is_exhausted()
    ordering.take_in(build_other(9))
    assert ordering.is_exhausted()
