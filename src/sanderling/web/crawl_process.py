"""Starting and stopping a crawl from the app: the crawl stays a process of its own, with its own command line."""

import fcntl
import os
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from sanderling.errors import CollectionError
from sanderling.runtime.isolation import build_python_command
from sanderling.web.view_models import WorkerRow
from sanderling.workers.control import ControlMessage, is_crawl_running, send_command

CONTROL_TIMEOUT_SECONDS = 3.0
WORKERS_CACHE_SECONDS = 2.0
RUN_MAIN_CODE = "import sys; from sanderling.cli import main; sys.exit(main())"


class CrawlProcess:
    """Knows whether somebody crawls into a folder, and can send for it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.child: subprocess.Popen[bytes] | None = None
        self.lock = threading.Lock()
        self.workers_lock = threading.Lock()
        self.cached_workers: tuple[float, list[WorkerRow]] = (-1e9, [])

    def find_crawl_pid(self) -> int:
        """The process that crawls into the folder; 0 if none does."""
        try:
            lock = os.open(self.folder / "lock", os.O_RDWR)
        except OSError:
            return 0
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            said = os.read(lock, 32).strip()
            return int(said) if said.isdigit() else -1
        finally:
            os.close(lock)
        return 0

    def is_running(self) -> bool:
        """Is anybody crawling?"""
        return self.find_crawl_pid() != 0

    def send_command(self, command: ControlMessage) -> ControlMessage:
        """Ask the running crawl something; an empty answer if it has none."""
        if not is_crawl_running(self.folder):
            return {}
        try:
            return send_command(self.folder, command, CONTROL_TIMEOUT_SECONDS)
        except CollectionError:
            return {}

    def list_workers(self) -> list[WorkerRow]:
        """The crawl's workers with the scores of the last choice among them."""
        with self.workers_lock:
            taken, rows = self.cached_workers
            if time.monotonic() - taken > WORKERS_CACHE_SECONDS:
                rows = self._query_workers() if self.is_running() else []
                self.cached_workers = (time.monotonic(), rows)
            return rows

    def _query_workers(self) -> list[WorkerRow]:
        scores = self.send_command({"do": "schedule"}).get("scores", {})
        return [
            WorkerRow(
                str(row["id"]), int(row.get("load", 0)), int(row.get("pages", 0)), float(row.get("cpu_share", 0)),
                int(row.get("memory_bytes", 0)), float(row.get("latency_seconds", 0)), float(scores.get(row["id"], 0)),
                str(row.get("state", "")), str(row.get("place", "")),
            )
            for row in self.send_command({"do": "list"}).get("workers", [])
        ]  # fmt: skip

    def start(self, seeds: tuple[str, ...], last_command: str = "") -> str:
        """Begin, or go on as the last command did; says what happened."""
        with self.lock:
            if self.is_running():
                woken = self.send_command({"do": "resume", "workers": "all"}).get("workers", [])
                return f"{len(woken)} migrants go on" if woken else "a crawl is running already"
            command = build_python_command(
                "-c",
                RUN_MAIN_CODE,
                *build_crawl_arguments(last_command, self.folder),
                *(["--", *seeds] if seeds else []),
            )
            self._spawn(command)
            return "the crawl was started"

    def _spawn(self, command: list[str]) -> None:
        if self.child is not None:
            self.child.poll()
        log = self.folder / "logs"
        log.mkdir(exist_ok=True)
        with (log / "serve-crawl.log").open("ab") as out:
            self.child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out)

    def crawl_unmet_queries(self) -> bool:
        """Send specialised migrants for what users did not find, unless a crawl runs: that one takes it itself."""
        with self.lock:
            if self.is_running() or (self.child is not None and self.child.poll() is None):
                return False
            command = build_python_command(
                "-c", RUN_MAIN_CODE, "like", "--briefs", "--quiet", "--no-index", "-C", str(self.folder)
            )
            self._spawn(command)
            return True

    def pause(self) -> str:
        """Let all migrants rest; says what happened."""
        if not self.is_running():
            return "no crawl is running"
        resting = self.send_command({"do": "pause", "workers": "all"}).get("workers", [])
        return f"{len(resting)} migrants rest" if resting else "nobody could be paused"

    def stop(self) -> str:
        """Ask the crawl to finish what is in flight; says what happened."""
        holder = self.find_crawl_pid()
        if holder <= 0:
            return "no crawl is running"
        try:
            os.kill(holder, signal.SIGINT)
        except (ProcessLookupError, PermissionError):
            return "the crawl cannot be reached from here"
        return "the crawl finishes what is in flight and stops"


def build_crawl_arguments(last_command: str, folder: Path) -> list[str]:
    """The arguments of the last crawl once more: its settings, its seeds, never its --clean."""
    try:
        words = shlex.split(last_command)
    except ValueError:
        words = []
    if not words or words[0] not in ("crawl", "refresh"):
        words = ["crawl"]
    return [words[0], "-C", str(folder), "--quiet", *_filter_options(words[1:])]


def _filter_options(words: Iterable[str]) -> Iterator[str]:
    """Leave out the collection, however it was written (`-C X`, `-CX`, `--collection X`, `--collection=X`)."""
    rest = iter(words)
    for word in rest:
        if word == "--":
            yield from (word, *rest)
        elif word in ("-C", "--collection"):
            next(rest, "")
        elif not word.startswith(("-C", "--collection=")) and word not in ("--clean", "--yes", "--quiet", "--json"):
            yield word
