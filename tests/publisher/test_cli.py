"""Tests of the stand-alone publisher as a process with the standard library only."""

import json
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from tests.publisher.conftest import BROWSER, parse_listing

import sanderling
from sanderling.cli import main

SOURCE = Path(sanderling.__file__).parent.parent
ISOLATED_PYTHON = [
    sys.executable,
    "-I",
    "-S",
    "-c",
    f"import sys; sys.path[:0] = [{str(SOURCE)!r}]; ",
]  # no installed packages
RUN_MAIN = "from sanderling.publisher.cli import main; sys.exit(main())"


@pytest.fixture
def docroot(tmp_path: Path) -> Path:
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


def build_command(docroot: Path, *more: str) -> list[str]:
    start = [*ISOLATED_PYTHON[:-1], ISOLATED_PYTHON[-1] + RUN_MAIN]
    return [*start, str(docroot), "--base", "https://example.org", "--state", str(docroot.parent / "state.db"), *more]


def test_server_runs_with_the_standard_library_until_stopped(docroot: Path, log: Path) -> None:
    process = subprocess.Popen(
        build_command(docroot, "--access-log", str(log), "--listen", "127.0.0.1:0", "--side-files"),
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
            assert parse_listing(reply.read()) == [("/", 1.0, "created"), ("/a.html", 0.5, "created")]
        assert json.loads((docroot / "a.tvi").read_text()) == {"n": "1"}
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
    assert process.returncode == 0


def test_once_scans_and_exits(docroot: Path, log: Path) -> None:
    process = subprocess.run(
        build_command(docroot, "--access-log", str(log), "--once", "--json"), capture_output=True, text=True, check=True
    )
    result = json.loads(process.stdout)
    assert result["scan"] == {"pages": 3, "new": 3, "changed": 0, "gone": 0}
    assert result["access_log"] == {"lines": 3, "malformed": 0}


def test_every_module_needs_only_the_standard_library() -> None:
    names = [p.stem for p in (SOURCE / "sanderling/publisher").glob("*.py") if p.stem != "__main__"]
    imports = "; ".join(f"import sanderling.publisher.{name}" for name in names if name != "__init__")
    subprocess.run([*ISOLATED_PYTHON[:-1], ISOLATED_PYTHON[-1] + imports], check=True)


def run_publish(*words: str) -> int:
    return main(["publish", *words])


def test_publish_command_scans_once(docroot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state = str(docroot.parent / "s.db")
    assert run_publish(str(docroot), "--base", "https://example.org", "--state", state, "--once") == 0
    assert capsys.readouterr().out.startswith("3 pages: 3 new, 0 changed, 0 gone")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--base", "example.org"], "scheme and a host"),
        (["--base", "https://x", "--priority", "luck"], "invalid choice"),
        (["--base", "https://x", "--access-log", "/nowhere"], "access log not found: /nowhere"),
        (["--base", "https://x", "--half-life", "0"], "must be positive"),
        (["--base", "https://x", "--listen", "127.0.0.1:banana"], "not a valid --listen address"),
        (["--base", "https://x", "--listen", "203.0.113.1:80"], "cannot listen on 203.0.113.1:80"),
        ([], "--base"),
    ],
)
def test_invalid_arguments_are_reported(
    docroot: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(docroot.parent)  # the default state file is in the working directory
    assert run_publish(str(docroot), *arguments) == 4
    assert message in capsys.readouterr().err


def test_state_file_in_the_document_root_is_rejected(docroot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_publish(str(docroot), "--base", "https://x", "--state", str(docroot / "state.db"), "--once") == 4
    assert "is in the document root" in capsys.readouterr().err


def test_temporarily_missing_document_root_is_scanned_again(docroot: Path) -> None:
    process = subprocess.Popen(
        build_command(docroot, "--listen", "127.0.0.1:0", "--scan-every", "0.1"), stderr=subprocess.PIPE, text=True
    )
    assert process.stderr
    try:
        process.stderr.readline()
        address = process.stderr.readline().split()[2]
        moved = docroot.rename(docroot.parent / "away")
        assert "will be retried" in process.stderr.readline()
        (moved / "new.html").write_text("<p>new")
        moved.rename(docroot)
        found: list[str] = []
        for _ in range(2000):  # each request waits for its response
            with urllib.request.urlopen(f"{address}?LAST_VISIT=0") as reply:
                found = [path for path, _, _ in parse_listing(reply.read())]
            if "/new.html" in found:
                break
        assert "/new.html" in found
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == 0
