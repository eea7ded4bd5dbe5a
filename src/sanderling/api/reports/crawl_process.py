"""Start and stop crawls, which run as separate processes."""

import fcntl
import os
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Iterable, Iterator, Sized
from pathlib import Path

from sanderling.api.reports.view_models import WorkerRow
from sanderling.errors import CollectionError
from sanderling.runtime.isolation import build_python_command
from sanderling.workers.control import ControlMessage, is_crawl_running, send_command

CONTROL_TIMEOUT_SECONDS = 3.0
WORKERS_CACHE_SECONDS = 2.0
RENAMED_FLAGS = {"--watch": "--follow", "--park": "--pause-crawl"}  # in commands that earlier versions recorded
RUN_MAIN_CODE = "import sys; from sanderling.cli import main; sys.exit(main())"


class CrawlProcess:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.child: subprocess.Popen[bytes] | None = None
        self.lock = threading.Lock()
        self.workers_lock = threading.Lock()
        self.cached_workers: tuple[float, list[WorkerRow]] = (-1e9, [])

    def find_crawl_pid(self) -> int:
        """Return the pid of the crawl; 0: not running, -1: unknown."""
        try:
            lock = os.open(self.folder / "lock", os.O_RDWR)
        except OSError:
            return 0
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            pid = os.read(lock, 32).strip()
            return int(pid) if pid.isdigit() else -1
        finally:
            os.close(lock)
        return 0

    def is_running(self) -> bool:
        return self.find_crawl_pid() != 0

    def send_command(self, command: ControlMessage) -> ControlMessage:
        """Send a command to the crawl. Returns an empty answer on failure."""
        if not is_crawl_running(self.folder):
            return {}
        try:
            return send_command(self.folder, command, CONTROL_TIMEOUT_SECONDS)
        except CollectionError:
            return {}

    def list_workers(self) -> list[WorkerRow]:
        """Return workers with scheduling scores, cached."""
        with self.workers_lock:
            cached_at, rows = self.cached_workers
            if time.monotonic() - cached_at > WORKERS_CACHE_SECONDS:
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
        """Start or resume the crawl with its last settings."""
        with self.lock:
            if self.is_running():
                resumed = self.send_command({"do": "resume", "workers": "all"}).get("workers", [])
                return f"resumed {_format_count(resumed)}" if resumed else "a crawl is already running"
            command = build_python_command(
                "-c",
                RUN_MAIN_CODE,
                *build_crawl_arguments(last_command, self.folder),
                *(["--", *seeds] if seeds else []),
            )
            self._spawn(command)
            return "crawl started"

    def _spawn(self, command: list[str]) -> None:
        if self.child is not None:
            self.child.poll()
        log = self.folder / "logs"
        log.mkdir(exist_ok=True)
        with (log / "serve-crawl.log").open("ab") as out:
            self.child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out)

    def crawl_unmet_queries(self) -> bool:
        """Start a crawl for unmet queries, unless a crawl runs."""
        with self.lock:
            if self.is_running() or (self.child is not None and self.child.poll() is None):
                return False
            command = build_python_command(
                "-c", RUN_MAIN_CODE, "similar", "--briefs", "--quiet", "--no-index", "-C", str(self.folder)
            )
            self._spawn(command)
            return True

    def pause(self) -> str:
        """Pause all workers. Returns a message."""
        if not self.is_running():
            return "no crawl is running"
        paused = self.send_command({"do": "pause", "workers": "all"}).get("workers", [])
        return f"paused {_format_count(paused)}" if paused else "no worker could be paused"

    def stop(self) -> str:
        """Stop after the requests in flight. Returns a message."""
        pid = self.find_crawl_pid()
        if pid <= 0:
            return "no crawl is running"
        try:
            os.kill(pid, signal.SIGINT)
        except (ProcessLookupError, PermissionError):
            return f"cannot send a signal to the crawl (process {pid})"
        return "the crawl stops after the requests in flight"


def _format_count(workers: Sized) -> str:
    return f"{len(workers)} worker{'' if len(workers) == 1 else 's'}"


def build_crawl_arguments(last_command: str, folder: Path) -> list[str]:
    """Build the arguments of the last crawl, without --clean."""
    try:
        words = shlex.split(last_command)
    except ValueError:
        words = []
    if not words or words[0] not in ("crawl", "refresh"):
        words = ["crawl"]
    options = (RENAMED_FLAGS.get(word, word) for word in _filter_options(words[1:]))
    return [words[0], "-C", str(folder), "--quiet", *options]


def _filter_options(words: Iterable[str]) -> Iterator[str]:
    """Drop the collection in all forms (`-C X`, `-CX`, `--collection X`, `--collection=X`)."""
    rest = iter(words)
    for word in rest:
        if word == "--":
            yield from (word, *rest)
        elif word in ("-C", "--collection"):
            next(rest, "")
        elif not word.startswith(("-C", "--collection=")) and word not in ("--clean", "--yes", "--quiet", "--json"):
            yield word
