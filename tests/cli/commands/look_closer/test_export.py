import csv
import errno
import io
from pathlib import Path

import pytest

from sanderling.cli import main
from sanderling.errors import build_write_error


def test_catalog_is_exported(crawled_site: tuple[str, str], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, folder = crawled_site
    main(["export", "-C", folder, "--format", "csv", "--quiet"])
    assert len(list(csv.DictReader(io.StringIO(capsys.readouterr().out)))) == 3
    main(["export", "-C", folder, "-o", str(tmp_path / "x.jsonl")])
    assert len((tmp_path / "x.jsonl").read_text().splitlines()) == 3
    parquet = pytest.importorskip("pyarrow.parquet")
    main(["export", "-C", folder, "--format", "parquet", "-o", str(tmp_path / "x.parquet")])
    assert parquet.read_table(tmp_path / "x.parquet").num_rows == 3
    for name in ("csv", "parquet"):
        assert main(["export", "-C", folder, "--format", name, "-o", str(tmp_path / "none" / "x")]) == 4
        assert "No such file or directory" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["export -o", "export --format parquet -o", "sitemap -o"])
def test_full_disk_while_writing_returns_3(
    crawled_site: tuple[str, str], command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    pytest.importorskip("pyarrow")
    monkeypatch.setattr("sanderling.export.row_files.os.replace", refuse)
    monkeypatch.setattr("sanderling.cli.commands.specialists.sitemap.Path.write_bytes", refuse)
    assert main([*command.split(), str(tmp_path / "out"), "-C", crawled_site[1]]) == 3
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize("command", ["export -o", "export --format parquet -o"])
def test_unwritable_target_is_reported(
    crawled_site: tuple[str, str], command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "taken.part").mkdir()
    for name in ("x" * 252, "taken"):
        assert main([*command.split(), str(tmp_path / name), "-C", crawled_site[1]]) == 4
        assert capsys.readouterr().err.count("cannot write") == 1


def test_write_error_without_errno_keeps_its_message() -> None:
    assert str(build_write_error("x", OSError("no such thing"))) == "cannot write x: no such thing"


def test_content_and_links_are_exported(crawled_site: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    root, folder = crawled_site
    main(["export", "-C", folder, "--text", "text", "--url", "*/a", "--quiet"])
    assert '"text": "page a' in capsys.readouterr().out
    main(["export", "-C", folder, "--what", "links", "--format", "csv", "--quiet"])
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert f"{root}/a" in {row["target"] for row in rows}
    assert main(["export", "-C", folder, "--what", "links", "--data"]) == 4
    assert "links have no page content" in capsys.readouterr().err
