from pathlib import Path

import pytest
from tests.support.site import Page, Site

from sanderling.cli import main
from sanderling.discovery.sitemap_parser import parse_sitemap


def test_written_sitemap_can_be_parsed(
    crawled_site: tuple[str, str], capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    root, folder = crawled_site
    assert main(["sitemap", "-C", folder]) == 0
    report = parse_sitemap([capfdbinary.readouterr().out])
    assert {entry.loc for entry in report.entries} == {f"{root}/", f"{root}/a"}
    assert all(entry.lastmod for entry in report.entries)


def test_unchanged_page_has_the_last_modified_of_its_server(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    dated = {"Content-Type": "text/html", "Last-Modified": "Tue, 14 Nov 2023 22:13:20 GMT"}
    with Site({"/": Page(b"<p>old", headers=dated)}) as site:
        main(["crawl", site.root, "-C", str(tmp_path), "--delay", "0", "--allow-private", "--no-sitemaps"])
    capfdbinary.readouterr()
    assert main(["sitemap", "-C", str(tmp_path)]) == 0
    assert [entry.lastmod for entry in parse_sitemap([capfdbinary.readouterr().out]).entries] == [1_700_000_000.0]
