"""Crawler traps."""

from calendar import timegm

import pytest

from sanderling.urls.traps import find_trap, strip_session_id

NOW = float(timegm((2026, 6, 15, 0, 0, 0)))
TOKEN = "0123456789abcdef0123456789abcdef"

TRAPS = [
    ("/a/menu/b/menu/c/menu/", "'menu' 3 times"),
    ("/news/news/news/", "'news' 3 times"),
    ("/a/tag/b/c/tag/d/tag/tag/e", "'tag' 4 times"),
    ("/1/1/1/1/1/x", "'1' 5 times"),
    ("/en/docs/en/docs/page", "'en/docs' repeated"),
    ("/x/a/b/long/a/b/long/", "'a/b/long' repeated"),
    ("/" + "/".join(f"s{n}" for n in range(21)), "21 path segments"),
    ("/event/1234/www.cnn.com/www.bbc.co.uk", "host names in the path"),
    ("/event/1234/www.example.org/about", "own name"),
    ("/shop/page;jsessionid=1A530637289A03B07199A44E8D531427", "session id in the path"),
    ("/(S(lit3py55t21z5v55vlm25s55))/orders.aspx", "session id in the path"),
    (f"/forum/view?f=1&PHPSESSID={TOKEN}", "session id in the query"),
    (f"/forum/view?sid={TOKEN}&t=2", "session id in the query"),
    ("/calendar?month=5&year=7749", "calendar at 7749-05"),
    ("/calendar?year=1731&month=12", "calendar at 1731-12"),
    ("/events?date=2029-01-05", "calendar at 2029-01"),
    ("/events?date=20290105", "calendar at 2029-01"),
    ("/events/2031/07/04/", "calendar at 2031-07"),
    ("/events/2031/7/4", "calendar at 2031-07"),
    ("/events/2031-07", "calendar at 2031-07"),
]


@pytest.mark.parametrize(("path", "note"), TRAPS)
def test_trap_is_detected(path: str, note: str) -> None:
    assert note in find_trap("https://www.example.org" + path, NOW)


LEGITIMATE = [  # from real sites: documentation, newspapers, shops, wikis, repositories, map tiles
    "/",
    "/docs/api/java.base/java/util/concurrent/locks/doc-files/Lock.html",
    "/docs/api/java.desktop/javax/swing/plaf/basic/class-use/BasicTreeUI.html",
    "/html/en/ref/contrib/gis/geoquerysets.html",
    "/gcc/libstdc++/manual/manual/using.html",
    "/libstdc++/html/user/manual/index.html",
    "/sanderling/sanderling/tree/main/src/sanderling",
    "/2026/06/15/06/",
    "/2011/11/11/11/story.html",
    "/news/1897/05/06/page-3.html",
    "/news/2028/05/",
    "/wiki/3000/1/About",
    "/wiki/7749",
    "/movies?year=7749",
    "/model/4000/13",
    "/product/9999-12345",
    "/tiles/0/0/0.png",
    "/pool/a/a/a/ab.deb",
    "/sites/www.example.org/files/report.pdf",
    "/review/www.cnn.com/",
    "/web/20200101000000/http://example.com/",
    "/search?q=session&sid=12",
    "/item?id=0123456789abcdef0123456789abcdef",
    "/a;b/c(d)/(e)/f",
    "/events?from=2026-01&to=2026-12",
    "/archive?from=19990101",
    "/list?page=2031&size=12",
]


@pytest.mark.parametrize("path", LEGITIMATE)
def test_legitimate_path_is_not_a_trap(path: str) -> None:
    assert find_trap("https://www.example.org" + path, NOW) == ""


@pytest.mark.parametrize(
    ("path", "stripped"),
    [
        ("/a;jsessionid=1A53/b?c=d", "/a/b?c=d"),
        ("/(S(lit3py55t21z5v55vlm25s55))/orders.aspx", "/orders.aspx"),
        (f"/v?PHPSESSID={TOKEN}", "/v"),
        (f"/v?a=1&sid={TOKEN}&b=2", "/v?a=1&b=2"),
        ("/v?a=1", "/v?a=1"),
        ("/v?", "/v?"),
        ("/v", "/v"),
    ],
)
def test_session_id_is_removed(path: str, stripped: str) -> None:
    assert strip_session_id("http://x.org" + path) == "http://x.org" + stripped


def test_long_urls_are_checked_quickly() -> None:
    long = "http://x.org/" + "/".join("ab" for _ in range(600))
    assert find_trap(long, NOW) == "600 path segments"
    assert find_trap("http://x.org/" + "a=" * 500 + "?" + "&" * 1000, NOW) == ""
