"""Manual pages are complete, and valid for man."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from sanderling.cli import main
from sanderling.cli.commands import COMMANDS


def test_every_command_has_a_page_that_mandoc_accepts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["man", "--write", str(tmp_path / "man1"), "--json"]) == 0
    pages = json.loads(capsys.readouterr().out)["pages"]
    assert set(pages) == {"sanderling.1", *(f"sanderling-{name}.1" for name in COMMANDS)}
    if shutil.which("mandoc") is None:
        pytest.skip("mandoc is not installed")
    files = sorted((tmp_path / "man1").iterdir())
    check = subprocess.run(
        ["mandoc", "-T", "lint", "-W", "warning", *files], capture_output=True, text=True, check=False
    )
    assert not [line for line in check.stdout.splitlines() if "missing date" not in line]


def test_page_has_options_and_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["man", "crawl"]) == 0
    page = capsys.readouterr().out
    assert page.startswith('.TH "SANDERLING\\-CRAWL" "1"')
    assert ".TP\n\\fB\\-\\-depth\\fR \\fIX\\fR\nmaximum number of links from a seed" in page
    assert "sanderling crawl \\-\\-seed\\-file seeds.txt" in page
    assert ".B 14\npage limit" in page


def test_overview_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["man"]) == 0
    page = capsys.readouterr().out
    for name in COMMANDS:
        escaped = name.replace("-", "\\-")
        assert f".BR sanderling\\-{escaped} (1)" in page


def test_unknown_command_and_folder_are_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["man", "crwl"]) == 4
    assert "did you mean" in capsys.readouterr().err
    (tmp_path / "file").touch()
    assert main(["man", "--write", str(tmp_path / "file")]) == 4
    assert "cannot write" in capsys.readouterr().err
