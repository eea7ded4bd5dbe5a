"""Start a process per shard, restart dead and silent processes, and unite progress and summaries."""

import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from sanderling.crawl.request import CrawlRequest, CrawlSummary, count_workers
from sanderling.crawl.session import validate_request
from sanderling.crawl.sharding.shard_process import EXIT_LOST, RECONNECT_SECONDS, ShardTask, wait_for_database
from sanderling.crawl.stop import CrawlProgress, FinishReason
from sanderling.db.backend import is_postgres_url
from sanderling.errors import CollectionError, DatabaseUnavailable, DiskFull, SanderlingError, UsageError
from sanderling.runtime.isolation import build_python_command
from sanderling.storage.collection import has_collection
from sanderling.storage.shard_control import ShardRow
from sanderling.storage.shard_set import (
    CONTROL_URL_FILE,
    create_shard_set,
    get_shard_folder,
    has_complete_pass,
    is_shard_set,
    open_control,
)

POLL_SECONDS = 0.1
MAX_RESTARTS = 20  # of one shard without a page in between
MIN_LEASE_SECONDS = 5.0
COUNTERS = ("pages", "fetched", "not_modified", "duplicates", "failed", "skipped", "bytes", "evicted", "out_of_scope",
            "rendered")  # fmt: skip


