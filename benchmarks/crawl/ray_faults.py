"""Crawl a shard set on a Ray cluster again and again while its parts fail, and count what is lost.

Each of three nodes, with coordinators as actors and their workers, has a network namespace of its own; head,
supervisor, web server and two PostgreSQL servers are in a fourth one. Faults of a round: kill or pause a coordinator,
kill a node, cut the link of a node, kill and restart the head (its nodes leave, and are started again), stop and start
one of the two PostgreSQL servers. 20 sites share one address. Pages are lost or stored twice as in `shard_faults.py`.

Needs root, iproute2, Ray, and PostgreSQL: python -m benchmarks.crawl.ray_faults --data FOLDER [--rounds 30]
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
from itertools import pairwise
from pathlib import Path

import psutil  # type: ignore[import-untyped]
from benchmarks.lib.request_times import RequestTimes
from msgspec import Struct
from msgspec.structs import asdict
from tests.support.many_sites import ManySites
from tests.support.netns import Machine, ip, machines

from sanderling.config.settings import HttpSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.request import CrawlRequest
from sanderling.crawl.sharding.shard_supervisor import open_supervisor
from sanderling.db.postgres import connect_postgres
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import load_pages
from sanderling.storage.shard_set import list_shard_folders, open_control

SITES, PAGES, SHARDS, DELAY, TOLERANCE = 20, 20, 4, 0.05, 0.9
LEASE_SECONDS, NODES, FAULTS_PER_ROUND, OUTAGE_SECONDS = 20.0, 3, 2, 15.0
HEAD, HEAD_PORT, POSTGRES_PORTS = "10.99.0.1", 6390, (5501, 5502)
INSIDE = "SANDERLING_INSIDE_NAMESPACE"
RAY = [
    sys.executable,
    "-c",
    "from ray.scripts.scripts import main; main()",
    "start",
    "--block",
    "--disable-usage-stats",
]
STORES = [f"postgresql://postgres@{HEAD}:{port}/postgres" for port in POSTGRES_PORTS]


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


class PostgresServer:
    """A server with its own data folder, as the user `postgres`."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.port = folder, port
        folder.mkdir(parents=True)
        shutil.chown(folder, "postgres")
        self._run("initdb", "-A", "trust", "-U", "postgres")
        with (folder / "pg_hba.conf").open("a") as file:
            file.write("host all all 0.0.0.0/0 trust\n")
        self.start()

    def _run(self, name: str, *arguments: str) -> None:
        command = ["runuser", "-u", "postgres", "--", name, "-D", str(self.folder), *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")

    def start(self) -> None:
        options = f"-p {self.port} -h {HEAD} -k {self.folder} -c fsync=off -c max_connections=200"
        self._run("pg_ctl", "-w", "-o", options, "-l", str(self.folder / "log"), "start")

    def stop(self) -> None:
        self._run("pg_ctl", "-m", "immediate", "stop")


class Cluster:
    """Head and nodes; processes that have ended can be started again."""

    def __init__(self, nodes: list[Machine]) -> None:
        self.nodes = nodes
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.is_steady = True  # False: a fault of the head is in progress
        self.start_head()

    def _start(self, name: str, command: list[str]) -> None:
        self.processes[name] = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL
        )

    def start_head(self) -> None:
        self._start("head", [*RAY, "--head", "--port", str(HEAD_PORT), "--node-ip-address", HEAD, "--num-cpus", "1",
                             "--include-dashboard", "false"])  # fmt: skip

    def start_missing_nodes(self) -> None:
        for node in self.nodes:
            process = self.processes.get(node.name)
            if process is None or process.poll() is not None:
                command = [*RAY, "--address", f"{HEAD}:{HEAD_PORT}", "--node-ip-address", node.address,
                           "--num-cpus", "1", "--resources", '{"shards": 100}']  # fmt: skip
                self._start(node.name, node.inside(command))

    def kill_node(self, node: Machine) -> None:
        found = subprocess.run(["ip", "netns", "pids", node.name], capture_output=True, text=True, check=True)
        kill_all(int(pid) for pid in found.stdout.split())

    def restart_head(self) -> None:
        self.is_steady = False
        head = psutil.Process(self.processes["head"].pid)
        kill_all([process.pid for process in head.children(recursive=True)] + [head.pid])
        self.processes["head"].wait()
        time.sleep(5)
        for node in self.nodes:  # they would leave by themselves after a minute
            self.kill_node(node)
        self.start_head()
        self.is_steady = True

    def close(self) -> None:
        self.is_steady = False
        for node in self.nodes:
            self.kill_node(node)
        head = psutil.Process(self.processes["head"].pid)
        kill_all([process.pid for process in head.children(recursive=True)] + [head.pid])
        for process in self.processes.values():
            process.wait()


