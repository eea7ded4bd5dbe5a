"""Crawl a shard set again and again while its processes are killed or paused, and count what is lost.

Every round crawls 20 sites behind one address with 4 shards, with a crawl delay. Faults at random times: kill a
coordinator, pause one beyond its lease, kill a worker; with --store also close all database connections, or restart
the server at once. A page is lost if it is not stored, and stored twice if two of its visits have a body. A gap is
short if a request arrives earlier after the last one than the crawl delay, by the clock of the kernel (needs root).

python -m benchmarks.crawl.shard_faults [--rounds 30] [--store postgresql://... --restart COMMAND] [--json]
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from benchmarks.lib.request_times import RequestTimes
from msgspec import Struct
from msgspec.structs import asdict
from tests.support.many_sites import ManySites

from sanderling.config.settings import HttpSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.request import CrawlRequest
from sanderling.crawl.sharding.shard_supervisor import ShardSupervisor, open_supervisor
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import load_pages

SITES, PAGES, SHARDS, DELAY = 20, 25, 4, 0.01
LEASE_SECONDS = 10.0
FAULTS_PER_ROUND = 3
TOLERANCE = 0.9  # of the delay


class RoundResult(Struct, frozen=True):
    """Outcome of a round."""

    faults: str
    lost: int
    stored_twice: int
    fetched_again: int
    gaps: int
    short_gaps: int
    most_open: int
    seconds: float
    messages: int  # to the user


class FaultMaker:
    """Injects faults into the processes of a set."""

    def __init__(self, draws: random.Random, store: str, restart: str) -> None:
        self.draws = draws
        self.store = store
        self.restart = restart
        self.injected: list[str] = []
        self.is_done = threading.Event()

    def run(self, supervisor: ShardSupervisor) -> None:
        faults: dict[str, Callable[[int], None]] = {
            "kill": lambda pid: os.kill(pid, signal.SIGKILL),
            "pause": lambda pid: os.kill(pid, signal.SIGSTOP),
            "worker": kill_child,
        }
        if self.store:
            faults["connections"] = lambda _pid: close_connections(self.store)
        if self.restart:
            faults["restart"] = lambda _pid: run_command(self.restart)
        for _ in range(FAULTS_PER_ROUND):
            if self.is_done.wait(self.draws.uniform(0.5, 3.0)) or not supervisor.processes:
                return
            name = self.draws.choice(sorted(faults))
            with suppress(OSError, IndexError, RuntimeError):
                process = self.draws.choice(list(supervisor.processes.values()))
                faults[name](process.pid)
                self.injected.append(name)


def kill_child(pid: int) -> None:
    """Kill a child of a process: a worker."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    os.kill(int(children[0]), signal.SIGKILL)


def run_command(command: str) -> None:
    subprocess.run(["sh", "-c", command], check=False)


def close_connections(store: str) -> None:
    from sanderling.db.postgres import connect_postgres

    admin = connect_postgres(store)
    admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
    admin.close()


def run_round(folder: Path, number: int, store: str, restart: str) -> RoundResult:
    shutil.rmtree(folder, ignore_errors=True)
    maker, messages = FaultMaker(random.Random(number), store, restart), list[str]()
    with ManySites(SITES, PAGES, seed=number) as web, RequestTimes(web.port) as arrivals:
        request = CrawlRequest(
            (web.get_root(0) + "/p0",),
            scope=ScopeSettings(scope="any", sitemaps=False),
            politeness=PolitenessSettings(delay=DELAY, backoff=0.2),
            fetching=HttpSettings(allow_private=True),
            workers=WorkerSettings(workers=1, shards=SHARDS, lease=LEASE_SECONDS, store=store),
        )
        started = time.monotonic()
        supervisor = open_supervisor(folder, request, messages.append)
        thread = threading.Thread(target=maker.run, args=(supervisor,))
        thread.start()
        supervisor.run()
        maker.is_done.set()
        thread.join()
        with open_collection_read_only(folder) as collection:
            stored = {page.url for page in load_pages(collection.db)}
            visits = collection.db.execute("SELECT url, count(*) FROM visits WHERE outcome = 'fetched' GROUP BY url")
            twice = sum(count - 1 for _, count in visits.fetchall())
        times = sorted(arrivals.times)
        gaps = [after - before for before, after in pairwise(times)]
        return RoundResult(
            "+".join(maker.injected),
            len(web.urls - stored),
            twice,
            sum(max(0, web.hits[url] - 1) for url in web.urls),
            len(gaps),
            sum(gap < TOLERANCE * DELAY for gap in gaps),
            web.most_open,
            round(time.monotonic() - started, 1),
            len(messages),
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--first", type=int, default=0, help="number of the first round, which seeds the faults")
    parser.add_argument("--store", default="", help="PostgreSQL database; its schemas are dropped before each round")
    parser.add_argument("--restart", default="", help="command that restarts the server")
    parser.add_argument("--data", type=Path, default=Path("bench-data"))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results = []
    for number in range(options.first, options.first + options.rounds):
        if options.store:
            drop_schemas(options.store)
        results.append(run_round(options.data.absolute() / "faults", number, options.store, options.restart))
        print(json.dumps(asdict(results[-1])) if options.json else results[-1], flush=True)
    lost, twice = sum(r.lost for r in results), sum(r.stored_twice for r in results)
    gaps, short = sum(r.gaps for r in results), sum(r.short_gaps for r in results)
    print(f"{len(results)} rounds: {lost} lost, {twice} stored twice, {gaps - short} of {gaps} gaps kept")
    return 1 if lost or twice else 0


def drop_schemas(store: str) -> None:
    from sanderling.db.postgres import connect_postgres

    db = connect_postgres(store)
    for schema in ("sanderling_control", *(f"shard_{number:02}" for number in range(SHARDS))):
        db.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
    db.close()


if __name__ == "__main__":
    sys.exit(main())
