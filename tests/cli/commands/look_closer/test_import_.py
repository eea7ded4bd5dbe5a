import json
from pathlib import Path

import pytest

from sanderling.cli import main


def test_import_prints_what_became_of_the_records(
    crawled_site: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, folder = crawled_site
    files = [str(path) for path in (Path(folder) / "archive").glob("*.warc.gz")]
    command = ["import", *files, "-C", str(tmp_path / "c"), "--no-index"]
    assert main(command) == 0
    assert "pages stored  2" in capsys.readouterr().out
    assert main([*command, "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["known_files"], summary["records"], summary["pages"]) == (1, 0, 2)


def test_unusable_files_are_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    for name in ("none.warc.gz", "notes.txt"):
        assert main(["import", str(tmp_path / name), "-C", str(tmp_path / "c")]) == 4
        assert name in capsys.readouterr().err


def test_file_without_a_usable_record_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.warc.gz").write_bytes(b"\x1f\x8b\x08 no gzip data")
    assert main(["import", str(tmp_path / "x.warc.gz"), "-C", str(tmp_path / "c"), "--no-index"]) == 9
    assert "rejected: x.warc.gz at 0" in capsys.readouterr().err
