"""Three hosts at addresses of their own: one is killed, the link to another is cut; nothing is lost."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.netns import Machine, machines, need_namespaces
from tests.support.site import tree

from sanderling.config.settings import HttpSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.session import CrawlRequest, CrawlSummary, crawl
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import load_pages
from sanderling.warc.warc_reader import StoredRecord, iterate_records
from sanderling.workers.migrant.keys import add_sender, create_key

SRC = Path(__file__).parent.parent.parent / "src"
PAGES = 120
PORT = 8443
COMMAND = [sys.executable, "-c", "import sys; from sanderling.cli import main; sys.exit(main())"]


class Far:
    """A host on a machine of its own, with a folder of pages; slow enough that much can happen meanwhile."""

    def __init__(self, machine: Machine, folder: Path) -> None:
        self.machine, self.folder = machine, folder
        self.site = f"http://{machine.address}"
        self.url = f"http://{machine.address}:{PORT}"
        (folder / "www").mkdir(parents=True)
        for path, page in tree(PAGES).items():
            name = "index.html" if path == "/" else f"{path[1:]}.html"
            body = page.body.replace(b'href="/p', b'href="/x').replace(b'">to', b'.html">to')
            body += f"<p>a page of {machine.address}</p>".encode()  # what is alike is stored once
            (folder / "www" / name).write_bytes(body.replace(b'href="/x', b'href="/p').replace(b'"/.html"', b'"/"'))
        (folder / "host.toml").write_text(
            f'name = "{machine.address}:{PORT}"\nlisten = "{machine.address}:{PORT}"\n[[site]]\n'
            f'site = "{self.site}"\nroot = "{folder / "www"}"\npages_per_second = 60.0\n'
        )
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = self.machine.inside([*COMMAND, "host", "run", str(self.folder / "host.toml"), "--quiet"])
        self.process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(SRC)})
        deadline = time.monotonic() + 120
        while not self._answers():
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def _answers(self) -> bool:
        try:
            socket.create_connection((self.machine.address, PORT), 2).close()
        except OSError:
            return False
        return True

    def kill(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()


@contextmanager
def hosts(folder: Path, count: int) -> Iterator[tuple[list[Far], Path]]:
    need_namespaces()
    pytest.importorskip("cryptography")
    public = create_key(folder / "crawler.key")
    with machines(count) as found:
        far = [Far(machine, folder / f"host{n}") for n, machine in enumerate(found)]
        try:
            for host in far:
                add_sender(host.folder / "senders", public, "crawler")
                host.start()
            yield far, folder / "crawler.key"
        finally:
            for host in far:
                host.kill()


class Crawling:
    """A crawl through hosts, in a thread of its own."""

    def __init__(self, folder: Path, far: list[Far], key: Path) -> None:
        self.folder = folder
        self.coordinator: Coordinator | None = None
        self.summary: CrawlSummary | None = None
        self.request = CrawlRequest(
            seeds=tuple(host.site + "/" for host in far),
            scope=ScopeSettings(sitemaps=False),
            politeness=PolitenessSettings(delay=0.0),
            fetching=HttpSettings(allow_private=True),
            workers=WorkerSettings(workers=1, lease=3600.0, migrant=tuple(host.url for host in far), key=str(key)),
        )
        self.thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        self.summary = crawl(self.folder, self.request, on_start=lambda found: setattr(self, "coordinator", found))

    def stored(self, host: Far) -> int:
        """How many pages of one host are stored by now."""
        if self.coordinator is None:
            return 0
        with open_collection_read_only(self.folder) as collection:
            return sum(row.url.startswith(host.site + "/") for row in load_pages(collection.db))

    def wait(self, ready: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 300
        while not ready():
            assert self.thread.is_alive()
            assert time.monotonic() < deadline
            time.sleep(0.02)


def check(folder: Path, far: list[Far]) -> None:
    """The stored set is what the hosts have, each page once."""
    there = {f"{host.site}/{path.name if path.name != 'index.html' else ''}"
             for host in far for path in (host.folder / "www").iterdir()}  # fmt: skip
    with open_collection_read_only(folder) as collection:
        assert {row.url for row in load_pages(collection.db)} == there
    records = [record for path in (folder / "archive").glob("*.gz") for record in iterate_records(path)]
    archived = [
        r.url for r in records if isinstance(r, StoredRecord) and (r.record_type, r.status) == ("response", 200)
    ]
    assert len(archived) == len(set(archived)) == len(there)


@pytest.mark.slow
def test_a_killed_host_and_a_cut_link_lose_nothing(tmp_path: Path) -> None:
    with hosts(tmp_path, 3) as (far, key):
        steady, killed, cut = far
        crawling = Crawling(tmp_path / "collection", far, key)
        crawling.thread.start()
        try:
            crawling.wait(lambda: crawling.stored(killed) > 5 and crawling.stored(cut) > 5)
            cut.machine.cut()
            killed.kill()
            killed.start()
            crawling.wait(lambda: crawling.stored(steady) + crawling.stored(killed) == 2 * PAGES)
            assert crawling.stored(cut) < PAGES
            cut.machine.mend()
        finally:
            crawling.thread.join(300)
        assert crawling.summary is not None
        assert (crawling.summary.finish_reason, crawling.summary.pages) == ("done", 3 * PAGES)
        assert crawling.summary.failed == 0
        check(tmp_path / "collection", far)


@pytest.mark.slow
def test_a_full_disk_at_a_host_costs_its_memory_and_nothing_else(tmp_path: Path) -> None:
    with hosts(tmp_path, 1) as (far, key):
        memories = far[0].folder / "memories"
        memories.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(memories)], check=True)
        try:
            for page in (far[0].folder / "www").iterdir():
                page.write_bytes(page.read_bytes() + os.urandom(600).hex().encode())
            crawling = Crawling(tmp_path / "collection", far, key)
            crawling.thread.start()
            crawling.thread.join(300)
            assert crawling.summary is not None
            assert (crawling.summary.finish_reason, crawling.summary.pages) == ("done", PAGES)
            check(tmp_path / "collection", far)
            assert not list(memories.iterdir()), "nothing half written stays"
        finally:
            subprocess.run(["umount", str(memories)], check=True)
