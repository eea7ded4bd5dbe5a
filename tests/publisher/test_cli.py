"""The stand-alone publisher as a process of its own, with nothing but the standard library."""

import json
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from tests.publisher.conftest import BROWSER, listed

import sanderling
from sanderling.cli import main

SOURCE = Path(sanderling.__file__).parent.parent
ALONE = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = [{str(SOURCE)!r}]; "]  # no installed packages
RUN = "from sanderling.publisher.cli import main; sys.exit(main())"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "www"
    folder.mkdir()
    for name in ("index.html", "a.html", "hidden.html"):
        (folder / name).write_text(f"<p>{name} <!--Vol#n-->1<!--/Vol#n-->")
    (folder / "robots.txt").write_text("User-agent: *\nDisallow: /hidden\n")
    return folder


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "access.log"
    view = f'1.2.3.4 - - [10/Oct/2023:13:55:36 +0000] "GET {{}} HTTP/1.1" 200 5 "-" "{BROWSER}"\n'
    file.write_text(view.format("/index.html") + view.format("/a.html") + view.format("/"))
    return file


def command(root: Path, *more: str) -> list[str]:
    start = [*ALONE[:-1], ALONE[-1] + RUN]
    return [*start, str(root), "--base", "https://example.org", "--state", str(root.parent / "state.db"), *more]


def test_it_publishes_with_the_standard_library_alone_until_told_to_stop(root: Path, log: Path) -> None:
    process = subprocess.Popen(
        command(root, "--access-log", str(log), "--listen", "127.0.0.1:0", "--side-files"),
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stderr
    assert process.stdout
    try:
        assert process.stderr.readline() == "add to robots.txt: Sitemap: https://example.org/sitemap.xml\n"
        address = process.stderr.readline().split()[2]
        with urllib.request.urlopen(f"{address}?LAST_VISIT=0") as reply:
            assert listed(reply.read()) == [("/", 1.0, "created"), ("/a.html", 0.5, "created")]
        assert json.loads((root / "a.tvi").read_text()) == {"n": "1"}
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
    assert process.returncode == 0


def test_once_looks_and_ends(root: Path, log: Path) -> None:
    found = subprocess.run(
        command(root, "--access-log", str(log), "--once", "--json"), capture_output=True, text=True, check=True
    )
    told = json.loads(found.stdout)
    assert told["scan"] == {"pages": 3, "new": 3, "changed": 0, "gone": 0}
    assert told["access_log"] == {"lines": 3, "malformed": 0}


def test_every_part_needs_only_the_standard_library() -> None:
    names = [p.stem for p in (SOURCE / "sanderling/publisher").glob("*.py") if p.stem != "__main__"]
    imports = "; ".join(f"import sanderling.publisher.{name}" for name in names if name != "__init__")
    subprocess.run([*ALONE[:-1], ALONE[-1] + imports], check=True)


def run(*words: str) -> int:
    return main(["publish", *words])


def test_the_command_of_sanderling_does_the_same(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state = str(root.parent / "s.db")
    assert run(str(root), "--base", "https://example.org", "--state", state, "--once") == 0
    assert capsys.readouterr().out.startswith("3 pages: 3 new, 0 changed, 0 gone")


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--base", "example.org"], "scheme and a host"),
        (["--base", "https://x", "--priority", "luck"], "invalid choice"),
        (["--base", "https://x", "--access-log", "/nowhere"], "there is no access log /nowhere"),
        (["--base", "https://x", "--half-life", "0"], "days above 0"),
        (["--base", "https://x", "--listen", "127.0.0.1:banana"], "no place to listen"),
        (["--base", "https://x", "--listen", "203.0.113.1:80"], "cannot listen on 203.0.113.1:80"),
        ([], "--base"),
    ],
)
def test_bad_arguments_get_one_sentence(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, more: list[str], sentence: str
) -> None:
    monkeypatch.chdir(root.parent)  # the default state file lies in the working folder
    assert run(str(root), *more) == 4
    assert sentence in capsys.readouterr().err


def test_the_state_may_not_lie_where_visitors_could_fetch_it(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(root), "--base", "https://x", "--state", str(root / "state.db"), "--once") == 4
    assert "lies in the document root" in capsys.readouterr().err


def test_a_document_root_that_is_away_for_a_while_is_looked_at_again(root: Path) -> None:
    process = subprocess.Popen(
        command(root, "--listen", "127.0.0.1:0", "--scan-every", "0.1"), stderr=subprocess.PIPE, text=True
    )
    assert process.stderr
    try:
        process.stderr.readline()
        address = process.stderr.readline().split()[2]
        away = root.rename(root.parent / "away")
        assert "is tried again" in process.stderr.readline()
        (away / "new.html").write_text("<p>new")
        away.rename(root)
        found: list[str] = []
        for _ in range(2000):  # each is an answer waited for
            with urllib.request.urlopen(f"{address}?LAST_VISIT=0") as reply:
                found = [path for path, _, _ in listed(reply.read())]
            if "/new.html" in found:
                break
        assert "/new.html" in found
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == 0
