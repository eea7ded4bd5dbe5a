"""Crawls on a real Ray cluster, during which a node or the head dies."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from tests.support.site import Page, Site, free_port, html, tree

from sanderling.cli import main
from sanderling.config.settings import HttpSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.session import CrawlRequest, crawl
from sanderling.errors import ClusterUnavailable
from sanderling.fetch.fetch_settings import FetchSettings
from sanderling.models import Reason
from sanderling.runtime.isolation import build_python_command
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import load_pages, load_skipped_urls
from sanderling.warc.warc_reader import StoredRecord, iterate_records
from sanderling.workers.ray.ray_engine import DriverProcess, RayEngine

PAGES = 300
MAX_REPEATED = 3 * 160 + 3  # tasks of three workers, and their requests for robots.txt
SETTINGS = FetchSettings(allow_private=True, idle_timeout=900.0, timeout=900.0, robots_timeout=900.0)
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # Ray's own threads and sockets


class GatedSite(Site):
    """Delays the second half of its pages until `gate` is set."""

    def __init__(self, pages: dict[str, Page]) -> None:
        super().__init__(pages)
        self.half, self.gate = threading.Event(), threading.Event()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        if sum(self.hits.values()) > PAGES // 2:
            self.half.set()
            self.gate.wait(900)
        super().answer(handler)


def build_request(site: Site) -> CrawlRequest:
    return CrawlRequest(
        (site.root + "/",),
        scope=ScopeSettings(sitemaps=False),
        politeness=PolitenessSettings(delay=0),
        fetching=HttpSettings(allow_private=True),
        workers=WorkerSettings(workers=3, lease=3600.0),
    )


class CrawlThread:
    """A crawl in a thread."""

    def __init__(self, site: Site, folder: Path, engine: RayEngine) -> None:
        self.coordinator: Coordinator | None = None
        self.summary: Any = None
        self.failure: BaseException | None = None
        self.thread = threading.Thread(target=self._run, args=(site, folder, engine))
        self.thread.start()

    def _run(self, site: Site, folder: Path, engine: RayEngine) -> None:
        try:
            self.summary = crawl(
                folder,
                build_request(site),
                engine=engine,
                on_start=lambda started: setattr(self, "coordinator", started),
            )
        except BaseException as error:
            self.failure = error
            raise

    def wait(self, ready: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 900
        while not ready():
            assert self.thread.is_alive(), self.failure
            assert time.monotonic() < deadline
            time.sleep(0.02)


def count_lost(folder: Path) -> int:
    return (folder / "logs" / "workers.log").read_text().count(" lose ")


def check_stored(folder: Path, site: Site) -> None:
    """Check that each page is stored once, and that only leased pages were fetched twice."""
    with open_collection_read_only(folder) as collection:
        assert {row.url for row in load_pages(collection.db)} == {site.root + path for path in site.pages}
    records = [record for path in (folder / "archive").glob("*.gz") for record in iterate_records(path)]
    archived = [
        r.url for r in records if isinstance(r, StoredRecord) and (r.record_type, r.status) == ("response", 200)
    ]
    assert len(archived) == len(set(archived)) == PAGES
    assert sum(site.hits.values()) - PAGES <= MAX_REPEATED


@pytest.fixture(autouse=True, scope="module")
def disable_ray_tokens() -> Iterator[None]:
    """Disable tokens, which Ray requires if an earlier cluster of the user left some."""
    before = os.environ.get("RAY_AUTH_MODE")
    os.environ["RAY_AUTH_MODE"] = "disabled"
    yield
    if before is None:
        del os.environ["RAY_AUTH_MODE"]
    else:
        os.environ["RAY_AUTH_MODE"] = before


def retry(start: Callable[[], Any]) -> Any:
    """Retry, because Ray times out after 30 seconds on a busy machine."""
    deadline = time.monotonic() + 300
    while True:
        try:
            return start()
        except Exception:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    """Start a head node and two labeled nodes on this machine."""
    pytest.importorskip("ray")
    utils = pytest.importorskip("ray.cluster_utils")
    head = {"num_cpus": 1, "include_dashboard": False}
    cluster = retry(lambda: utils.Cluster(initialize_head=True, head_node_args=head))
    labels = [{f"near{n}": 1} for n in range(2)]
    labeled = [retry(partial(cluster.add_node, wait=False, num_cpus=1, resources=label)) for label in labels]
    cluster.wait_for_nodes(300)
    yield cluster, labeled
    cluster.shutdown()


def test_dead_node_loses_no_page(tmp_path: Path, nodes: Any) -> None:
    cluster, labeled = nodes
    with GatedSite(tree(PAGES)) as site:
        engine = RayEngine(SETTINGS, cluster.address, ("near0", "near1"))
        retry(engine.open)
        crawling = CrawlThread(site, tmp_path, engine)
        try:
            crawling.wait(site.half.is_set)
            cluster.remove_node(labeled[1], allow_graceful=False)
            crawling.wait(lambda: count_lost(tmp_path) > 0)
        finally:
            site.gate.set()
            crawling.thread.join()
        assert crawling.summary is not None, crawling.failure
        assert (crawling.summary.finish_reason, crawling.summary.pages) == ("done", PAGES)
        assert "was lost" in (tmp_path / "logs" / "crawl.log").read_text()
        check_stored(tmp_path, site)


class HeadNode:
    """A head node that can be killed and restarted at the same address."""

    SCRIPT = "from ray.scripts.scripts import main; main()"

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [sys.executable, "-c", self.SCRIPT, "start", "--head", "--block", "--port", str(self.port),
                   "--node-ip-address", "127.0.0.1", "--include-dashboard", "false", "--num-cpus", "1",
                   "--temp-dir", str(self.folder), "--disable-usage-stats"]  # fmt: skip
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        deadline = time.monotonic() + 300
        while not (self.folder / "session_latest" / "sockets" / "raylet").exists():
            assert self.process.poll() is None, "the head node has ended"
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def kill(self) -> None:
        """Kill all processes of the head node."""
        assert self.process is not None
        for pid in [int(p.name) for p in Path("/proc").iterdir() if p.name.isdigit()]:
            if self._is_ours(pid):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _is_ours(self, pid: int) -> bool:
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return False
        return str(self.folder).encode() in command or (self.process is not None and pid == self.process.pid)


@pytest.fixture
def head() -> Iterator[HeadNode]:
    pytest.importorskip("ray")
    node = HeadNode(Path(f"/tmp/ray-{os.getpid()}"))  # Ray's sockets need a short path
    node.start()
    yield node
    node.kill()


def test_head_that_dies_and_returns_loses_no_page(
    tmp_path: Path, head: HeadNode, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("RAY_gcs_rpc_server_reconnect_timeout_s", "10")  # shorter than the default
    with GatedSite(tree(PAGES)) as site:
        engine = RayEngine(SETTINGS, head.address)
        retry(engine.open)
        crawling = CrawlThread(site, tmp_path, engine)
        try:
            crawling.wait(site.half.is_set)
            head.kill()
            crawling.wait(lambda: count_lost(tmp_path) >= 3)
            head.start()
        finally:
            site.gate.set()
            crawling.thread.join()
        assert crawling.summary is not None, crawling.failure
        assert (crawling.summary.finish_reason, crawling.summary.pages) == ("done", PAGES)
        assert "was lost" in (tmp_path / "logs" / "crawl.log").read_text()
        lost, *_, available = [record.message for record in caplog.records if "Ray cluster" in record.message]
        assert f"Ray cluster at {head.address} unavailable since" in lost
        assert "then the crawl stops with exit code 17 and the same command resumes it" in lost
        assert "available again" in available
        check_stored(tmp_path, site)


KILLING_PATCH = """
import os, signal
from sanderling.fetch.response_processor import ResponseProcessor
process = ResponseProcessor.process
ResponseProcessor.process = lambda self, task, response, at: (
    os.kill(os.getpid(), signal.SIGKILL) if b"poison" in response.body else process(self, task, response, at)
)
"""
FAILING_PATCH = """
from sanderling.fetch.response_processor import ResponseProcessor
process = ResponseProcessor.process
def fail(self, task, response, at):
    if b"poison" in response.body:
        raise MemoryError
    return process(self, task, response, at)
