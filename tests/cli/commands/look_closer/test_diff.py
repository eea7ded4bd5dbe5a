from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from tests.support.output import read_json_lines
from tests.support.recrawled import NEW, OLD, RecrawledSite
from tests.support.site import Page, Site, html

from sanderling.changes import versions as stored_versions
from sanderling.cli import main


def text(body: str, mime: str = "text/plain; charset=utf-8") -> Page:
    return Page(body.encode(), headers={"Content-Type": mime})


def test_changed_words_are_shown(recrawled_site: RecrawledSite, capsys: pytest.CaptureFixture[str]) -> None:
    page = f"{recrawled_site.site.root}/words"
    assert recrawled_site("diff", page) == 0
    assert "twice a [-day-]{+night+} and leaves" in capsys.readouterr().out
    assert recrawled_site("diff", page, "2", "1") == 0
    assert "twice a [-night-]{+day+} and leaves" in capsys.readouterr().out
    assert recrawled_site("diff", page, "--json") == 0
    (found,) = read_json_lines(capsys)
    assert found["url"] == page
    assert recrawled_site("diff", page, "--html") == 0
    assert "<del>day</del>" in capsys.readouterr().out
    assert recrawled_site("diff", page, "--markdown") == 0
    assert "twice a ~~day~~**night** and leaves" in capsys.readouterr().out


def test_versions_are_listed_and_missing_ones_are_rejected(
    recrawled_site: RecrawledSite, capsys: pytest.CaptureFixture[str]
) -> None:
    page = f"{recrawled_site.site.root}/words"
    assert recrawled_site("diff", page, "--versions", "--json") == 0
    assert [one["version"] for one in read_json_lines(capsys)] == [1, 2]
    assert recrawled_site("diff", page, "1", "9") == 4
    assert "there are 1 to 2" in capsys.readouterr().err
    assert recrawled_site("diff", page, "1") == 4
    assert recrawled_site("diff", page, "2000-01-01", "2") == 4
    assert recrawled_site("diff", f"{recrawled_site.site.root}/t1") == 4
    assert "only one version" in capsys.readouterr().err


def test_version_is_found_by_its_listed_time(recrawled_site: RecrawledSite, capsys: pytest.CaptureFixture[str]) -> None:
    page = f"{recrawled_site.site.root}/words"
    assert recrawled_site("diff", page, "--versions", "--json") == 0
    times = [str(one["at"]) for one in read_json_lines(capsys)]
    for time, words in zip(times, ("day", "night"), strict=True):
        assert recrawled_site("show", page, "--text", "--at", time) == 0
        assert f"twice a {words}" in capsys.readouterr().out
    assert recrawled_site("diff", page, *times) == 0
    assert "twice a [-day-]{+night+}" in capsys.readouterr().out


def test_missing_url_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff"]) == 4
    assert "required: url (see" in capsys.readouterr().err


def test_markup_of_pages_is_escaped_in_html(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site({"/": html(text=OLD)}) as site:
        one = RecrawledSite(site, tmp_path / "c")
        one.crawl()
        site.pages["/"] = Page(f"<p>{OLD}</p><p>&lt;script&gt;x&lt;/script&gt; \x1b]0;y\x07</p>".encode())
        one.crawl()
        assert one("diff", site.root + "/", "--html") == 0
        assert "<script" not in capsys.readouterr().out
        assert one("diff", site.root + "/") == 0
        assert "\x1b" not in capsys.readouterr().out


def test_plain_text_is_compared_by_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = {"/list.txt": "one\ntwo\nthree 5 EUR\n", "/rows.csv": "a,b\n1,2\n", "/data": '{"price": 5, "at": "10:30"}'}
    pages = {path: text(body, "application/json" if path == "/data" else "text/plain") for path, body in rows.items()}
    packed = Page(b"\0\1", headers={"Content-Type": "application/octet-stream"})
    with Site({"/": html(*pages, "/packed", text="the root"), "/packed": packed, **pages}) as site:
        one = RecrawledSite(site, tmp_path / "c")
        one.crawl()
        site.pages["/list.txt"] = text("one\ntwo\nthree 6 EUR\n")
        site.pages["/rows.csv"] = text("a,b\r\n1,2\r\n")
        site.pages["/data"] = text('{"price":6,"at":"10:30"}', "application/json")
        site.pages["/packed"] = Page(b"\0\2", headers=packed.headers)
        one.crawl()
        capsys.readouterr()
        assert one("changes", "--json") == 0
        found = {str(change["url"]).removeprefix(site.root): change["counts"] for change in read_json_lines(capsys)}
        assert found == {"/list.txt": {"changed": 1}, "/data": {"changed": 1}, "/packed": {}}
        for path, shown in (
            ("/list.txt", "three [-5-]{+6+} EUR"),
            ("/data", '"price": [-5-]{+6+}'),
            ("/packed", "2 bytes"),
        ):
            assert one("diff", site.root + path) == 0
            assert shown in capsys.readouterr().out


def test_document_with_noindex_is_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def letter(words: str) -> Page:
        with ZipFile(out := BytesIO(), "w") as file:
            file.writestr("word/document.xml", f"<w:p><w:t>{words}</w:t></w:p>")
        kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
        return Page(out.getvalue(), headers={"Content-Type": kind, "X-Robots-Tag": "noindex"})

    with Site({"/": html("/letter.docx"), "/letter.docx": letter(OLD)}) as site:
        one = RecrawledSite(site, tmp_path / "c")
        one.crawl()
        site.pages["/letter.docx"] = letter(NEW)
        one.crawl()
        capsys.readouterr()
        assert one("diff", site.root + "/letter.docx") == 0
        assert "twice a [-day-]{+night+} and" in capsys.readouterr().out


def test_text_too_long_to_compare_is_a_change(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_versions, "MAX_TEXT", 100)
    with Site({"/": html("/log", text="the root"), "/log": text("line\n" * 50 + "old")}) as site:
        one = RecrawledSite(site, tmp_path / "c")
        one.crawl()
        site.pages["/log"] = text("line\n" * 50 + "new")
        one.crawl()
        capsys.readouterr()
        assert one("changes", "--json") == 0
        assert [change["kinds"] for change in read_json_lines(capsys)] == [["content"]]
