"""robots.txt rules, delays, sitemaps and expiry."""

import pytest

from sanderling.fetch.robots import (
    MAX_BODY_BYTES,
    MAX_CRAWL_DELAY,
    MAX_SITEMAPS,
    RobotsRules,
    build_robots_rules,
    compute_robots_expiry,
    find_deciding_line,
)
from sanderling.models import Host, RobotsTxt

PAGE = "http://x.org/page"
DISALLOW_ALL = "Disallow: /\n"
DISALLOW_EVERYONE = f"User-agent: *\n{DISALLOW_ALL}"


def _rules(body: bytes, status: int = 200) -> RobotsRules:
    return build_robots_rules(RobotsTxt(Host("http://x.org"), status, body, 0.0, 0.0), "sanderling")


@pytest.mark.parametrize(
    ("status", "allowed"),
    [
        *((200, False), (204, False), (301, True), (401, True), (403, True), (404, True), (410, True)),
        *((0, False), (429, False), (500, False), (503, False), (599, False)),
    ],
)
def test_status_takes_precedence_over_body(status: int, allowed: bool) -> None:
    assert _rules(b"User-agent: *\nDisallow: /", status).is_allowed(PAGE) is allowed


def test_server_error_disallows_everything() -> None:
    assert not _rules(b"User-agent: *\nAllow: /", 503).is_allowed(PAGE)


def test_empty_file_allows_everything() -> None:
    assert _rules(b"").is_allowed(PAGE)
    assert _rules(b"").get_crawl_delay() is None


def test_own_group_takes_precedence() -> None:
    rules = _rules(b"User-agent: *\nDisallow: /\n\nUser-agent: SANDERLING/0.1\nDisallow: /private")
    assert rules.is_allowed(PAGE)
    assert not rules.is_allowed("http://x.org/private/a")


@pytest.mark.parametrize("agent", ["sand", "sanderlings", "my-sanderling", "ling", "s"])
def test_partial_agent_name_does_not_match(agent: str) -> None:
    assert _rules(f"User-agent: {agent}\nDisallow: /".encode()).is_allowed(PAGE)


@pytest.mark.parametrize("agent", ["*", "* everybody", "heron, *", "heron,Sanderling/2, knot", "SANDERLING (any)"])
def test_matching_user_agent_lines(agent: str) -> None:
    assert not _rules(f"User-agent: {agent}\nDisallow: /".encode()).is_allowed(PAGE)


@pytest.mark.parametrize("agent", ["heron, knot", "*heron", "heron sanderling", ", ,", ""])
def test_other_user_agent_lines_do_not_match(agent: str) -> None:
    assert _rules(f"User-agent: {agent}\nDisallow: /".encode()).is_allowed(PAGE)


def test_robots_txt_is_always_allowed() -> None:
    assert _rules(b"User-agent: *\nDisallow: /").is_allowed("http://x.org/robots.txt")


@pytest.mark.parametrize(
    ("record", "seconds"),
    [
        ("Crawl-delay: 7", 7.0),
        ("Crawl-delay: 0.5", 0.5),
        ("Crawl-delay: 100000", MAX_CRAWL_DELAY),
        ("Crawl-delay: -1", None),
        ("Crawl-delay: nan", None),
        ("Crawl-delay: inf", None),
        ("Request-rate: 2/10s", 5.0),
        ("Request-rate: 1/7d", MAX_CRAWL_DELAY),
        ("Crawl-delay: 3\nRequest-rate: 1/2s", 3.0),
    ],
)
def test_crawl_delay_is_capped(record: str, seconds: float | None) -> None:
    assert _rules(f"User-agent: *\n{record}".encode()).get_crawl_delay() == seconds


@pytest.mark.parametrize("record", ["Crawl-delay: 5", "Request-rate: 1/5s", "Host: x.org", "Sitemap: /map.xml", "# 5"])
@pytest.mark.parametrize(("first", "second"), [("*", "heron"), ("heron", "*"), ("sanderling", "heron")])
def test_other_records_between_agents_do_not_end_the_group(record: str, first: str, second: str) -> None:
    rules = _rules(f"User-agent: {first}\n{record}\nUser-agent: {second}\nDisallow: /".encode())
    assert not rules.is_allowed(PAGE)


@pytest.mark.parametrize(("first", "second", "delay"), [("*", "heron", 5.0), ("heron", "*", None)])
def test_delay_between_agents_is_for_those_named_before(first: str, second: str, delay: float | None) -> None:
    rules = _rules(f"User-agent: {first}\nCrawl-delay: 5\nUser-agent: {second}\nDisallow: /a".encode())
    assert rules.get_crawl_delay() == delay


def test_rule_ends_the_agents_of_a_group() -> None:
    body = b"User-agent: *\nDisallow: /x\nCrawl-delay: 5\nUser-agent: heron\nDisallow: /"
    assert (_rules(body).is_allowed(PAGE), _rules(body).get_crawl_delay()) == (True, 5.0)


