"""llms.txt as a list of pages."""

from pathlib import Path

from tests.support.site import Page, Site, html

from sanderling.cli import main
from sanderling.discovery.entry_types import SitemapKind
from sanderling.discovery.sitemap_parser import parse_sitemap

TEXT = b"""# Title

> Summary with [a link](https://a.test/summary)

## Docs

- [Guide](/guide.md): how to (see notes)
- [API](<https://a.test/api> "title")
- [Section](#docs), no link, [broken](
"""


def test_links_are_listed() -> None:
    report = parse_sitemap([TEXT])
    assert report.kind is SitemapKind.MARKDOWN
    assert [entry.loc for entry in report.entries] == ["https://a.test/summary", "/guide.md", "https://a.test/api"]


def test_other_texts_are_no_lists() -> None:
    assert parse_sitemap([b"# only a heading\n"]).kind is SitemapKind.UNKNOWN
    assert parse_sitemap([b"https://a.test/x\n"]).kind is SitemapKind.TEXT


def test_pages_are_found_where_a_site_has_no_sitemap(tmp_path: Path) -> None:
    markdown = Page(
        b"# Site\n- [Hidden](/hidden)\n- [Elsewhere](https://other.test/)\n", headers={"Content-Type": "text/plain"}
    )
    with Site({"/": html(), "/llms.txt": markdown, "/hidden": html()}) as site:
        assert main(["crawl", site.root, "--allow-private", "--delay", "0", "--quiet", "-C", str(tmp_path)]) == 0
        assert site.hits["/hidden"] == 1
    with Site({"/": html(), "/sitemap.xml": Page(b"<urlset/>"), "/llms.txt": markdown}) as site:
        assert main(["crawl", site.root, "--allow-private", "--delay", "0", "--quiet", "-C", str(tmp_path / "b")]) == 0
        assert site.hits["/llms.txt"] == 0
