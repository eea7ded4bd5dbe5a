"""A site that is crawled repeatedly into a collection."""

from pathlib import Path

from tests.support.site import Site

from sanderling.cli import main

OLD = "The tide comes in twice a day and leaves behind what it brought, and the birds know it well."
NEW = "The tide comes in twice a night and leaves behind what it brought, and the birds know it well."


class RecrawledSite:
    """A site recrawled_site into a collection, again and again."""

    def __init__(self, site: Site, folder: Path) -> None:
        self.site = site
        self.folder = folder

    def crawl(self) -> None:
        flags = ["--delay", "0", "--allow-private", "--quiet", "--workers", "1", "--no-sitemaps"]
        assert main(["crawl", self.site.root + "/", "-C", str(self.folder), *flags]) == 0

    def __call__(self, *argv: str) -> int:
        return main([*argv, "-C", str(self.folder)])
