"""Pages that say with status 200 that they are not there."""

from sanderling.content.soft_404 import (
    CHALLENGE_PHRASES,
    DOWNTIME_PHRASES,
    ERROR_PHRASES,
    LOGIN_PHRASES,
    NOT_FOUND_PHRASES,
    SoftErrorKind,
    classify_text,
    detect_soft_error,
)
from sanderling.html.parser import parse_html
from sanderling.html.text import extract_raw_text

MISSING = (
    "Sorry, the page you asked for cannot be found on this server. Try the search, or go back to the start page now."
)


def test_an_article_about_missing_pages_is_there() -> None:
    assert classify_text("Page not found: a history", "The 404 page was not found in one day. " * 60) is None
    assert classify_text("404 - Page not found", MISSING) is SoftErrorKind.SOFT_404


def test_a_number_is_no_notice() -> None:
    assert classify_text("page number 404", "This is page number 404.") is None
    assert classify_text("404 things to see", "Waders, gulls and terns.") is None
    assert classify_text("404 | Example", "Sorry, this page does not exist.") is SoftErrorKind.SOFT_404


def test_a_parked_domain_is_recognised() -> None:
    assert classify_text("example.org", "This domain is for sale. Make an offer.") is SoftErrorKind.PARKED
    assert classify_text("Waders of the coast", "The sanderling runs along the edge of the waves and " * 10) is None


def test_an_article_about_parked_domains_is_there() -> None:
    assert classify_text("What is domain parking?", "A parked domain shows a notice. " * 60) is None


def told(body: str) -> SoftErrorKind | None:
    tree = parse_html(body.encode())
    return detect_soft_error(tree, extract_raw_text(parse_html(body.encode())))


def test_a_notice_in_the_place_of_a_page_is_an_outage() -> None:
    for body in (
        "<title>Example | System Down</title><p>We are working on it.</p>",
        "<title>Example</title><h1>We'll be right back</h1>",
        "<title>Just a moment...</title><p>Checking your browser.</p>",
        "<title>Log in to Example</title><form><input name=who><input type=password name=p></form>",
        "<title>Bevor Sie fortfahren</title><p>Wir verwenden Cookies.</p>",
    ):
        assert told(body) is SoftErrorKind.OUTAGE


def test_an_error_in_the_place_of_a_page_is_an_outage() -> None:
    for body in (
        "<title>Error</title><h1>An error occurred</h1><p>Please try again later.</p>",
        "<title>Database Error</title><h1>Error establishing a database connection</h1>",
        "<h1>Too many requests</h1><p>Please slow down.</p>",
        "<title>Example</title><h1>502 Bad Gateway</h1>",
        "<title>Es ist ein Fehler aufgetreten</title>",
    ):
        assert told(body) is SoftErrorKind.OUTAGE


def was_told(body: str) -> SoftErrorKind | None:
    """The same of a page that was another before."""
    return detect_soft_error(parse_html(body.encode()), extract_raw_text(parse_html(body.encode())), body.encode())


def test_nothing_in_the_place_of_a_page_is_an_outage() -> None:
    for body in (
        "",
        "<html><head></head><body></body></html>",
        "<title>Birds of the coast</title><body><div></div></body>",
        "<br>\n<b>Fatal error</b>:  Uncaught Error: Call to undefined function x() in /var/www/index.php:12<br>",
    ):
        assert was_told(body) is SoftErrorKind.OUTAGE
        assert told(body) is None
    for body in (
        "<title>Birds</title><div id=root></div><script src=/app.js></script>",
        "<title>Birds</title><img src=/sanderling.jpg>",
        "<title>Birds</title><p>Closed.</p>",
        "<p>A fatal error: how the ship was lost</p>",
    ):
        assert was_told(body) is None


def test_a_page_about_such_things_is_none() -> None:
    long = "<p>Maintenance keeps a bridge alive, and nobody sees it being done.</p>" * 80
    for body in (
        f"<title>Site maintenance: a handbook</title>{long}",
        "<title>Birds of the coast</title><p>This page is under maintenance by two wardens.</p>",
        "<title>How to log in</title><p>Press the button.</p>",
        "<title>Terms</title><form><input type=password></form><p>Welcome.</p>",
    ):
        assert told(body) is None


def test_every_notice_has_the_sign_that_it_is_looked_for_by() -> None:
    for kinds in (NOT_FOUND_PHRASES, DOWNTIME_PHRASES, ERROR_PHRASES, CHALLENGE_PHRASES, LOGIN_PHRASES):
        for sign, pattern in kinds.items():
            assert sign == sign.lower()
            assert all(sign in way.replace("[ -]?", "") for way in pattern.split(r"\b|")), sign
