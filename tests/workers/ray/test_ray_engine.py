"""The whole crawler with its migrants on a real Ray cluster: a node dies on the way, then the head."""

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
HELD = 3 * 160 + 3  # three migrants, what each holds at most, and their questions for robots.txt
PATIENT = FetchSettings(allow_private=True, idle_timeout=900.0, timeout=900.0, robots_timeout=900.0)
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # Ray's own threads and sockets


class Patient(Site):
    """Answers the second half only when the gate is open, so that what happens happens in the middle of the crawl."""

    def __init__(self, found: dict[str, Page]) -> None:
        super().__init__(found)
        self.half, self.gate = threading.Event(), threading.Event()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        if sum(self.hits.values()) > PAGES // 2:
            self.half.set()
            self.gate.wait(900)
        super().answer(handler)


def request_for(site: Site) -> CrawlRequest:
    return CrawlRequest(
        (site.root + "/",),
        scope=ScopeSettings(sitemaps=False),
        politeness=PolitenessSettings(delay=0),
        fetching=HttpSettings(allow_private=True),
        workers=WorkerSettings(workers=3, lease=3600.0),
    )


class Crawling:
    """A crawl in a thread of its own."""

    def __init__(self, site: Site, folder: Path, engine: RayEngine) -> None:
        self.coordinator: Coordinator | None = None
        self.summary: Any = None
        self.failure: BaseException | None = None
        self.thread = threading.Thread(target=self._run, args=(site, folder, engine))
        self.thread.start()

    def _run(self, site: Site, folder: Path, engine: RayEngine) -> None:
        try:
            self.summary = crawl(
                folder, request_for(site), engine=engine, on_start=lambda found: setattr(self, "coordinator", found)
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


def was_lost(folder: Path) -> int:
    return (folder / "logs" / "migrants.log").read_text().count(" lose ")


def check(folder: Path, site: Site) -> None:
    """Everything is stored, once; what was asked for twice was in somebody's hands."""
    with open_collection_read_only(folder) as collection:
        assert {row.url for row in load_pages(collection.db)} == {site.root + path for path in site.pages}
    records = [record for path in (folder / "archive").glob("*.gz") for record in iterate_records(path)]
    archived = [
        r.url for r in records if isinstance(r, StoredRecord) and (r.record_type, r.status) == ("response", 200)
    ]
    assert len(archived) == len(set(archived)) == PAGES
    assert sum(site.hits.values()) - PAGES <= HELD


@pytest.fixture(autouse=True, scope="module")
def no_tokens() -> Iterator[None]:
    """Ray asks for a token where an earlier Ray of this user left one; these clusters last for a minute."""
    before = os.environ.get("RAY_AUTH_MODE")
    os.environ["RAY_AUTH_MODE"] = "disabled"
    yield
    if before is None:
        del os.environ["RAY_AUTH_MODE"]
    else:
        os.environ["RAY_AUTH_MODE"] = before


def patiently(begin: Callable[[], Any]) -> Any:
    """Ray gives up after half a minute, however busy the machine is: then it is asked again."""
    deadline = time.monotonic() + 300
    while True:
        try:
            return begin()
        except Exception:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    """A head and two more nodes on this machine, each with a label of its own."""
    pytest.importorskip("ray")
    utils = pytest.importorskip("ray.cluster_utils")
    head = {"num_cpus": 1, "include_dashboard": False}
    cluster = patiently(lambda: utils.Cluster(initialize_head=True, head_node_args=head))
    labels = [{f"near{n}": 1} for n in range(2)]
    near = [patiently(partial(cluster.add_node, wait=False, num_cpus=1, resources=label)) for label in labels]
    cluster.wait_for_nodes(300)
    yield cluster, near
    cluster.shutdown()


def test_a_node_that_dies_loses_nothing(tmp_path: Path, nodes: Any) -> None:
    cluster, near = nodes
    with Patient(tree(PAGES)) as site:
        engine = RayEngine(PATIENT, cluster.address, ("near0", "near1"))
        patiently(engine.open)
        crawling = Crawling(site, tmp_path, engine)
        try:
            crawling.wait(site.half.is_set)
            cluster.remove_node(near[1], allow_graceful=False)
            crawling.wait(lambda: was_lost(tmp_path) > 0)
        finally:
            site.gate.set()
            crawling.thread.join()
        assert crawling.summary is not None, crawling.failure
        assert (crawling.summary.finish_reason, crawling.summary.pages) == ("done", PAGES)
        assert "was lost" in (tmp_path / "logs" / "crawl.log").read_text()
        check(tmp_path, site)


class Head:
    """The head of a cluster in a session of processes that can be killed and begun again at the same address."""

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
            assert self.process.poll() is None, "it ended"
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def kill(self) -> None:
        """The machine of the head loses power."""
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
def head() -> Iterator[Head]:
    """The head of a cluster."""
    pytest.importorskip("ray")
    found = Head(Path(f"/tmp/ray-{os.getpid()}"))  # Ray's sockets need a short path
    found.start()
    yield found
    found.kill()


def test_a_head_that_dies_and_returns_loses_nothing(
    tmp_path: Path, head: Head, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_gcs_rpc_server_reconnect_timeout_s", "10")  # a driver gives its head up earlier than usual
    with Patient(tree(PAGES)) as site:
        engine = RayEngine(PATIENT, head.address)
        patiently(engine.open)
        crawling = Crawling(site, tmp_path, engine)
        try:
            crawling.wait(site.half.is_set)
            head.kill()
            crawling.wait(lambda: was_lost(tmp_path) >= 3)
            head.start()
        finally:
            site.gate.set()
            crawling.thread.join()
        assert crawling.summary is not None, crawling.failure
        assert (crawling.summary.finish_reason, crawling.summary.pages) == ("done", PAGES)
        assert "was lost" in (tmp_path / "logs" / "crawl.log").read_text()
        check(tmp_path, site)


KILLER = """
import os, signal
from sanderling.fetch.process import ResponseProcessor
process = ResponseProcessor.process
ResponseProcessor.process = lambda self, stop, reply, at: (
    os.kill(os.getpid(), signal.SIGKILL) if b"poison" in reply.body else process(self, stop, reply, at)
)
"""
CHOKER = """
from sanderling.fetch.process import ResponseProcessor
process = ResponseProcessor.process
def choke(self, stop, reply, at):
    if b"poison" in reply.body:
        raise MemoryError
    return process(self, stop, reply, at)
ResponseProcessor.process = choke
"""


@pytest.mark.parametrize("harm", [KILLER, CHOKER])
def test_a_page_that_kills_whoever_reads_it_is_given_up_and_no_other(tmp_path: Path, harm: str) -> None:
    pytest.importorskip("ray")
    (tmp_path / "sitecustomize.py").write_text(harm)
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
    lines = (tmp_path / "c" / "logs" / "migrants.log").read_text()
    assert lines.count(" lose ") <= 8, "nobody is lost but who read it"


def test_a_label_that_no_node_has_gets_a_sentence(nodes: Any) -> None:
    cluster, _ = nodes
    with pytest.raises(ClusterUnavailable, match="no node has the label 'near-mars'"):
        RayEngine(PATIENT, cluster.address, ("near0", "near-mars")).open()


def test_a_cluster_that_is_not_there_gets_a_sentence(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    command = [sys.executable, "-c", "import sys; from sanderling.cli import main; sys.exit(main())", "crawl",
               "http://127.0.0.1:1/", "-C", str(tmp_path), "--engine", "ray", "--address",
               f"127.0.0.1:{free_port()}"]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 17, done.stderr
    assert "no Ray cluster at 127.0.0.1" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_cluster_of_our_own_is_started_once_beside_clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    started: list[DriverProcess] = []

    class Counted(DriverProcess):
        def __init__(self) -> None:
            super().__init__()
            started.append(self)

    monkeypatch.setattr("sanderling.workers.ray.ray_engine.DriverProcess", Counted)
    with Site({"/": html("/a"), "/a": html()}) as site:
        line = ["crawl", site.root + "/", "-C", str(tmp_path), "--delay", "0", "--allow-private", "--workers", "1"]
        assert main([*line, "--limit", "1"]) in (0, 13)
        assert main([*line, "--clean", "--yes", "--engine", "ray", "--json"]) == 0
    assert len(started) == 1
    assert started[0].process.returncode == 0  # it was told to leave, and took its Ray with it
    with open_collection_read_only(tmp_path) as collection:
        assert len(list(load_pages(collection.db))) == 2


def test_ray_processes_do_not_execute_files_of_the_working_directory(tmp_path: Path) -> None:
    """Ray adds the working directory of its driver to the path of its workers; the folder of a user is no library."""
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