def kill_all(pids: object) -> None:
    for pid in pids:  # type: ignore[attr-defined]
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


class FaultMaker:
    """Injects faults, and starts nodes that have ended."""

    def __init__(self, draws: random.Random, folder: Path, cluster: Cluster, servers: list[PostgresServer]) -> None:
        self.draws, self.folder, self.cluster, self.servers = draws, folder, cluster, servers
        self.injected: list[str] = []
        self.is_done = threading.Event()

    def keep_nodes(self) -> None:
        while not self.is_done.wait(2.0):
            if self.cluster.is_steady:
                self.cluster.start_missing_nodes()

    def run(self, web: ManySites) -> None:
        faults: dict[str, Callable[[], None]] = {
            "kill": lambda: self._signal_owner(signal.SIGKILL),
            "pause": lambda: self._signal_owner(signal.SIGSTOP),
            "node": lambda: self.cluster.kill_node(self.draws.choice(self.cluster.nodes)),
            "cut": self._cut_link,
            "head": self.cluster.restart_head,
            "postgres": self._stop_server,
        }
        bag = sorted(faults)
        self.draws.shuffle(bag)
        for number in range(FAULTS_PER_ROUND):
            while sum(web.hits.values()) < (number + 1) * SITES * PAGES // (FAULTS_PER_ROUND + 2):
                if self.is_done.wait(0.05):
                    return
            self.injected.append(bag[number])
            faults[bag[number]]()

    def _signal_owner(self, number: signal.Signals) -> None:
        control = open_control(self.folder)
        try:
            owners = [row.owner for row in control.load_shards() if row.owner]
        finally:
            control.close()
        if owners:
            kill = int(self.draws.choice(owners).rpartition(":")[2])
            os.kill(kill, number)

    def _cut_link(self) -> None:
        node = self.draws.choice(self.cluster.nodes)
        node.cut()
        self.is_done.wait(OUTAGE_SECONDS)
        node.mend()
        ip("-n", node.name, "route", "replace", "default", "via", get_gateway(node))

    def _stop_server(self) -> None:
        server = self.draws.choice(self.servers)
        server.stop()
        self.is_done.wait(OUTAGE_SECONDS)
        server.start()


def get_gateway(node: Machine) -> str:
    head, _, last = node.address.rpartition(".")
    return f"{head}.{int(last) - 1}"


def build_request(web: ManySites) -> CrawlRequest:
    return CrawlRequest(
        (web.get_root(0) + "/p0",),
        scope=ScopeSettings(scope="any", sitemaps=False),
        politeness=PolitenessSettings(delay=DELAY, backoff=0.2),
        fetching=HttpSettings(allow_private=True),
        workers=WorkerSettings(
            workers=1, shards=SHARDS, lease=LEASE_SECONDS, engine="ray", address=f"{HEAD}:{HEAD_PORT}",
            place=("shards",), store=" ".join(STORES),
        ),
    )  # fmt: skip