ResponseProcessor.process = fail
"""


@pytest.mark.parametrize("patch", [KILLING_PATCH, FAILING_PATCH])
def test_only_the_page_that_kills_workers_is_given_up(tmp_path: Path, patch: str) -> None:
    pytest.importorskip("ray")
    (tmp_path / "sitecustomize.py").write_text(patch)
    with Site(tree(40, fan=40)) as site:
        site.pages["/p20"] = html(text="poison")
        command = [sys.executable, "-c", "import sys; from sanderling.cli import main; sys.exit(main())", "crawl",
                   site.root + "/", "-C", str(tmp_path / "c"), "--delay", "0", "--allow-private", "--workers", "2",
                   "--engine", "ray", "--json"]  # fmt: skip
        path = f"{tmp_path}:{Path(__file__).parents[3] / 'src'}"
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": path}, timeout=600
        )
        assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout.splitlines()[-1])
    assert (summary["finish_reason"], summary["pages"], summary["failed"]) == ("done", 39, 1)
    with open_collection_read_only(tmp_path / "c") as collection:
        lost = [row.url for row in load_skipped_urls(collection.db) if row.reason == Reason.WORKER_LOST]
    assert lost == [site.root + "/p20"]
    lines = (tmp_path / "c" / "logs" / "workers.log").read_text()
    assert lines.count(" lose ") <= 8, "only workers that read the page are lost"


def test_unknown_label_is_reported(nodes: Any) -> None:
    cluster, _ = nodes
    with pytest.raises(ClusterUnavailable, match="no node has the label 'on-mars'"):
        RayEngine(SETTINGS, cluster.address, ("near0", "on-mars")).open()


def test_unreachable_cluster_is_reported(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    command = [sys.executable, "-c", "import sys; from sanderling.cli import main; sys.exit(main())", "crawl",
               "http://127.0.0.1:1/", "-C", str(tmp_path), "--engine", "ray", "--address",
               f"127.0.0.1:{free_port()}"]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 17, done.stderr
    assert "no Ray cluster at 127.0.0.1" in done.stderr
    assert "Traceback" not in done.stderr


def test_local_cluster_is_started_once_with_clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    started: list[DriverProcess] = []

    class CountedProcess(DriverProcess):
        def __init__(self) -> None:
            super().__init__()
            started.append(self)

    monkeypatch.setattr("sanderling.workers.ray.ray_engine.DriverProcess", CountedProcess)
    with Site({"/": html("/a"), "/a": html()}) as site:
        command = ["crawl", site.root + "/", "-C", str(tmp_path), "--delay", "0", "--allow-private", "--workers", "1"]
        assert main([*command, "--limit", "1"]) in (0, 13)
        assert main([*command, "--clean", "--yes", "--engine", "ray", "--json"]) == 0
    assert len(started) == 1
    assert started[0].process.returncode == 0  # it was shut down with its cluster
    with open_collection_read_only(tmp_path) as collection:
        assert len(list(load_pages(collection.db))) == 2


def test_ray_processes_do_not_execute_files_of_the_working_directory(tmp_path: Path) -> None:
    """Ray adds the working directory of its driver to the import path of its workers."""
    pytest.importorskip("ray")
    (here := tmp_path / "here").mkdir()
    trap = f"import os, pathlib; pathlib.Path({str(tmp_path)!r}, f'executed-{{os.getpid()}}').write_text(__file__)\n"
    for name in ("attr", "secrets", "lxml", "html", "mimetypes", "pycurl"):
        (here / f"{name}.py").write_text(trap + "raise ImportError\n")
    with Site({"/": html("/a"), "/a": html()}) as site:
        command = build_python_command(
            "-c", "import sys; from sanderling.cli import main; sys.exit(main())", "crawl", site.root + "/", "-C",
            str(tmp_path / "c"), "--delay", "0", "--allow-private", "--workers", "1", "--engine", "ray", "--json",
        )  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=here, timeout=600)
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.glob("executed-*"))
    assert json.loads(done.stdout.splitlines()[-1])["pages"] == 2
