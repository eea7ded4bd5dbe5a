"""Test commands on a collection on a read-only disk."""

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from tests.support.site import Page, Site

from sanderling.cli import main

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
NAV = "<nav><ul><li><a href='/'>home</a></li></ul></nav>"
HOME = f"<title>home</title>{NAV}" + "".join(f"<p><a href='/bird{n}'>bird {n}</a></p>" for n in range(6))


def bird(number: int, verb: str = "wades") -> Page:
    return Page(
        f"<title>bird {number}</title>{NAV}<main><article class=bird><h1>Bird {number}</h1><dl><dt>Legs<dd>2"
        f"<dt>Wings<dd>2</dl><p>The bird {number} {verb} along the shore.</p></article></main>".encode()
    )


@contextmanager
def read_only(folder: Path) -> Iterator[Path]:
    """Mount the folder read-only."""
    if subprocess.run(["mount", "--bind", str(folder), str(folder)], check=False, capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(folder)], check=True)
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A site that was crawled twice: where it was, and the collection."""
    folder = tmp_path_factory.mktemp("c") / "collection"
    line = ["-C", str(folder), "--delay", "0", "--allow-private", "--quiet", "--workers", "1"]
    with Site({"/": Page(HOME.encode()), **{f"/bird{n}": bird(n) for n in range(6)}}) as site:
        assert main(["crawl", site.root + "/", *line]) == 0
        site.pages["/bird3"] = bird(3, "flies")
        assert main(["crawl", site.root + "/", *line]) == 0
    assert main(["search", "shore", "-C", str(folder)]) == 0
    return site.root, folder


@pytest.fixture
def sealed(stored: tuple[str, Path], tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The same, read-only."""
    shutil.copytree(stored[1], tmp_path / "c")
    with read_only(tmp_path / "c") as folder:
        yield stored[0], folder


READING = [
    "status", "explain /bird3", "pages", "pages --skipped", "pages --near", "show /bird3", "history /bird3", "sitemap",
    "links /bird3", "similar /bird3 --stored", "similar /bird3 --stored --exact", "templates", "changes",
    "changes --words",
    "changes --since last", "changes --selector h1", "changes --feed atom", "diff /bird3", "url-rules", "search shore",
    "export", "check url /bird3", "aliases shore", "schedule", "settings", "refresh --dry-run --all",
]  # fmt: skip


@pytest.mark.parametrize("line", READING)
def test_reading_commands_work(sealed: tuple[str, Path], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    root, folder = sealed
    words = [root + word if word.startswith("/") else word for word in line.split()]
    assert main([*words, "-C", str(folder)]) == 0
    output = capsys.readouterr()
    assert output.out or line in ("url-rules", "aliases shore"), output.err


WRITING = [
    ("crawl /", "cannot write a collection"),
    ("refresh", "cannot write a collection"),
    ("delete /bird3 --yes", "cannot write a collection"),
    ("url-rules --use", "cannot write a collection"),
    ("aliases shore --expand", "cannot write these names"),
    ("changes --since last --alert json://127.0.0.1:9/", "nothing was sent"),
    ("serve --port 0", "not writable"),
]


@pytest.mark.parametrize(("line", "sentence"), WRITING)
def test_writing_commands_fail_with_a_sentence(
    sealed: tuple[str, Path], line: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    root, folder = sealed
    words = [root + word if word.startswith("/") else word for word in line.split()]
    assert main([*words, "-C", str(folder)]) == 4
    output = capsys.readouterr().err.splitlines()
    assert [line for line in output if sentence in line] == [output[-1]]


def test_old_template_index_is_updated_in_memory(
    stored: tuple[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root, folder = stored
    shutil.copytree(folder, tmp_path / "c")
    assert main(["templates", "-C", str(tmp_path / "c")]) == 0
    before = capsys.readouterr().out
    assert root in before
    with closing(sqlite3.connect(tmp_path / "c" / "indexes" / "structure.db")) as db, db:
        db.execute("DELETE FROM template_state")
        db.execute("DELETE FROM template_pages WHERE url > 3")
    with read_only(tmp_path / "c") as sealed:
        assert main(["templates", "-C", str(sealed)]) == 0
    assert capsys.readouterr().out == before


def test_search_in_an_old_index_warns_and_without_an_index_fails(
    stored: tuple[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("none", "old"):
        shutil.copytree(stored[1], tmp_path / name)
    shutil.rmtree(tmp_path / "none" / "index")
    with read_only(tmp_path / "none") as folder:
        assert main(["search", "shore", "-C", str(folder)]) == 4
    assert "has no index yet, and none can be made" in capsys.readouterr().err
    with closing(sqlite3.connect(tmp_path / "old" / "sanderling.db")) as db, db:
        db.execute("UPDATE visits SET id = id + 7 WHERE id = (SELECT max(id) FROM visits)")
    with read_only(tmp_path / "old") as folder:
        assert main(["search", "shore", "-C", str(folder)]) == 0
    output = capsys.readouterr()
    assert "/bird3" in output.out
    assert "the index is searched as it is, 7 visits old" in output.err


def test_collection_that_needs_migration_is_reported(
    stored: tuple[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(stored[1], tmp_path / "c")
    with closing(sqlite3.connect(tmp_path / "c" / "sanderling.db")) as db, db:
        db.execute("UPDATE schema_versions SET applied = applied - 1 WHERE component = 'frontier'")
    with read_only(tmp_path / "c") as folder:
        assert main(["status", "-C", str(folder)]) == 4
    assert "older version of this program and cannot be upgraded" in capsys.readouterr().err
