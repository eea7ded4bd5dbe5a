"""sanderling verify finds damage, names the file and the remedy, and repairs what can be repaired."""

import json
import os
from pathlib import Path

import pytest
from tests.support.site import Site, tree

from sanderling.cli import main
from sanderling.storage.collection import open_collection_read_only


def command(site: Site, folder: Path) -> list[str]:
    return ["crawl", site.root + "/", "-C", str(folder), "--delay", "0", "--allow-private", "--workers", "1"]


def damage(path: Path, at: int) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(os.urandom(64))


def last_record(folder: Path) -> int:
    """Return where the record of the page that was fetched last begins."""
    with open_collection_read_only(folder) as collection:
        sql = "SELECT max(v.start) FROM pages AS p JOIN visits AS v ON v.id = p.visit WHERE p.status = 200"
        return int(collection.db.execute(sql).fetchone()[0])


def faults(folder: Path, capsys: pytest.CaptureFixture[str], *flags: str) -> tuple[int, list[dict[str, object]]]:
    capsys.readouterr()
    code = main(["verify", "-C", str(folder), "--json", *flags])
    return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize("kind", ["flip", "cut", "delete"])
def test_damaged_archive_is_repaired_and_its_pages_are_fetched_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    with Site(tree(12, fan=12)) as site:
        assert main(command(site, tmp_path)) == 0
        assert faults(tmp_path, capsys) == (0, [])
        (warc,) = (tmp_path / "archive").glob("*.warc.gz")
        if kind == "flip":
            damage(warc, last_record(tmp_path) + 40)
        elif kind == "cut":
            os.truncate(warc, warc.stat().st_size // 2)
        else:
            warc.unlink()
        code, found = faults(tmp_path, capsys)
        assert (code, {fault["file"] for fault in found}) == (1, {warc.name})
        assert sum(int(str(fault["lost_pages"])) for fault in found) >= 1
        assert faults(tmp_path, capsys, "--repair")[0] == 0
        assert main(command(site, tmp_path)) == 0
        assert faults(tmp_path, capsys) == (0, [])
        assert main(["show", site.root + "/", "-C", str(tmp_path)]) == 0


def test_damaged_index_is_reported_with_its_repair(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site(tree(3, fan=3)) as site:
        assert main(command(site, tmp_path)) == 0
    (tmp_path / "index").mkdir(exist_ok=True)
    (tmp_path / "index" / "anchors.db").write_bytes(b"no database" * 1000)
    code, (fault,) = faults(tmp_path, capsys)
    assert (code, fault["file"]) == (1, "index/anchors.db")
    assert "rebuilt" in str(fault["remedy"])
    assert faults(tmp_path, capsys, "--repair")[0] == 0
    assert faults(tmp_path, capsys) == (0, [])


@pytest.mark.parametrize("damaged", ["index/v*/now/*.idx", "index/v*/now/*.store", "indexes/index.cdxj"])
def test_damaged_index_files_are_found_and_rebuilt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, damaged: str
) -> None:
    monkeypatch.setenv("SANDERLING_INDEX", "yes")
    with Site(tree(6, fan=6)) as site:
        assert main(command(site, tmp_path)) == 0
        path = next(tmp_path.glob(damaged))
        damage(path, path.stat().st_size // 3)
        code, (fault,) = faults(tmp_path, capsys)
        assert code == 1
        assert str(path.relative_to(tmp_path)).startswith(str(fault["file"]))
        assert faults(tmp_path, capsys, "--repair")[0] == 0
        assert main(command(site, tmp_path)) == 0
    assert faults(tmp_path, capsys) == (0, [])
    assert path.parent.exists()


def test_crawl_and_search_name_a_damaged_search_index(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDERLING_INDEX", "yes")
    with Site(tree(6, fan=6)) as site:
        assert main(command(site, tmp_path)) == 0
        for path in tmp_path.glob("index/v*/now/*.*"):
            if path.suffix in (".idx", ".term", ".pos", ".store"):
                content = bytearray(path.read_bytes())
                content[:-100] = bytes(255 - byte for byte in content[:-100])
                path.write_bytes(content)
        capsys.readouterr()
        assert main(command(site, tmp_path)) == 0
        assert f"the index in {tmp_path / 'index'} is damaged" in "".join(capsys.readouterr())
    assert main(["search", "page", "-C", str(tmp_path)]) == 4
    assert f"delete {tmp_path / 'index'}" in capsys.readouterr().err


def test_archive_without_its_database_is_damage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site(tree(3, fan=3)) as site:
        assert main(command(site, tmp_path)) == 0
    for path in tmp_path.glob("sanderling.db*"):
        path.unlink()
    (tmp_path / "sanderling.db").touch()
    code, (fault,) = faults(tmp_path, capsys)
    assert (code, fault["problem"]) == (1, "the database does not know this file")
    assert faults(tmp_path, capsys, "--repair")[0] == 1