class ShardSupervisor:
    """Runs the processes of a shard set."""

    def __init__(self, folder: Path, request: CrawlRequest, report: Callable[[str], None]) -> None:
        self.folder = folder
        self.request = request
        self.report = report
        self.control = open_control(folder)
        self.processes: dict[int, subprocess.Popen[bytes]] = {}
        self.tokens: dict[int, int] = {}
        self.restarts: dict[int, int] = {}
        self.ended: set[int] = set()
        self.shard_count = len(self.control.load_shards())
        self.visited: dict[int, int] = {}
        self.away_since: dict[int, float] = {}  # of shards whose database does not answer
        self.exit_code = 0
        self.may_open_session = has_complete_pass(folder)
        self.started_at = time.monotonic()
        self.is_stopping = False

    def run(self, on_tick: Callable[[CrawlProgress], None] | None = None) -> CrawlSummary:
        """Crawl until all shards are done."""
        try:
            self.control.begin_run(self.request.limits.limit)
            while not self._is_done():
                try:
                    self._supervise()
                    if on_tick:
                        on_tick(self._build_progress())
                except DatabaseUnavailable as error:
                    self._reconnect(error)
                time.sleep(POLL_SECONDS)
            self._kill_processes()
            try:
                return self._build_summary()
            except DatabaseUnavailable as error:
                self._reconnect(error)
                return self._build_summary()
        finally:
            self._kill_processes()
            self.control.close()

    def _is_done(self) -> bool:
        return len(self.ended) >= self.shard_count

    def _kill_processes(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()

    def _reconnect(self, error: DatabaseUnavailable) -> None:
        """Wait until the control database is available again. Raises DatabaseUnavailable after five minutes."""
        self.report(f"{error}; waiting for it, the shards go on by themselves when it is back")
        self.control.close()
        self.control = open_control(self.folder)
        self.report("the control database is available again")

    @property
    def shard_folders(self) -> list[Path]:
        return [get_shard_folder(self.folder, row.id) for row in self.control.load_shards()]

    def stop(self) -> None:
        """Stop every shard after its requests in flight; a second call stops at once."""
        self.is_stopping = True
        for process in self.processes.values():
            process.send_signal(signal.SIGINT)

    def _start(self, shard: int) -> None:
        """Start the process of a shard. Raises CollectionError if another process owns it."""
        now = time.time()
        self.control.release_shard(shard, self.tokens.get(shard, 0), now)
        token = self.control.acquire_shard(shard, f"supervised-{time.time_ns()}", now, self._lease_seconds)
        if not token:
            raise CollectionError(f"shard {shard} of {self.folder} is in use by another process; wait for it")
        self.tokens[shard] = token
        elapsed = time.monotonic() - self.started_at
        limits = self.request.limits
        if limits.time_limit:
            limits = replace(limits, time_limit=max(0.001, limits.time_limit - elapsed))
        task = ShardTask(replace(self.request, limits=limits), self._lease_seconds, self.may_open_session)
        command = build_python_command(
            "-m", "sanderling.crawl.sharding.shard_process", str(self.folder), str(shard), str(token)
        )
        process = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
        assert process.stdin is not None
        process.stdin.write(msgspec.msgpack.encode(task))
        process.stdin.close()
        self.processes[shard] = process

    @property
    def _lease_seconds(self) -> float:
        return max(MIN_LEASE_SECONDS, self.request.workers.lease)

    def _supervise(self) -> None:
        for row in self.control.load_shards():
            process = self.processes.get(row.id)
            if process is None:
                if row.id not in self.ended and self._has_database(row):
                    self._start(row.id)
                continue
            code = process.poll()
            if code is None and row.owner and row.token == self.tokens[row.id] and row.until < time.time():
                self.report(f"shard {row.id} was silent for {self._lease_seconds:g} s; it is started again")
                process.kill()
                code = process.wait()
            if code is not None:
                del self.processes[row.id]
                self._handle_exit(row, code)

    def _has_database(self, row: ShardRow) -> bool:
        """Return whether the database of a shard answers. Fails the crawl if it does not for five minutes."""
        now = time.monotonic()
        try:
            wait_for_database(row.database_url, 0.0)
        except DatabaseUnavailable as error:
            if row.id not in self.away_since:
                self.report(f"shard {row.id} waits: {error}")
            if now - self.away_since.setdefault(row.id, now) > RECONNECT_SECONDS:
                self.report(f"shard {row.id}: {error}")
                self.ended.add(row.id)
                self._fail(error.exit_code)
            return False
        if self.away_since.pop(row.id, None):
            self.report(f"the database of shard {row.id} is available again")
        return True

    def _handle_exit(self, row: ShardRow, code: int) -> None:
        """Decide whether a process that ended is started again."""
        if code == 0 or self.is_stopping:
            self.ended.add(row.id)
            return
        has_progressed = row.visited > self.visited.get(row.id, -1)
        self.visited[row.id] = row.visited
        self.restarts[row.id] = 0 if has_progressed else self.restarts.get(row.id, 0) + 1
        if code > 0 and code not in (1, EXIT_LOST):
            self.ended.add(row.id)
            self._fail(code)
        elif self.restarts[row.id] > MAX_RESTARTS:
            self.report(f"shard {row.id} ended {MAX_RESTARTS} times without a page")
            self.ended.add(row.id)
            self._fail(1)
        elif code != EXIT_LOST:
            self.report(f"the process of shard {row.id} ended with {code}; it is started again")

    def _fail(self, code: int) -> None:
        """End the whole crawl because of an error that a new process would meet again."""
        self.exit_code = code
        self.control.stop(FinishReason.DISK_FULL if code == DiskFull.exit_code else FinishReason.INTERRUPTED)
        self.stop()

    def _build_progress(self) -> CrawlProgress:
        rows = [row.progress for row in self.control.load_shards() if row.progress]
        parts = [msgspec.msgpack.decode(progress, type=CrawlProgress) for progress in rows]
        sums = {name: sum(getattr(part, name) for part in parts) for name in CrawlProgress.__struct_fields__}
        return CrawlProgress(**sums | {"seconds": time.monotonic() - self.started_at})

    def _build_summary(self) -> CrawlSummary:
        rows = [row.summary for row in self.control.load_shards() if row.summary]
        parts = [msgspec.msgpack.decode(summary, type=CrawlSummary) for summary in rows]
        if self.exit_code and self.exit_code != DiskFull.exit_code:
            raise SanderlingError(f"a shard of {self.folder} ended with an error; see its message")
        reason = self.control.get_state("finish_reason") or next(
            (part.finish_reason for part in parts if part.finish_reason != FinishReason.DONE), FinishReason.INTERRUPTED
        )
        seconds = time.monotonic() - self.started_at
        sums = {name: sum(getattr(part, name) for part in parts) for name in COUNTERS}
        visited = sums["fetched"] + sums["not_modified"]
        return CrawlSummary(
            finish_reason=reason, seconds=round(seconds, 3), pages_per_second=round(visited / seconds, 2), **sums
        )


def open_supervisor(folder: Path, request: CrawlRequest, report: Callable[[str], None]) -> ShardSupervisor:
    """Create the shard set if it is new. Raises UsageError for settings without support."""
    request = validate_request(request, is_new=not has_collection(folder))
    workers = request.workers
    unsupported = {"--archive": workers.archive, "--migrant": workers.migrant, "--pause-crawl": workers.pause_crawl,
                   "--keep": request.limits.keep}  # fmt: skip
    for flag, value in unsupported.items():
        if value:
            raise UsageError(f"{flag} does not work with shards yet; leave it out, or crawl without --shards")
    count_workers(workers)
    if workers.engine == "ray" and not workers.store and not (folder / CONTROL_URL_FILE).is_file():
        raise UsageError("--shards with --engine ray needs a database that all nodes reach: --store postgresql://...")
    if not is_shard_set(folder):
        if has_collection(folder):
            raise UsageError(f"{folder} has no shards; divide it first: sanderling shards split {workers.shards}")
        urls = workers.store.split()
        if not all(map(is_postgres_url, urls)):
            raise UsageError("--shards stores in SQLite or PostgreSQL; use --store postgresql://user@host/database")
        create_shard_set(folder, workers.shards, urls)
    if workers.engine == "ray":
        from sanderling.crawl.sharding.ray_supervisor import RayShardSupervisor

        return RayShardSupervisor(folder, request, report)
    return ShardSupervisor(folder, request, report)
