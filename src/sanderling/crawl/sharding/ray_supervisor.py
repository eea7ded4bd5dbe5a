"""Watch a shard set whose coordinators are Ray actors: start the driver, and another one after the cluster was lost."""

import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

import msgspec
from msgspec.structs import replace

from sanderling.crawl.request import CrawlRequest, CrawlSummary
from sanderling.crawl.sharding.ray_shards import CONNECTED, FATAL
from sanderling.crawl.sharding.shard_process import RECONNECT_SECONDS, ShardTask
from sanderling.crawl.sharding.shard_supervisor import ShardSupervisor
from sanderling.crawl.stop import CrawlProgress, FinishReason
from sanderling.errors import ClusterUnavailable, SanderlingError
from sanderling.runtime.isolation import build_python_command, build_safe_environment

RETRY_SECONDS = 1.0
STOP_SECONDS = 60.0  # after this time, what has not stopped is killed
MAX_DETAIL_LENGTH = 200


class RayShardSupervisor(ShardSupervisor):
    """Runs a driver process that creates an actor per shard. Ray restarts the actors."""

    def __init__(self, folder: Path, request: CrawlRequest, report: Callable[[str], None]) -> None:
        super().__init__(folder.absolute(), request, report)
        self.driver: subprocess.Popen[bytes] | None = None
        self.errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - Ray prints a lot
        self.is_connected = False
        self.was_connected = False
        self.lost_at = 0.0  # 0: the cluster is available
        self.retry_at = 0.0
        self.stop_at = 0.0  # when the driver is killed; 0: the crawl is not stopping
        self.is_finished = False

    def run(self, on_tick: Callable[[CrawlProgress], None] | None = None) -> CrawlSummary:
        """Crawl until all shards are done. Raises ClusterUnavailable."""
        try:
            return super().run(on_tick)
        finally:
            self.errors.close()

    def stop(self) -> None:
        """Stop every shard after its requests in flight; a second call stops at once."""
        self.stop_at = time.monotonic() + (0 if self.is_stopping else STOP_SECONDS)
        self.is_stopping = True

    def _is_done(self) -> bool:
        return self.is_finished

    def _supervise(self) -> None:
        limit = self.request.limits.time_limit
        if limit and time.monotonic() - self.started_at >= limit:
            self.control.stop(FinishReason.TIME_LIMIT)
        if self.is_stopping:
            self.control.stop(FinishReason.INTERRUPTED)
        if self.driver is None:
            if self.is_stopping:
                self.is_finished = True
            elif time.monotonic() >= self.retry_at:
                self._start_driver()
            return
        code = self.driver.poll()
        if code is not None:
            self._handle_driver_exit(code)
        elif self.stop_at and time.monotonic() > self.stop_at:
            self._kill_processes()
            self.is_finished = True

    def _start_driver(self) -> None:
        limits = replace(self.request.limits, time_limit=0.0)
        task = ShardTask(replace(self.request, limits=limits), self._lease_seconds, self.may_open_session)
        workers = self.request.workers
        command = build_python_command(
            "-m", "sanderling.crawl.sharding.ray_shards", str(self.folder), workers.address or "local", *workers.place
        )
        self.is_connected = False
        self.errors.truncate(0)
        self.driver = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            cwd="/",  # Ray adds it to the import path of all actors
            env=build_safe_environment(),
            start_new_session=True,
        )
        assert self.driver.stdin is not None
        self.driver.stdin.write(msgspec.msgpack.encode(task))
        self.driver.stdin.close()
        threading.Thread(target=self._forward_messages, args=(self.driver.stdout,), daemon=True).start()

    def _forward_messages(self, output: IO[bytes]) -> None:
        with output:
            for line in output:
                message = line.decode(errors="replace").strip()
                if message != CONNECTED:
                    self.report(message)
                    continue
                self.is_connected = self.was_connected = True
                if self.lost_at:
                    self.report("the Ray cluster is available again; every shard resumes after its last commit")
                self.lost_at = 0.0

    def _handle_driver_exit(self, code: int) -> None:
        """Retry after the cluster was lost, for five minutes. Raises an error that a new driver would meet again."""
        self.driver = None
        if code == 0:
            self.is_finished = True
            return
        self.errors.seek(0)
        lines = self.errors.read().decode(errors="replace").strip().splitlines() or ["it ended"]
        detail, now = lines[-1][:MAX_DETAIL_LENGTH], time.monotonic()
        if code > FATAL:
            error = SanderlingError(detail)
            error.exit_code = code - FATAL
            raise error
        if not self.was_connected:
            raise ClusterUnavailable(detail)
        if not self.lost_at:
            self.lost_at = now
            self.report(
                f"the Ray cluster at {self.request.workers.address} is unavailable since {time.strftime('%H:%M:%S')};"
                f" retrying for {RECONNECT_SECONDS // 60:.0f} minutes, then the crawl stops with exit code"
                f" {ClusterUnavailable.exit_code} and the same command resumes it"
            )
        if now - self.lost_at > RECONNECT_SECONDS:
            raise ClusterUnavailable(
                f"lost the Ray cluster at {self.request.workers.address}: {detail}. No pages are lost; run the same"
                " command again when the cluster is available."
            )
        self.retry_at = now + RETRY_SECONDS

    def _kill_processes(self) -> None:
        if self.driver is not None:
            self.driver.kill()
            self.driver.wait()
            self.driver = None