def run_round(folder: Path, number: int, cluster: Cluster, servers: list[PostgresServer]) -> RoundResult:
    shutil.rmtree(folder, ignore_errors=True)
    for store in STORES:
        drop_schemas(store)
    messages: list[str] = []
    with (
        ManySites(SITES, PAGES, seed=number, address=HEAD, domain="test") as web,
        RequestTimes(web.port, "any") as arrivals,
    ):
        started = time.monotonic()
        supervisor = open_supervisor(folder, build_request(web), messages.append)
        maker = FaultMaker(random.Random(number), folder, cluster, servers)
        threads = [threading.Thread(target=maker.keep_nodes), threading.Thread(target=maker.run, args=(web,))]
        for thread in threads:
            thread.start()
        try:
            supervisor.run()
        finally:
            maker.is_done.set()
            for thread in threads:
                thread.join()
        stored, twice = set[str](), 0
        for shard in list_shard_folders(folder):
            with open_collection_read_only(shard) as collection:
                stored |= {page.url for page in load_pages(collection.db)}
                sql = "SELECT url, count(*) FROM visits WHERE outcome = 'fetched' GROUP BY url"
                twice += sum(count - 1 for _, count in collection.db.execute(sql).fetchall())
        gaps = [after - before for before, after in pairwise(sorted(arrivals.times))]
        if stored != web.urls or twice:
            print(*messages, sep="\n", flush=True)
        return RoundResult(
            "+".join(maker.injected), len(web.urls - stored), twice,
            sum(max(0, web.hits[url] - 1) for url in web.urls), len(gaps),
            sum(gap < TOLERANCE * DELAY for gap in gaps), web.most_open, round(time.monotonic() - started, 1),
            len(messages),
        )  # fmt: skip


def write_hosts(namespace: str) -> None:
    """Write the file that `ip netns exec` mounts over /etc/hosts."""
    lines = "".join(f"{HEAD} site{site}.test\n" for site in range(SITES))
    folder = Path("/etc/netns") / namespace
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hosts").write_text("127.0.0.1 localhost\n" + lines)


def drop_schemas(store: str) -> None:
    db = connect_postgres(store, 30.0)
    db.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
               " AND backend_type = 'client backend'")  # fmt: skip
    for schema in ("sanderling_control", *(f"shard_{number:02}" for number in range(SHARDS))):
        db.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
    db.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--first", type=int, default=0, help="number of the first round, which seeds the faults")
    parser.add_argument("--data", type=Path, required=True, help="empty folder, which the user postgres can enter")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if INSIDE not in os.environ:
        inside = {INSIDE: "1", "RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0"}
        command = ["unshare", "--net", sys.executable, "-m", "benchmarks.crawl.ray_faults", *sys.argv[1:]]
        return subprocess.run(command, env=os.environ | inside, check=False).returncode
    ip("link", "set", "lo", "up")
    ip("addr", "add", f"{HEAD}/32", "dev", "lo")
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    shutil.rmtree(options.data, ignore_errors=True)
    options.data.mkdir(parents=True)
    options.data.chmod(0o755)
    servers = [PostgresServer(options.data / f"pg{port}", port) for port in POSTGRES_PORTS]
    results = []
    with machines(NODES) as nodes:
        for node in nodes:
            ip("-n", node.name, "route", "add", "default", "via", get_gateway(node))
            write_hosts(node.name)
        cluster = Cluster(nodes)
        try:
            time.sleep(20)
            cluster.start_missing_nodes()
            time.sleep(20)
            for number in range(options.first, options.first + options.rounds):
                results.append(run_round(options.data / "set", number, cluster, servers))
                print(json.dumps(asdict(results[-1])) if options.json else results[-1], flush=True)
        finally:
            cluster.close()
            for server in servers:
                server.stop()
            for node in nodes:
                shutil.rmtree(Path("/etc/netns") / node.name, ignore_errors=True)
    lost, twice = sum(r.lost for r in results), sum(r.stored_twice for r in results)
    gaps, short = sum(r.gaps for r in results), sum(r.short_gaps for r in results)
    print(f"{len(results)} rounds: {lost} lost, {twice} stored twice, {gaps - short} of {gaps} gaps kept")
    return 1 if lost or twice else 0


if __name__ == "__main__":
    sys.exit(main())
