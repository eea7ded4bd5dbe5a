"""Crawl jobs: crawls, refreshes, and watch services that the HTTP API starts, one at a time, as processes.

A job outlives the server: its result is read from the output of its process, also by the next server.
"""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from sanderling.api.reports.crawl_process import RUN_MAIN_CODE, CrawlProcess
from sanderling.db.connection import apply_migrations, close_on_finalize, connect_private_sqlite
from sanderling.runtime.isolation import build_python_command
from sanderling.web.auth import DATABASE

MAX_JOBS = 1_000  # older ones are deleted
MAX_OUTPUT_BYTES = 1_000_000  # read from the end of the output of a process
MAX_ERROR_CHARS = 1_000
JSON_COLUMNS = ("urls", "settings", "summary")
MIGRATIONS = [
    """
    CREATE TABLE crawl_jobs (
        id INTEGER PRIMARY KEY, kind TEXT NOT NULL, urls TEXT NOT NULL, settings TEXT NOT NULL, token TEXT NOT NULL,
        started_at REAL NOT NULL, pid INTEGER NOT NULL, stopped_at REAL NOT NULL, ended_at REAL NOT NULL,
        exit_code INTEGER, summary TEXT NOT NULL, error TEXT NOT NULL
    )
    """
]


class JobKind(StrEnum):
    """What a job runs."""

    CRAWL = "crawl"
    REFRESH = "refresh"  # pages that are due
    REFRESH_ALL = "refresh_all"
    CHECK_WATCHES = "check_watches"  # once
    WATCH = "watch"  # the watch service, until stopped


class JobState(StrEnum):
    RUNNING = "running"
    STOPPING = "stopping"
    FINISHED = "finished"  # also at a limit, and after a stop: see finish_reason
    FAILED = "failed"


COMMANDS = {
    JobKind.CRAWL: ("crawl",),
    JobKind.REFRESH: ("refresh",),
    JobKind.REFRESH_ALL: ("refresh", "--all"),
    JobKind.CHECK_WATCHES: ("watch", "--once"),
    JobKind.WATCH: ("watch",),
}


class CrawlJob(Struct, frozen=True):
    """A job as stored. Times are in seconds; 0: not yet."""

    id: int
    kind: JobKind
    urls: tuple[str, ...]
    settings: dict[str, Any]
    token: str  # name of the token that started it
    started_at: float
    pid: int
    stopped_at: float = 0.0
    ended_at: float = 0.0
    exit_code: int | None = None  # None: running, or ended while no server was running
    summary: dict[str, Any] = {}
    error: str = ""

    @property
    def state(self) -> JobState:
        if not self.ended_at:
            return JobState.STOPPING if self.stopped_at else JobState.RUNNING
        return JobState.FINISHED if self.summary or not (self.exit_code or self.error) else JobState.FAILED


class JobConflict(Exception):
    """Another crawl is running in this collection."""


