"""The text of a stored page, as a person would read it."""

import json
from pathlib import Path

import pytest
from tests.support.site import Page, Site

from sanderling.cli import main
from sanderling.cli.commands.show import get_page_text
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
def test_what_has_words_is_shown_as_text(mime: str, body: str, text: str) -> None:
    fields = (("Content-Type", mime),) if mime else ()
    record = StoredRecord("response", RecordLocation("x.warc.gz", 0, 1), (), 200, fields, body.encode())
    assert get_page_text(record) == text


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
