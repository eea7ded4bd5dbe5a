"""Child processes do not execute files of the working directory, whatever they are named."""

import ast
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import sanderling
from sanderling.api.reports.crawl_process import CrawlProcess
from sanderling.runtime.isolation import build_python_command, build_safe_environment
from sanderling.search.background_indexer import NICE_INCREMENT, start_indexer_process
from sanderling.workers.spawn import spawn_worker

SOURCES = Path(sanderling.__file__).parent
# Modules of the standard library and of dependencies; each is imported by some child process. The planted modules are
# incomplete, so a process that imports one fails, too.
NAMES = ("attr", "msgspec", "random", "signal", "struct", "tempfile", "socket", "selectors", "shutil", "logging")
PLANTED_MODULE = "import pathlib; pathlib.Path({!r}).write_text(__file__); raise SystemExit(3)\n"


@pytest.fixture
def executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a directory of modules that create the returned file when imported."""
    folder, marker = tmp_path / "here", tmp_path / "executed"
    folder.mkdir()
    for name in NAMES:
        (folder / f"{name}.py").write_text(PLANTED_MODULE.format(str(marker)))
    monkeypatch.chdir(folder)
    return marker


def test_unprotected_process_imports_from_the_working_directory(executed: Path) -> None:
    subprocess.run([sys.executable, "-m", "sanderling", "--version"], capture_output=True, check=False)
    assert executed.exists()


def test_python_command_does_not_import_from_the_working_directory(executed: Path) -> None:
    subprocess.run(build_python_command("-m", "sanderling", "--version"), capture_output=True, check=True)
    assert not executed.exists()


def test_safe_environment_isolates_grandchildren(executed: Path) -> None:
    command = [sys.executable, "-c", "import random, tempfile"]
    subprocess.run(command, env=build_safe_environment(), check=True)
    assert not executed.exists()


def test_fresh_worker_is_isolated(executed: Path) -> None:
    worker = spawn_worker("worker-1")
    worker.sock.close()  # it exits when the connection is closed
    worker.process.wait(60)
    assert not executed.exists()


def test_index_process_is_isolated(executed: Path, tmp_path: Path) -> None:
    before = dict(os.environ)
    process = start_indexer_process(tmp_path)
    while process.is_alive() and os.getpriority(os.PRIO_PROCESS, process.pid or 0) != NICE_INCREMENT:
        time.sleep(0.01)  # until our code runs
    process.terminate()
    process.join()
    assert not executed.exists()
    assert dict(os.environ) == before


def test_crawl_started_by_the_web_server_is_isolated(executed: Path, tmp_path: Path) -> None:
    crawl_process = CrawlProcess(tmp_path)
    crawl_process.start((), "crawl --no-such-option")
    assert crawl_process.child is not None
    crawl_process.child.wait(60)
    assert not executed.exists()
    assert b"no-such-option" in (tmp_path / "logs" / "serve-crawl.log").read_bytes()  # the command line was parsed


def test_no_module_starts_python_by_itself() -> None:
    """Only `isolation` starts Python; `errors` only prints a command."""
    for file in SOURCES.rglob("*.py"):
        if file.name in ("isolation.py", "errors.py"):
            continue
        tree = ast.parse(file.read_text())
        lines = [n.lineno for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr == "executable"]
        assert not lines, f"{file}:{lines}: use sanderling.runtime.isolation.build_python_command"