class CrawlJobs:
    """Starts, stops, and lists the jobs of a collection."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process = CrawlProcess(folder)
        self.db = connect_private_sqlite(folder / DATABASE)
        close_on_finalize(self, self.db)  # an application that was never started is not closed
        apply_migrations(self.db, {"crawl_jobs": MIGRATIONS})
        self.lock = threading.RLock()
        self.children: dict[int, subprocess.Popen[bytes]] = {}

    def start(
        self, kind: JobKind, urls: tuple[str, ...], settings: dict[str, Any], flags: list[str], token: str
    ) -> CrawlJob:
        """Start a process for a job. Raises JobConflict while another crawl runs."""
        with self.lock:
            if self.process.is_running() or any(self._is_alive(job) for job in self._load("WHERE ended_at = 0")):
                raise JobConflict("a crawl is running in this collection; stop it, or wait for its end")
            id_ = self._insert(kind, urls, settings, token)
            words = [*COMMANDS[kind], "-C", str(self.folder), "--json", *flags, *(["--", *urls] if urls else [])]
            command = build_python_command("-c", RUN_MAIN_CODE, *words)
            (self.folder / "logs").mkdir(exist_ok=True)
            with self._output(id_).open("wb") as output, self._errors(id_).open("wb") as errors:
                child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors)
            self.children[id_] = child
            self.db.execute("UPDATE crawl_jobs SET pid = ? WHERE id = ?", (child.pid, id_))
            threading.Thread(target=self._wait_for, args=(id_, child), name="crawl-job", daemon=True).start()
            return self._load("WHERE id = ?", id_)[0]

    def _insert(self, kind: JobKind, urls: tuple[str, ...], settings: dict[str, Any], token: str) -> int:
        row = self.db.execute(
            "INSERT INTO crawl_jobs"
            " (kind, urls, settings, token, started_at, pid, stopped_at, ended_at, summary, error)"
            " VALUES (?, ?, ?, ?, ?, 0, 0, 0, '{}', '') RETURNING id",
            (kind, _encode(urls), _encode(settings), token, time.time()),
        ).fetchone()
        for old in self._load("WHERE id <= ? AND ended_at > 0", int(row[0]) - MAX_JOBS):
            self.db.execute("DELETE FROM crawl_jobs WHERE id = ?", (old.id,))
            for file in (self._output(old.id), self._errors(old.id)):
                file.unlink(missing_ok=True)
        return int(row[0])

    def stop(self, id_: int) -> CrawlJob | None:
        """Ask a job to stop after the requests in flight. None: there is no such job."""
        with self.lock:
            job = self.find(id_)
            if job is None or job.ended_at:
                return job
            try:
                os.kill(job.pid, signal.SIGINT)
            except (ProcessLookupError, PermissionError):
                return self.find(id_)
            self.db.execute("UPDATE crawl_jobs SET stopped_at = ? WHERE id = ?", (time.time(), id_))
            return self._load("WHERE id = ?", id_)[0]

    def find(self, id_: int) -> CrawlJob | None:
        """Return a job. None if there is none."""
        with self.lock:
            found = self._load("WHERE id = ?", id_)
            return self._finish_if_ended(found[0]) if found else None

    def list_jobs(self, limit: int) -> list[CrawlJob]:
        """Return the last jobs, newest first."""
        with self.lock:
            return [self._finish_if_ended(job) for job in self._load("ORDER BY id DESC LIMIT ?", limit)]

    def close(self) -> None:
        """Close the database. Jobs go on."""
        with self.lock:
            self.db.close()

    def _wait_for(self, id_: int, child: subprocess.Popen[bytes]) -> None:
        child.wait()
        with self.lock:
            self.children.pop(id_, None)
            try:
                jobs = self._load("WHERE id = ?", id_)
            except Exception:  # noqa: BLE001 the server has closed the database; the next one reads the output
                return
            if jobs:
                self._finish(jobs[0], child.returncode)

    def _finish_if_ended(self, job: CrawlJob) -> CrawlJob:
        if job.ended_at or self._is_alive(job):
            return job
        child = self.children.get(job.id)
        return self._finish(job, child.poll() if child else None)

    def _finish(self, job: CrawlJob, exit_code: int | None) -> CrawlJob:
        """Store the result of a process that has ended."""
        summary = _parse_summary(_read_end(self._output(job.id)))
        error = ""
        if not summary:
            lines = _read_end(self._errors(job.id)).strip().splitlines()
            error = "\n".join(line.removeprefix("sanderling: ") for line in lines[-5:])[-MAX_ERROR_CHARS:]
            error = error or ("" if exit_code == 0 else "the process ended without a result")
        self.db.execute(
            "UPDATE crawl_jobs SET ended_at = ?, exit_code = ?, summary = ?, error = ? WHERE id = ?",
            (time.time(), exit_code, _encode(summary), error, job.id),
        )
        return self._load("WHERE id = ?", job.id)[0]

    def _is_alive(self, job: CrawlJob) -> bool:
        """Return whether the process of a job runs: our child, or that of a server before."""
        if job.ended_at or not job.pid:
            return False
        child = self.children.get(job.id)
        if child is not None:
            return child.poll() is None
        return self.process.find_crawl_pid() == job.pid or _is_crawl_process(job.pid)

    def _output(self, id_: int) -> Path:
        return self.folder / "logs" / f"crawl-job-{id_}.json"

    def _errors(self, id_: int) -> Path:
        return self.folder / "logs" / f"crawl-job-{id_}.log"

    def _load(self, where: str, *values: object) -> list[CrawlJob]:
        rows = self.db.execute(
            "SELECT id, kind, urls, settings, token, started_at, pid, stopped_at, ended_at, exit_code, summary, error"
            f" FROM crawl_jobs {where}",
            values,
        ).fetchall()
        return [_build_job(row) for row in rows]


def _build_job(row: Sequence[Any]) -> CrawlJob:
    names = CrawlJob.__struct_fields__
    decoded = {
        name: msgspec.json.decode(value) if name in JSON_COLUMNS else value
        for name, value in zip(names, row, strict=True)
    }
    return msgspec.convert(decoded, CrawlJob)


def _is_crawl_process(pid: int) -> bool:
    """Return whether a process runs one of our commands; on systems without /proc, the lock alone tells."""
    try:
        return RUN_MAIN_CODE.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def _encode(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _read_end(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            stream.seek(max(0, file.stat().st_size - MAX_OUTPUT_BYTES))
            return stream.read().decode("utf-8", "replace")
    except OSError:
        return ""


def _parse_summary(output: str) -> dict[str, Any]:
    """Return the last line with a finish reason: the summary that a command prints with --json."""
    for line in reversed(output.splitlines()):
        try:
            found = msgspec.json.decode(line)
        except msgspec.MsgspecError:
            continue
        if isinstance(found, dict) and "finish_reason" in found:
            return found
    return {}
