"""A small crawled site for the tests of the commands."""

import pytest
from tests.support.site import Site, html, redirect

from sanderling.cli import main


@pytest.fixture(scope="session")
def crawled_site(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Crawl a small site. Returns its address and the collection."""
    folder = str(tmp_path_factory.mktemp("c") / "collection")
    pages = {
        "/": html("/a", "/old", "http://elsewhere.example/", text="the root"),
        "/a": html("/", text="page a"),
        "/old": redirect("/a"),
    }
    with Site(pages) as site:
        code = main(
            ["crawl", site.root + "/", "-C", folder, "--delay", "0", "--allow-private", "--quiet", "--workers", "1"]
        )
        assert code == 0
        return site.root, folder
