from pathlib import Path

import pytest
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


def test_former_flag_is_answered_with_new_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["crawl", "http://127.0.0.1/", "-C", str(tmp_path), "--resources"]) == 4
    assert "--requisites" in capsys.readouterr().err
