import os
import re
from pathlib import Path

import pytest
from tests.support.output import read_json_lines
from tests.support.site import Site, html

from sanderling.cli import main


def test_status_reports_pages_and_last_run(crawled_site: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    main(["status", "-C", crawled_site[1], "--json"])
    (state,) = read_json_lines(capsys)
    assert (state["pages"], state["complete"], state["skipped"], state["out_of_scope"]) == (2, True, {}, 1)
    main(["status", "-C", crawled_site[1]])
    seen = capsys.readouterr().out
    assert "2 pages" in seen
    assert re.search(r"last run  \d{4}-\d\d-\d\d \d\d:\d\d:\d\d: done", seen)
    assert max(len(line) for line in seen.splitlines()[1:]) <= 80


def test_missing_archive_file_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site({"/": html("/a"), "/a": html()}) as site:
        line = ["crawl", site.root + "/", "-C", str(tmp_path), "--delay", "0", "--allow-private", "--workers", "1"]
        assert main(line) == 0
        (file,) = (tmp_path / "archive").glob("*.gz")
        os.truncate(file, file.stat().st_size - 5)
        capsys.readouterr()
        assert main(line) == 0
    assert f"warning: {file.name} is shorter than its committed length" in capsys.readouterr().err
    assert f"{file.name} lacks" in (tmp_path / "logs" / "crawl.log").read_text()
