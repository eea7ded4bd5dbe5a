"""When a page is gone, and when it only looks so."""

from sanderling.records import Outcome, Url
from sanderling.refresh.gone import Absence, Face, Verdict, after, is_outage, judge, missing_from, similarity

ARTICLE = Face(200, "Waders of the coast", "The sanderling runs along the edge of the waves and " * 10)
MISSING = (
    "Sorry, the page you asked for cannot be found on this server. Try the search, or go back to the start page now."
)


def test_a_page_is_gone_after_two_misses_in_a_row() -> None:
    once = after(Absence(), Outcome.GONE)
    assert not once.is_gone
    assert after(once, Outcome.GONE).is_gone
    assert not after(after(once, Outcome.FETCHED), Outcome.GONE).is_gone


def test_trouble_of_the_server_neither_counts_nor_forgets() -> None:
    once = after(Absence(), Outcome.GONE)
    for outcome in (Outcome.RETRY, Outcome.FAILED, Outcome.SKIPPED, Outcome.RETURNED):
        assert after(once, outcome) == once


def test_a_page_like_the_answer_to_a_made_up_address_is_not_there() -> None:
    probe = Face(200, "Oops", MISSING + " You asked for /x83kd")
    assert judge(Face(200, "Oops", MISSING + " You asked for /bird"), probe) is Verdict.SOFT_404
    assert judge(ARTICLE, probe) is Verdict.THERE
    assert judge(Face(200, "", "", b"d"), Face(200, "", "no", b"d")) is Verdict.SOFT_404


def test_an_article_about_missing_pages_is_there() -> None:
    essay = Face(200, "Page not found: a history", "The 404 page was not found in one day. " * 60)
    assert judge(essay) is Verdict.THERE
    assert judge(Face(200, "404 - Page not found", MISSING)) is Verdict.SOFT_404
    assert judge(Face(200, "404 - Page not found", MISSING), Face(404)) is Verdict.SOFT_404


def test_a_number_is_no_notice() -> None:
    assert judge(Face(200, "page number 404", "This is page number 404.")) is Verdict.THERE
    assert judge(Face(200, "404 things to see", "Waders, gulls and terns.")) is Verdict.THERE
    assert judge(Face(200, "404 | Example", "Sorry, this page does not exist.")) is Verdict.SOFT_404


def test_a_parked_domain_is_recognised() -> None:
    assert judge(Face(200, "example.org", "This domain is for sale. Make an offer.")) is Verdict.PARKED
    assert judge(ARTICLE) is Verdict.THERE


def test_an_article_about_parked_domains_is_there() -> None:
    assert judge(Face(200, "What is domain parking?", "A parked domain shows a notice. " * 60)) is Verdict.THERE


def test_half_a_crawl_never_looks_like_mass_deletion() -> None:
    known, seen = {Url("http://a/1"), Url("http://a/2")}, {Url("http://a/1")}
    assert missing_from(known, seen, completed=False) == set()
    assert missing_from(known, seen, completed=True) == {Url("http://a/2")}


def test_a_host_that_loses_most_pages_at_once_is_in_trouble() -> None:
    assert is_outage(missing=60, looked=100)
    assert not is_outage(missing=40, looked=100)
    assert not is_outage(missing=2, looked=2)


def test_similarity_of_texts() -> None:
    assert similarity("", "") == 1
    assert similarity("a b c d", "a b c d") == 1
    assert similarity("a b c d", "w x y z") == 0
    assert similarity("a", "") == 0
