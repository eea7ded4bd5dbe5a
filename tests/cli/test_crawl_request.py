import io
from pathlib import Path

import pytest

from sanderling.cli import main
from sanderling.cli.crawl_request import read_seed_file, read_seeds


def test_seed_file_in_any_encoding_is_read_and_invalid_lines_are_reported(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "seeds.txt"
    file.write_bytes(b"\xef\xbb\xbfhttp://a.example/\r\n# no\r\n\r\nhttp://b.example/\r\n")
    assert read_seed_file(str(file)) == ["http://a.example/", "http://b.example/"]
    file.write_text("http://a.example/\nnot a url\n")
    assert main(["crawl", "--seed-file", str(file), "-C", str(tmp_path / "c")]) == 4
    assert "line 2" in capsys.readouterr().err


def test_further_columns_of_a_seed_file_are_ignored(tmp_path: Path) -> None:
    file = tmp_path / "seeds.txt"
    file.write_text(
        "http://a.example/#top  # the old one\nb.example\t# bare\n  # nothing\n\thttp://c.example/\tits title\n"
    )
    assert read_seed_file(str(file)) == ["http://a.example/#top", "b.example", "http://c.example/"]


def test_dash_reads_seeds_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"http://b.example/\nhttp://c.example/\n")))
    assert read_seeds(["http://a.example/", "-"], None) == tuple(f"http://{name}.example/" for name in "abc")
