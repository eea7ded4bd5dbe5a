"""With cookies, a site sees one visitor, however many migrants there are."""

from pathlib import Path

from tests.web import Site, tree

from sanderling.session import Request, crawl
from sanderling.settings import Fetching, Politeness, Scope, Workers


def test_a_host_gives_its_cookie_once_and_gets_it_with_every_later_request(tmp_path: Path) -> None:
    pages = tree(60)
    pages["/"].headers["Set-Cookie"] = "visitor=one"
    with Site(pages) as site:
        request = Request(
            (site.root + "/",), scope=Scope(sitemaps=False), politeness=Politeness(delay=0),
            fetching=Fetching(allow_private=True, cookies=True), workers=Workers(migrants=3),
        )  # fmt: skip
        assert crawl(tmp_path, request).pages == 60
        sent = [headers.get("cookie") for path, headers in site.requests if path not in ("/", "/robots.txt")]
        assert sent == ["visitor=one"] * 59
