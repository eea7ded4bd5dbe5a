import json
from pathlib import Path

import pytest
from tests.support.output import read_json_lines
from tests.support.site import Page, Site, html

from sanderling.cli import main


def test_stored_pages_are_listed(crawled_site: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    root, folder = crawled_site
    assert main(["pages", "-C", folder, "--json"]) == 0
    found = read_json_lines(capsys)
    assert {row["url"] for row in found} == {f"{root}/", f"{root}/a"}
    assert {"url", "status", "mime", "title", "depth", "first_seen", "last_visit", "digest", "bytes"} <= set(found[0])
    main(["pages", "-C", folder, "--json", "--status", "302"])
    assert [row["location"] for row in read_json_lines(capsys)] == [f"{root}/a"]
    main(["pages", "-C", folder, "--json", "--url", "*/a"])
    assert [row["title"] for row in read_json_lines(capsys)] == ["page a"]
    main(["pages", "-C", folder, "--first", "1"])
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_skipped_urls_are_listed_with_reasons(
    crawled_site: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    main(["pages", "-C", crawled_site[1], "--skipped", "--json"])
    assert [(row["url"], row["reason"]) for row in read_json_lines(capsys)] == [
        ("http://elsewhere.example/", "out_of_scope")
    ]


def test_reason_selects_skipped_urls_and_invalid_status_is_rejected(
    crawled_site: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    main(["pages", "--reason", "out_of_scope", "--json", "-C", crawled_site[1]])
    assert [row["url"] for row in read_json_lines(capsys)] == ["http://elsewhere.example/"]
    assert main(["pages", "--status", "2x", "-C", crawled_site[1]]) == 4
    assert "is not an HTTP status; use 404, 4xx or all" in capsys.readouterr().err


def test_sitemap_metadata_is_shown_by_all_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = "<lastmod>2026-11-01T10:00:00Z</lastmod><changefreq>hourly</changefreq><priority>0.9</priority>"
    with Site({"/": html("/a", text="root"), "/a": html(text="a")}) as site:
        site.pages["/sitemap.xml"] = Page(f"<urlset><url><loc>{site.root}/a</loc>{output}</url></urlset>".encode())
        main(["crawl", site.root, "-C", str(tmp_path), "--delay", "0", "--allow-private", "--workers", "1", "--quiet"])
        main(["check", "sitemap", site.root + "/sitemap.xml", "--allow-private", "--json", "-C", str(tmp_path)])
        (entry,) = json.loads(capsys.readouterr().out.splitlines()[-1])["first"]
        assert (entry["changefreq"], entry["priority"]) == ("hourly", "0.9")
    for command in (["pages", "--json"], ["export"]):
        main([*command, "-C", str(tmp_path)])
        root, page = map(json.loads, capsys.readouterr().out.splitlines())
        names = ("sitemap_lastmod", "sitemap_changefreq", "sitemap_priority")
        assert [page[name] for name in names] == ["2026-11-01T10:00:00.000000+00:00", "hourly", "0.9"]
        assert [root[name] for name in names] == ["", "", ""]
    main(["history", site.root + "/a", "-C", str(tmp_path), "--json"])
    assert json.loads(capsys.readouterr().out)["class"] == "hourly"
