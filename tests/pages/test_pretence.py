"""Pages that say with status 200 that they are not there."""

from sanderling.pages.pretence import Pretence, pretence

MISSING = (
    "Sorry, the page you asked for cannot be found on this server. Try the search, or go back to the start page now."
)


def test_an_article_about_missing_pages_is_there() -> None:
    assert pretence("Page not found: a history", "The 404 page was not found in one day. " * 60) is None
    assert pretence("404 - Page not found", MISSING) is Pretence.SOFT_404


def test_a_number_is_no_notice() -> None:
    assert pretence("page number 404", "This is page number 404.") is None
    assert pretence("404 things to see", "Waders, gulls and terns.") is None
    assert pretence("404 | Example", "Sorry, this page does not exist.") is Pretence.SOFT_404


def test_a_parked_domain_is_recognised() -> None:
    assert pretence("example.org", "This domain is for sale. Make an offer.") is Pretence.PARKED
    assert pretence("Waders of the coast", "The sanderling runs along the edge of the waves and " * 10) is None


def test_an_article_about_parked_domains_is_there() -> None:
    assert pretence("What is domain parking?", "A parked domain shows a notice. " * 60) is None
