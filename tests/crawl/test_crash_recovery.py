"""kill -9 of the coordinator, of workers or of both loses nothing."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.support.site import Site, html, tree

from sanderling.models import Reason
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import load_pages, load_skipped_urls
from sanderling.warc.warc_reader import StoredRecord, iterate_records

SRC = Path(__file__).parents[2] / "src"
PAGES = 1500
KILLS = 20
MAX_LEASED = 2 * 160  # workers x tasks of a worker


def start(
    site: Site, folder: Path, delay: str = "0", workers: str = "2", path: str = str(SRC)
) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", "import sys; from sanderling.cli import main; sys.exit(main())", "crawl",
               site.root + "/", "-C", str(folder), "--delay", delay, "--allow-private", "--workers", workers,
               "--json"]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def list_worker_pids(process: subprocess.Popen[str]) -> list[int]:
    try:
        return [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
    except OSError:
        return []


def kill(process: subprocess.Popen[str], kind: int) -> None:
    """Kill the coordinator (0), a worker (1) or all of them (2)."""
    victims = (
        list_worker_pids(process)[:1] if kind == 1 else [process.pid, *(list_worker_pids(process) if kind == 2 else [])]
    )
    for pid in victims:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def wait_for_hits(site: Site, more: int, process: subprocess.Popen[str]) -> None:
    goal, deadline = sum(site.hits.values()) + more, time.monotonic() + 20
    while sum(site.hits.values()) < goal and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)


@pytest.mark.slow
def test_twenty_kills_lose_and_duplicate_nothing(tmp_path: Path) -> None:
    draw = random.Random(20)
    with Site(tree(PAGES)) as site:
        kills = 0
        process = start(site, tmp_path)
        while kills < KILLS:
            wait_for_hits(site, draw.randrange(5, 2 * PAGES // KILLS), process)
            if process.poll() is not None:
                break
            kind = kills % 3
            kill(process, kind)
            kills += 1
            if kind != 1:
                process.communicate()
                process = start(site, tmp_path)
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        assert json.loads(out.splitlines()[-1])["finish_reason"] == "done"
        assert kills >= KILLS // 2
        with open_collection_read_only(tmp_path) as collection:
            found = [row.url for row in load_pages(collection.db)]
        assert sorted(found) == sorted(site.root + path for path in site.pages)
        assert len(list_archived(tmp_path)) == len(set(list_archived(tmp_path))) == PAGES
        refetched = sum(count - 1 for path, count in site.hits.items() if path != "/robots.txt")
        assert refetched <= kills * MAX_LEASED


def list_archived(folder: Path) -> list[str]:
    """List the URLs of all responses in the archive; every record must be intact."""
    urls = []
    for path in sorted((folder / "archive").glob("*.warc.gz")):
        for record in iterate_records(path):
            assert isinstance(record, StoredRecord), record
            if record.record_type == "response" and record.status == 200:
                urls.append(record.url)
    return urls


KILLER = """
import os, signal
from sanderling.fetch.response_processor import ResponseProcessor
process = ResponseProcessor.process
ResponseProcessor.process = lambda self, stop, reply, at: (
    os.kill(os.getpid(), signal.SIGKILL) if b"poison" in reply.body else process(self, stop, reply, at)
)
"""


@pytest.mark.parametrize("delay", ["0", "0.01"])
def test_only_page_that_crashes_workers_is_given_up(tmp_path: Path, delay: str) -> None:
    (tmp_path / "sitecustomize.py").write_text(KILLER)
    with Site(tree(40, fan=40)) as site:
        site.pages["/p20"] = html(text="poison")
        process = start(site, tmp_path / "c", delay, path=f"{tmp_path}:{SRC}")
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        summary = json.loads(out.splitlines()[-1])
        assert (summary["pages"], summary["failed"]) == (39, 1)
        with open_collection_read_only(tmp_path / "c") as collection:
            lost = [row.url for row in load_skipped_urls(collection.db) if row.reason == Reason.WORKER_LOST]
        assert lost == [site.root + "/p20"]


def test_leased_pages_of_killed_workers_are_not_given_up(tmp_path: Path) -> None:
    with Site(tree(30, fan=30)) as site:
        process = start(site, tmp_path, delay="0.1", workers="1")
        wait_for_hits(site, 8, process)  # robots.txt, the seed, and guessed sitemaps
        for _ in range(12):
            wait_for_hits(site, 2, process)
            kill(process, 1)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        summary = json.loads(out.splitlines()[-1])
        assert (summary["pages"], summary["failed"]) == (30, 0)


@pytest.mark.slow
@pytest.mark.parametrize(("signals", "code"), [([signal.SIGINT], 11), ([signal.SIGTERM], 11)])
def test_interrupted_crawl_is_resumed(tmp_path: Path, signals: list[int], code: int) -> None:
    with Site(tree(600)) as site:
        process = start(site, tmp_path)
        wait_for_hits(site, 30, process)
        for number in signals:
            process.send_signal(number)
        out, err = process.communicate(timeout=60)
        assert process.returncode == code, err
        first = json.loads(out.splitlines()[-1])
        assert first["finish_reason"] == "interrupted"
        again = start(site, tmp_path)
        out, err = again.communicate(timeout=120)
        assert again.returncode == 0, err
        assert json.loads(out.splitlines()[-1])["pages"] == 600
        assert max(site.hits.values()) <= 2
