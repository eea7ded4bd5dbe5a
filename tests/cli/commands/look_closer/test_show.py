"""Test `sanderling show`."""

import json
from pathlib import Path
from typing import cast

import pytest
from tests.support.output import read_json_lines
from tests.support.site import Page, Site, html

from sanderling.api.operations.page_inspection import read_page_text
from sanderling.cli import main
from sanderling.warc.records import RecordLocation
from sanderling.warc.warc_reader import StoredRecord


@pytest.mark.parametrize(
    ("mime", "body", "text"),
    [
        ("text/html", "<p>one<p>two", "one\ntwo"),
        ("text/plain; charset=windows-1252", "one\ntwo", "one\ntwo"),
        ("", "one\ntwo", "one\ntwo"),
        ("application/json", '{"one":[2]}', '{\n "one": [\n  2\n ]\n}'),
        ("application/atom+xml", "<feed/>", "<feed/>"),
        ("image/png", "\0", "[image/png, 1 bytes]"),
        ("application/json", "\0", "[application/json, 1 bytes]"),
        ("", "\0", "[no type, 1 bytes]"),
    ],
)
def test_textual_bodies_are_shown_as_text(mime: str, body: str, text: str) -> None:
    fields = (("Content-Type", mime),) if mime else ()
    record = StoredRecord("response", RecordLocation("x.warc.gz", 0, 1), (), 200, fields, body.encode())
    assert read_page_text(record) == text


def test_stored_page_is_shown(crawled_site: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    root, folder = crawled_site
    main(["show", f"{root}/a", "-C", folder, "--text"])
    assert "page a" in capsys.readouterr().out
    main(["show", f"{root}/a", "-C", folder, "--headers"])
    assert "Content-Type: text/html" in capsys.readouterr().out
    main(["show", f"{root}/a", "-C", folder, "--json"])
    assert read_json_lines(capsys)[0]["status"] == 200
    assert main(["show", f"{root}/unknown", "-C", folder]) == 4
    assert main(["show", "http://elsewhere.example/", "-C", folder]) == 4
    assert "out_of_scope" in capsys.readouterr().err


def test_page_that_was_not_rendered_has_no_rendered_version(
    crawled_site: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    url, folder = crawled_site
    assert main(["show", url, "--rendered", "-C", folder]) == 4
    assert "as it was sent" in capsys.readouterr().err


def test_page_confirmed_by_304_is_shown_as_received(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = Page("Caf\u00e9".encode("latin-1"), headers={"Content-Type": "text/plain; charset=iso-8859-1"}, etag=True)
    with Site({"/": words}) as site:
        line = [site.root + "/", "-C", str(tmp_path)]
        for _ in range(2):
            assert main(["crawl", *line, "--delay", "0", "--allow-private", "--workers", "1", "--quiet"]) == 0
        assert main(["show", *line, "--json"]) == 0
    (shown,) = read_json_lines(capsys)
    assert (shown["status"], shown["text"]) == (200, "Caf\u00e9")
    assert ["Content-Type", "text/plain; charset=iso-8859-1"] in cast(list[list[str]], shown["headers"])


def test_stored_page_is_found_without_its_scheme(
    crawled_site: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    root, folder = crawled_site
    assert main(["show", f"{root.removeprefix('http://')}/a", "--text", "-C", folder]) == 0
    assert "page a" in capsys.readouterr().out


def test_stored_redirect_shows_its_target(crawled_site: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    root, folder = crawled_site
    assert main(["show", f"{root}/old", "-C", folder]) == 0
    assert f"{root}/old leads to /a (status 302)" in capsys.readouterr().err


def test_page_that_was_never_stored_has_no_versions(
    crawled_site: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", "http://elsewhere.example/", "-C", crawled_site[1]]) == 4
    assert "no version of http://elsewhere.example/ is stored" in capsys.readouterr().err


def test_control_characters_are_removed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evil = "\x1b]0;mine\x07\x1b[31m\x9b"
    page = Page(f"<title>t{evil}</title><p>said{evil} <a href=/a>to{evil}</a>".encode())
    page.headers["X-Odd"] = "\x1b[31m"
    with Site({"/": page, "/a": html(text="page a")}) as site:
        main(["crawl", site.root, "--delay", "0", "--quiet", "--workers", "1", "--allow-private", "-C", str(tmp_path)])
        main(["check", "parse", site.root, "--allow-private"])
    for command in (["show", "--text"], ["show", "--headers"], ["links"], ["pages"]):
        main([command[0], *([] if command == ["pages"] else [site.root + "/"]), *command[1:], "-C", str(tmp_path)])
    said = capsys.readouterr().out
    assert all(word in said for word in ("said", "-> ", "X-Odd"))
    assert not set(said) & {"\x1b", "\x07", "\x9b"}


def test_time_before_the_first_visit_is_reported(
    crawled_site: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    site, folder = crawled_site
    assert main(["show", f"{site}/a", "--at", "1d", "-C", folder]) == 4
    assert "at that time: it was first seen at 20" in capsys.readouterr().err


def test_markdown_and_data_of_a_stored_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "High water and low water of the harbor for every day of the year. " * 4
    data = '<script type="application/ld+json">{"@type": "Product"}</script>'
    page = Page(f"<nav>Menu</nav><main><h1>Tides</h1><p>{text}</p><a href='/b'>next</a></main>{data}".encode())
    with Site({"/": page}) as site:
        folder = ["-C", str(tmp_path)]
        main(["crawl", site.root, "--delay", "0", "--allow-private", "--quiet", "--workers", "1", *folder])
        capsys.readouterr()
        assert main(["show", site.root, "--markdown", *folder]) == 0
        markdown = capsys.readouterr().out
        assert markdown.startswith("# Tides")
        assert f"[next]({site.root}/b)" in markdown
        assert "Menu" not in markdown
        main(["show", site.root, "--markdown", "--json", *folder])
        assert json.loads(capsys.readouterr().out)["markdown"] == markdown.rstrip("\n")
        main(["show", site.root, "--data", *folder])
        assert json.loads(capsys.readouterr().out)["data"] == {"json_ld": [{"@type": "Product"}]}
