"""Coordinators of a shard set as Ray actors, which Ray places, supervises, and restarts on other nodes.

python -m sanderling.crawl.sharding.ray_shards FOLDER ADDRESS [LABEL...]    (a `ShardTask` on standard input)

This driver process ends with the crawl, or with `EXIT_LOST` if the cluster is lost: Ray ends drivers then. Lines on
standard output are messages for the user. The folder of the set must be the same on all nodes.
"""

import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import msgspec

from sanderling.crawl.sharding.shard_process import EXIT_LOST, ShardTask, crawl_shard, wait_for_database
from sanderling.errors import CollectionInUse, DatabaseUnavailable, SanderlingError, ShardLeaseLost
from sanderling.storage.shard_control import ShardRow
from sanderling.storage.shard_set import is_shard_set, open_control
from sanderling.workers.ray.driver import HEAD_TIMEOUT_SECONDS, connect_cluster, exit_with_parent

POLL_SECONDS = 0.5
MAX_RESTARTS = 20  # of one shard without a page in between
FATAL = 100  # added to exit codes of errors that a new driver would meet again
LABEL_SHARE = 0.001  # of a resource label: any number of coordinators may share it


class ShardActor:
    """Owns a shard: its coordinator runs in this process, its workers are processes of the same node."""

    def crawl(self, folder: str, shard: int, task: bytes) -> tuple[int, str]:
        """Crawl until the set is done. Returns exit code and message; exits the process if the shard was lost."""
        path, shard_task = Path(folder), msgspec.msgpack.decode(task, type=ShardTask)
        try:
            token = acquire_shard(path, shard, shard_task.lease_seconds)
        except SanderlingError as error:
            return error.exit_code, str(error)
        try:
            crawl_shard(path, shard, token, shard_task, handles_signals=False)
        except (ShardLeaseLost, DatabaseUnavailable, CollectionInUse) as error:
            print(f"shard {shard}: {error}", file=sys.stderr, flush=True)
            os._exit(EXIT_LOST)  # Ray restarts the actor, without anything left of this run
        except SanderlingError as error:
            return error.exit_code, str(error)
        return 0, ""


def acquire_shard(folder: Path, shard: int, lease_seconds: float) -> int:
    """Wait for the databases and the lease of a shard. Returns the fencing token."""
    if not is_shard_set(folder):
        raise SanderlingError(f"{folder} is not visible on node {os.uname().nodename}; mount it on all nodes")
    control = open_control(folder)
    try:
        wait_for_database(control.load_shard(shard).database_url)
        owner = f"{os.uname().nodename}:{os.getpid()}"
        while not (token := control.acquire_shard(shard, owner, time.time(), lease_seconds)):
            time.sleep(POLL_SECONDS)
        return token
    finally:
        control.close()


class RayShards:
    """Creates the actors, and restarts those that are silent."""

    def __init__(self, ray: Any, folder: Path, task: bytes, labels: tuple[str, ...]) -> None:
        self.ray, self.folder, self.task, self.labels = ray, folder, task, labels
        self.lease_seconds = msgspec.msgpack.decode(task, type=ShardTask).lease_seconds
        self.control = open_control(folder)
        self.actors: dict[int, Any] = {}
        self.running: dict[Any, int] = {}  # shard by result
        self.last_tokens: dict[int, int] = {}
        self.visited: dict[int, int] = {}
        self.restarts: dict[int, int] = {}

    def run(self) -> int:
        """Run until all shards are done. Returns the exit code."""
        for row in self.control.load_shards():
            if not row.summary:  # not done before the last driver was lost
                self._start(row.id)
        while self.running:
            ready, _ = self.ray.wait(list(self.running), num_returns=1, timeout=POLL_SECONDS)
            for ref in ready:
                code, message = self.ray.get(ref)
                shard = self.running.pop(ref)
                if code:
                    print(f"shard {shard}: {message}", file=sys.stderr)
                    return FATAL + int(code)
            try:
                if code := self._supervise():
                    return code
            except DatabaseUnavailable as error:
                self._reconnect(error)
        return 0

    def _start(self, shard: int) -> None:
        options: dict[str, Any] = {"num_cpus": 0, "max_restarts": -1, "max_task_retries": -1}
        if self.labels:
            options["resources"] = {self.labels[shard % len(self.labels)]: LABEL_SHARE}
        else:
            options["scheduling_strategy"] = "SPREAD"
        self.actors[shard] = self.ray.remote(ShardActor).options(**options).remote()
        self.running[self.actors[shard].crawl.remote(str(self.folder), shard, self.task)] = shard

    def _reconnect(self, error: DatabaseUnavailable) -> None:
        say(f"{error}; waiting for it, the shards go on by themselves when it is back")
        self.control.close()
        self.control = open_control(self.folder)
        say("the control database is available again")

    def _supervise(self) -> int:
        for row in self.control.load_shards():
            if row.owner and row.until < time.time() and row.id in self.running.values():
                say(f"shard {row.id} was silent for {self.lease_seconds:g} s; it is started again")
                self.control.release_shard(row.id, row.token, time.time())
                self.ray.kill(self.actors[row.id], no_restart=False)
            elif row.owner and row.token != self.last_tokens.get(row.id) and (code := self._note_owner(row)):
                return code
        return 0

    def _note_owner(self, row: ShardRow) -> int:
        """Report a new owner. Returns an exit code if a shard ends again and again without a page."""
        is_first = row.id not in self.last_tokens
        self.last_tokens[row.id] = row.token
        if is_first:
            return 0
        say(f"shard {row.id} is crawled by a new coordinator ({row.owner})")
        has_progressed = row.visited > self.visited.get(row.id, -1)
        self.visited[row.id] = row.visited
        self.restarts[row.id] = 0 if has_progressed else self.restarts.get(row.id, 0) + 1
        if self.restarts[row.id] <= MAX_RESTARTS:
            return 0
        print(f"shard {row.id} ended {MAX_RESTARTS} times without a page", file=sys.stderr)
        return FATAL + 1

    def close(self) -> None:
        self.control.close()


def say(message: str) -> None:
    """Print a message for the user."""
    print(message, flush=True)


def main(arguments: list[str]) -> int:
    folder, address, *labels = arguments
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no telemetry
    os.environ.setdefault("RAY_gcs_rpc_server_reconnect_timeout_s", HEAD_TIMEOUT_SECONDS)
    threading.Thread(target=exit_with_parent, args=(os.getppid(),), daemon=True).start()
    task = sys.stdin.buffer.read()
    try:
        ray = connect_cluster(address, labels)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError, OSError) as error:
        print(f"no Ray cluster at {address}: {(str(error).strip().splitlines() or [type(error).__name__])[0]}",
              file=sys.stderr)  # fmt: skip
        return EXIT_LOST
    say(CONNECTED)
    shards = RayShards(ray, Path(folder), task, tuple(labels))
    try:
        return shards.run()
    except SanderlingError as error:
        print(error, file=sys.stderr)
        return FATAL + error.exit_code
    except ray.exceptions.RayError as error:  # the cluster is lost
        print(str(error).splitlines()[0], file=sys.stderr)
        return EXIT_LOST
    finally:
        shards.close()
        ray.shutdown()


CONNECTED = "connected to the Ray cluster"

if __name__ == "__main__":
    # Imported by name, because Ray loads the class of its actors from its module.
    from sanderling.crawl.sharding.ray_shards import main as run_driver

    sys.exit(run_driver(sys.argv[1:]))
