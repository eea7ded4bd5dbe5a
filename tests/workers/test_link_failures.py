"""Crawls through migrants that are killed, disconnected, or out of disk space lose no page."""

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


class RemoteMigrant:
    """A migrant in a network namespace, with a folder of pages and a low rate limit."""

    def __init__(self, machine: Machine, folder: Path) -> None:
        self.machine, self.folder = machine, folder
        self.site = f"http://{machine.address}"
        self.url = f"http://{machine.address}:{PORT}"
        (folder / "www").mkdir(parents=True)
        for path, page in tree(PAGES).items():
            name = "index.html" if path == "/" else f"{path[1:]}.html"
            body = page.body.replace(b'href="/p', b'href="/x').replace(b'">to', b'.html">to')
            body += f"<p>a page of {machine.address}</p>".encode()  # duplicates are stored once
            (folder / "www" / name).write_bytes(body.replace(b'href="/x', b'href="/p').replace(b'"/.html"', b'"/"'))
        (folder / "migrant.toml").write_text(
            f'name = "{machine.address}:{PORT}"\nlisten = "{machine.address}:{PORT}"\n[[site]]\n'
            f'site = "{self.site}"\nroot = "{folder / "www"}"\npages_per_second = 60.0\n'
        )
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = self.machine.inside([*COMMAND, "migrant", "run", str(self.folder / "migrant.toml"), "--quiet"])
        self.process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(SRC)})
        deadline = time.monotonic() + 120
        while not self._is_listening():
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def _is_listening(self) -> bool:
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
def migrants(folder: Path, count: int) -> Iterator[tuple[list[RemoteMigrant], Path]]:
    need_namespaces()
    pytest.importorskip("cryptography")
    public = create_key(folder / "crawler.key")
    with machines(count) as found:
        remote = [RemoteMigrant(machine, folder / f"migrant{n}") for n, machine in enumerate(found)]
        try:
            for migrant in remote:
                add_sender(migrant.folder / "senders", public, "crawler")
                migrant.start()
            yield remote, folder / "crawler.key"
        finally:
            for migrant in remote:
                migrant.kill()


class CrawlThread:
    """A crawl through migrants in a thread."""

    def __init__(self, folder: Path, remote: list[RemoteMigrant], key: Path) -> None:
        self.folder = folder
        self.coordinator: Coordinator | None = None
        self.summary: CrawlSummary | None = None
        self.request = CrawlRequest(
            seeds=tuple(migrant.site + "/" for migrant in remote),
            scope=ScopeSettings(sitemaps=False),
            politeness=PolitenessSettings(delay=0.0),
            fetching=HttpSettings(allow_private=True),
            workers=WorkerSettings(
                workers=1, lease=3600.0, migrant=tuple(migrant.url for migrant in remote), key=str(key)
            ),
        )
        self.thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        self.summary = crawl(self.folder, self.request, on_start=lambda found: setattr(self, "coordinator", found))

    def count_stored(self, migrant: RemoteMigrant) -> int:
        """Return the number of stored pages of a migrant."""
        if self.coordinator is None:
            return 0
        with open_collection_read_only(self.folder) as collection:
            return sum(row.url.startswith(migrant.site + "/") for row in load_pages(collection.db))

    def wait(self, ready: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 300
        while not ready():
            assert self.thread.is_alive()
            assert time.monotonic() < deadline
            time.sleep(0.02)


def check_stored(folder: Path, remote: list[RemoteMigrant]) -> None:
    """Check that all pages of the migrants are stored, each once."""
    expected = {f"{migrant.site}/{path.name if path.name != 'index.html' else ''}"
             for migrant in remote for path in (migrant.folder / "www").iterdir()}  # fmt: skip
    with open_collection_read_only(folder) as collection:
        assert {row.url for row in load_pages(collection.db)} == expected
    records = [record for path in (folder / "archive").glob("*.gz") for record in iterate_records(path)]
    archived = [
        r.url for r in records if isinstance(r, StoredRecord) and (r.record_type, r.status) == ("response", 200)
    ]
    assert len(archived) == len(set(archived)) == len(expected)


@pytest.mark.slow
def test_killed_migrant_and_broken_connection_lose_no_page(tmp_path: Path) -> None:
    with migrants(tmp_path, 3) as (remote, key):
        steady, killed, cut = remote
        crawling = CrawlThread(tmp_path / "collection", remote, key)
        crawling.thread.start()
        try:
            crawling.wait(lambda: crawling.count_stored(killed) > 5 and crawling.count_stored(cut) > 5)
            cut.machine.cut()
            killed.kill()
            killed.start()
            crawling.wait(lambda: crawling.count_stored(steady) + crawling.count_stored(killed) == 2 * PAGES)
            assert crawling.count_stored(cut) < PAGES
            cut.machine.mend()
        finally:
            crawling.thread.join(300)
        assert crawling.summary is not None
        assert (crawling.summary.finish_reason, crawling.summary.pages) == ("done", 3 * PAGES)
        assert crawling.summary.failed == 0
        check_stored(tmp_path / "collection", remote)


@pytest.mark.slow
def test_full_disk_of_a_migrant_costs_only_its_dictionary(tmp_path: Path) -> None:
    with migrants(tmp_path, 1) as (remote, key):
        dictionaries = remote[0].folder / "memories"
        dictionaries.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(dictionaries)], check=True)
        try:
            for page in (remote[0].folder / "www").iterdir():
                page.write_bytes(page.read_bytes() + os.urandom(600).hex().encode())
            crawling = CrawlThread(tmp_path / "collection", remote, key)
            crawling.thread.start()
            crawling.thread.join(300)
            assert crawling.summary is not None
            assert (crawling.summary.finish_reason, crawling.summary.pages) == ("done", PAGES)
            check_stored(tmp_path / "collection", remote)
            assert not list(dictionaries.iterdir()), "no partial file"
        finally:
            subprocess.run(["umount", str(dictionaries)], check=True)