def test_sitemap_urls() -> None:
    body = (
        b"Sitemap: /map.xml\nsitemap: http://X.org/map.xml\nSitemap: ftp://x/\nSitemap: https://y.org/a%2fb#c\nSitemap:"
    )
    assert _rules(body).sitemaps == ("http://x.org/map.xml", "https://y.org/a%2fb")


def test_sitemaps_are_limited() -> None:
    body = b"".join(b"Sitemap: /%d\n" % n for n in range(2 * MAX_SITEMAPS))
    assert len(_rules(body).sitemaps) == MAX_SITEMAPS


def test_large_file_is_truncated_at_a_line_end() -> None:
    padding = b"#" * (MAX_BODY_BYTES - 60) + b"\n"
    body = b"User-agent: *\n" + padding + b"Disallow: /page\nAllow: /" + b"x" * 100
    assert len(body) > MAX_BODY_BYTES
    assert not _rules(body).is_allowed(PAGE)
    assert _rules(b"User-agent: *\n" + b"#" * MAX_BODY_BYTES + b"\nDisallow: /page").is_allowed(PAGE)


def test_html_without_rules_allows_everything() -> None:
    assert _rules(b"<!DOCTYPE html><html><body>\n<p>Allow us\n<p>Not found</body></html>").is_allowed(PAGE)


def test_rules_inside_html_apply() -> None:
    assert not _rules(b"<html><body><pre>User-agent: *<br>Disallow: /page</pre></body></html>").is_allowed(PAGE)


@pytest.mark.parametrize(
    "body",
    [
        b"\xff\xfe" + "User-agent: *\r\nDisallow: /page".encode("utf-16-le"),
        b"\xef\xbb\xbfUser-agent: *\rDisallow: /page\r",
        b"User-agent: *\n\x80\x81\xff\n\0Disallow: /page\0",
        b"user agent *\ndisallow /page",
    ],
)
def test_unusual_encodings_are_parsed(body: bytes) -> None:
    assert not _rules(body).is_allowed(PAGE)


HOSTILE = {
    "many agents times many rules": b"".join(b"user-agent: a%d\n" % n for n in range(16000)) + b"disallow:/a\n" * 20000,
    "many rules for us": b"user-agent: *\n" + b"".join(b"disallow: /a%d\n" % n for n in range(30000)),
    "stars without end": b"user-agent: *\n" + (b"disallow: /" + b"*a" * 2000 + b"b\n") * 120,
    "one line": b"user-agent: *\ndisallow: /" + b"*a" * 5_000_000,
    "blanks": b"user-agent: *\n" + b" " * 250_000 + b"\nuser" + b" " * 250_000,
    "noise": bytes(range(256)) * 2000,
    "tags": b"<html>" + b"<" * 500_000,
    "line ends": b"\r\n" * 250_000,
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_hostile_file_is_parsed_in_bounded_time(body: bytes) -> None:
    rules = _rules(body)
    assert rules.is_allowed("http://x.org/" + "a" * 2000) in (True, False)
    assert rules.is_allowed("http://x.org/zebra")


@pytest.mark.parametrize(
    ("status", "headers", "seconds"),
    [
        (200, {}, 86400),
        (404, {}, 86400),
        (200, {"Cache-Control": "public, max-age=600"}, 600),
        (200, {"cache-control": "max-age=1"}, 60),
        (200, {"cache-control": "max-age=99999999"}, 86400),
        (200, {"cache-control": "s-maxage=5"}, 86400),
        (200, {"cache-control": "no-cache, no-store"}, 3600),
        (404, {"cache-control": "max-age=120"}, 120),
        (503, {"cache-control": "max-age=86400"}, 600),
        (429, {}, 600),
        (0, {}, 600),
    ],
)
def test_expiry_follows_cache_control(status: int, headers: dict[str, str], seconds: int) -> None:
    assert compute_robots_expiry(status, headers, 1000.0) == 1000.0 + seconds


@pytest.mark.parametrize(
    ("body", "path", "line"),
    [
        ("User-agent: *\nDisallow: /a", "/a/b", "Disallow: /a (User-agent: *)"),
        ("User-agent: *\nDisallow: /a\nAllow: /a/b$", "/a/b", "Allow: /a/b$ (User-agent: *)"),
        ("User-agent: *\nDisallow: /a\nAllow: /a/b$", "/z", ""),
        (
            f"{DISALLOW_EVERYONE}User-agent: sanderling\nDisallow: /x*y",
            "/x/y",
            "Disallow: /x*y (User-agent: sanderling)",
        ),
        (
            f"User-agent: x\nUser-agent: *\nDisallow: /a\nUser-agent: x\n{DISALLOW_ALL}",
            "/a",
            "Disallow: /a (User-agent: *)",
        ),
        ("User-agent: *\nDisallow:", "/a", ""),
        ("", "/a", ""),
    ],
)
def test_deciding_line(body: str, path: str, line: str) -> None:
    robots = RobotsTxt(Host("http://x.org"), 200, body.encode(), 0.0, 0.0)
    assert find_deciding_line(robots, "sanderling", "http://x.org" + path) == line
