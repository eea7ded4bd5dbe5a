"""Tests of soft error detection."""

from sanderling.content.soft_404 import SoftErrorKind, classify_text, detect_soft_error
from sanderling.content.word_lists import load_patterns
from sanderling.html.parser import parse_html
from sanderling.html.text import extract_raw_text

MISSING = (
    "Sorry, the page you asked for cannot be found on this server. Try the search, or go back to the start page now."
)


def test_article_about_missing_pages_is_no_soft_404() -> None:
    assert classify_text("Page not found: a history", "The 404 page was not found in one day. " * 60) is None
    assert classify_text("404 - Page not found", MISSING) is SoftErrorKind.SOFT_404


def test_number_404_alone_is_no_soft_404() -> None:
    assert classify_text("page number 404", "This is page number 404.") is None
    assert classify_text("404 things to see", "Waders, gulls and terns.") is None
    assert classify_text("404 | Example", "Sorry, this page does not exist.") is SoftErrorKind.SOFT_404


def test_parked_domain_is_recognized() -> None:
    assert classify_text("example.org", "This domain is for sale. Make an offer.") is SoftErrorKind.PARKED
    assert classify_text("Waders of the coast", "The sanderling runs along the edge of the waves and " * 10) is None


def test_article_about_parked_domains_is_not_parked() -> None:
    assert classify_text("What is domain parking?", "A parked domain shows a notice. " * 60) is None


def detect(body: str) -> SoftErrorKind | None:
    tree = parse_html(body.encode())
    return detect_soft_error(tree, extract_raw_text(parse_html(body.encode())))


def test_short_notice_is_an_outage() -> None:
    for body in (
        "<title>Example | System Down</title><p>We are working on it.</p>",
        "<title>Example</title><h1>We'll be right back</h1>",
        "<title>Just a moment...</title><p>Checking your browser.</p>",
        "<title>Log in to Example</title><form><input name=who><input type=password name=p></form>",
        "<title>Bevor Sie fortfahren</title><p>Wir verwenden Cookies.</p>",
    ):
        assert detect(body) is SoftErrorKind.OUTAGE


def test_error_message_is_an_outage() -> None:
    for body in (
        "<title>Error</title><h1>An error occurred</h1><p>Please try again later.</p>",
        "<title>Database Error</title><h1>Error establishing a database connection</h1>",
        "<h1>Too many requests</h1><p>Please slow down.</p>",
        "<title>Example</title><h1>502 Bad Gateway</h1>",
        "<title>Es ist ein Fehler aufgetreten</title>",
    ):
        assert detect(body) is SoftErrorKind.OUTAGE


def detect_with_body(body: str) -> SoftErrorKind | None:
    """Detect the soft error of a page whose earlier version differed."""
    return detect_soft_error(parse_html(body.encode()), extract_raw_text(parse_html(body.encode())), body.encode())


def test_blank_page_is_an_outage() -> None:
    for body in (
        "",
        "<html><head></head><body></body></html>",
        "<title>Birds of the coast</title><body><div></div></body>",
        "<br>\n<b>Fatal error</b>:  Uncaught Error: Call to undefined function x() in /var/www/index.php:12<br>",
    ):
        assert detect_with_body(body) is SoftErrorKind.OUTAGE
        assert detect(body) is None
    for body in (
        "<title>Birds</title><div id=root></div><script src=/app.js></script>",
        "<title>Birds</title><img src=/sanderling.jpg>",
        "<title>Birds</title><p>Closed.</p>",
        "<p>A fatal error: how the ship was lost</p>",
    ):
        assert detect_with_body(body) is None


def test_page_about_errors_is_no_soft_error() -> None:
    long = "<p>Maintenance keeps a bridge alive, and few people see it being done.</p>" * 80
    for body in (
        f"<title>Site maintenance: a handbook</title>{long}",
        "<title>Birds of the coast</title><p>This page is under maintenance by two wardens.</p>",
        "<title>How to log in</title><p>Press the button.</p>",
        "<title>Terms</title><form><input type=password></form><p>Welcome.</p>",
    ):
        assert detect(body) is None


def test_patterns_contain_their_hint() -> None:
    for group in ("not_found", "downtime", "error", "challenge", "login"):
        for hint, pattern in load_patterns(f"soft_404.{group}").items():
            assert hint == hint.lower()
            assert all(hint in alternative.replace("[ -]?", "") for alternative in pattern.split(r"\b|")), hint
