"""A site crawled twice, with changed pages."""

from collections.abc import Iterator

import pytest
from tests.support.recrawled import NEW, OLD, RecrawledSite
from tests.support.site import Site, html


@pytest.fixture(scope="module")
def recrawled_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecrawledSite]:
    """Crawl a site twice: one page changed, the clock of another, and pages with two URLs each."""
    variants = {f"/t{n}{end}": html(text=f"{OLD} {n}") for n in range(12) for end in ("", "?ref=home")}
    pages = {
        "/": html("/words", "/clock", *variants, text="the root"),
        "/words": html(text=OLD),
        "/clock": html(text="Rendered at 10:31:07"),
        **variants,
    }
    with Site(pages) as site:
        one = RecrawledSite(site, tmp_path_factory.mktemp("changes") / "c")
        one.crawl()
        site.pages["/words"] = html(text=NEW)
        site.pages["/clock"] = html(text="Rendered at 23:02:55")
        one.crawl()
        yield one
