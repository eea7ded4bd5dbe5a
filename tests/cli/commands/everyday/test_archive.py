from pathlib import Path

import pytest
from tests.support.script_site import needs_browser, script_page
from tests.support.site import Page, Site

from sanderling.cli import main

FLAGS = ("--delay", "0", "--allow-private", "--workers", "1")


def test_archive_fetches_requisites_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site({"/": Page(b"<img src=/a.png>"), "/a.png": Page(b"png", headers={"Content-Type": "image/png"})}) as site:
        assert main(["archive", site.root, "-C", str(tmp_path / "a"), *FLAGS]) == 0
        assert site.hits["/a.png"] == 1
        assert "archive = crawl --requisites" in capsys.readouterr().err
        assert main(["archive", site.root, "-C", str(tmp_path / "b"), "--no-requisites", *FLAGS]) == 0
        assert site.hits["/a.png"] == 1


@needs_browser
def test_requisites_of_the_html_of_the_rendered_page_and_those_shown_for_a_while_are_fetched(tmp_path: Path) -> None:
    """Scripts replace pictures, as trees that fold do."""
    script = """
      new Image().src = "/open.png";
      document.querySelector("img").src = "/shown.png";
      navigator.sendBeacon("/beacon");
    """
    pictures = {
        f"/{name}.png": Page(b"png", headers={"Content-Type": "image/png"}) for name in ("first", "open", "shown")
    }
    with Site({"/": script_page(script, "<img src=/first.png>"), **pictures}) as site:
        assert main(["archive", site.root, "-C", str(tmp_path), "--render", "always", *FLAGS]) == 0
        assert [site.hits[path] for path in (*pictures, "/beacon")] == [1, 1, 1, 0]


def test_status_reports_missing_requisites(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = Page(b"<img src=/a.png><img src=/none.png><img src=/b.zip>")
    png, archive = Page(b"png", headers={"Content-Type": "image/png"}), Page(b"", headers={"Content-Type": "a/zip"})
    with Site({"/": page, "/a.png": png, "/b.zip": archive}) as site:
        assert main(["archive", site.root, "-C", str(tmp_path), *FLAGS, "--quiet"]) == 0
        assert main(["status", "-C", str(tmp_path)]) == 0
        text = capsys.readouterr().out
        assert "1 of 3 page requisites stored (33.3 %)" in text
        assert f"missing: {site.root}/none.png (gone)" in text
        assert f"missing: {site.root}/b.zip (media_type)" in text


def test_former_flag_is_answered_with_new_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["crawl", "http://127.0.0.1/", "-C", str(tmp_path), "--resources"]) == 4
    assert "--requisites" in capsys.readouterr().err
