"""The whole crawler against the hostile server: it terminates, and every URL has a state and a reason."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from tests.hostile.server import PAGES, HostileServer
from tests.support.site import Page, Site, html, tree

from sanderling.config.settings import HttpSettings, LimitSettings, PolitenessSettings, ScopeSettings, WorkerSettings
from sanderling.crawl.session import CrawlRequest, crawl
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import load_pages, load_skipped_urls

SRC = Path(__file__).parent.parent.parent / "src"
COMMAND = [sys.executable, "-c", "import sys; from sanderling.cli import main; sys.exit(main())"]


def crawl_and_report(
    folder: Path, *seeds: str, limits: LimitSettings | None = None, exclude: tuple[str, ...] = ()
) -> dict[str, str]:
    """Crawl with short timeouts; return the status, or state and reason, of each URL."""
    crawl(
        folder,
        CrawlRequest(
            seeds=seeds,
            scope=ScopeSettings(exclude=exclude),
            limits=limits or LimitSettings(time_limit=90),
            politeness=PolitenessSettings(delay=0, concurrency=8, backoff=0.2),
            fetching=HttpSettings(allow_private=True, timeout=6, max_body=3_000_000),
            workers=WorkerSettings(workers=2),
        ),
    )
    with open_collection_read_only(folder) as collection:
        outcomes = {row.url: str(row.status) for row in load_pages(collection.db)}
        outcomes.update({row.url: f"{row.state} {row.reason}" for row in load_skipped_urls(collection.db)})
    return outcomes


@pytest.mark.slow
@pytest.mark.usefixtures("soon_again")
def test_every_misbehavior_ends_in_a_state_with_a_reason(tmp_path: Path) -> None:
    with HostileServer() as server:
        seeds = [server.host + path.replace("*", "1") for path in PAGES if not path.startswith(("/busy", "/calendar"))]
        outcomes = crawl_and_report(tmp_path, *seeds, exclude=("/busy", "/calendar"))
        assert not {url for url in seeds if url not in outcomes}
        assert not {url: outcome for url, outcome in outcomes.items() if outcome.startswith("queued")}
        assert not {url: outcome for url, outcome in outcomes.items() if outcome in ("skipped ", "failed ")}


def test_aborted_body_counts_as_downloaded(tmp_path: Path) -> None:
    with HostileServer() as server:
        summary = crawl(
            tmp_path,
            CrawlRequest(
                seeds=(server.host + "/endless-chunks", server.host + "/endless-body"),
                politeness=PolitenessSettings(delay=0),
                fetching=HttpSettings(allow_private=True, max_body=300_000),
                workers=WorkerSettings(workers=1),
            ),
        )
        assert (summary.skipped, summary.pages) == (2, 0)
        assert summary.bytes >= 600_000


def test_retry_after_of_a_day_is_left_to_the_next_run(tmp_path: Path) -> None:
    with HostileServer() as server:
        outcomes = crawl_and_report(tmp_path, server.host + "/busy-for-ever")
        assert outcomes == {server.host + "/busy-for-ever": "queued rate_limited"}
        with open_collection_read_only(tmp_path) as collection:
            assert collection.db.execute("SELECT finish_reason FROM runs").fetchall() == [("backed_off",)]


@pytest.mark.slow
def test_endless_traps_are_bounded(tmp_path: Path) -> None:
    """Calendar, session ids and growing paths, generated for every request."""

    class Trap(Site):
        def answer(self, handler: object) -> None:
            path = getattr(handler, "path", "/")
            number = len(self.requests)
            self.pages[path] = html(
                f"{path.rstrip('/')}/more", f"/cal?year={2026 + number // 12}&month={number % 12 + 1}",
                f"/x?PHPSESSID={number:032x}", f"/list?sort={number}", text=str(number),
            )  # fmt: skip
            super().answer(handler)  # type: ignore[arg-type]

    with Trap({"/": html()}) as site:
        outcomes = crawl_and_report(tmp_path, site.root + "/", limits=LimitSettings(limit=400))
        assert sum(outcome == "skipped trap" for outcome in outcomes.values()) > 100
        deepest = max(url.partition("?")[0].count("/more") for url, outcome in outcomes.items() if outcome == "200")
        assert deepest <= 3
        assert not [url for url, outcome in outcomes.items() if "PHPSESSID" in url and outcome == "200"]


def test_links_per_page_are_limited(tmp_path: Path) -> None:
    links = "".join(f"<a href=/n{n}>x</a>" for n in range(100_000))
    with Site({"/": Page(links.encode())}) as site:
        outcomes = crawl_and_report(tmp_path, site.root + "/", limits=LimitSettings(limit=1))
        assert 9_000 < len(outcomes) <= 10_001


PAGE_COUNT = 1_000  # compressed pages of 40 KB; a seventh of them fits on the disk


def run_on_small_disk(command: list[str], folder: Path, megabytes: int) -> subprocess.CompletedProcess[str]:
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a tmpfs cannot be mounted here")
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(SRC)}, check=False
    )


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root")
def test_full_disk_stops_the_crawl_without_data_loss(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    site_pages = tree(PAGE_COUNT)
    for path in list(site_pages):
        site_pages[path].body += os.urandom(40_000).hex().encode()
    with Site(site_pages) as site:
        command = [
            *COMMAND,
            "crawl",
            site.root + "/",
            "-C",
            str(disk / "c"),
            "--delay",
            "0",
            "--allow-private",
            "--json",
        ]
        try:
            full = run_on_small_disk(command, disk, 56)
            assert full.returncode == 3, full.stderr
            assert json.loads(full.stdout.splitlines()[-1])["finish_reason"] == "disk_full"
            listed = subprocess.run(
                [*COMMAND, "pages", "-C", str(disk / "c"), "--json"], capture_output=True, text=True, check=True,
                env={**os.environ, "PYTHONPATH": str(SRC)},
            )  # fmt: skip
            stored = len(listed.stdout.splitlines())
            subprocess.run(["mount", "-o", "remount,size=300m", str(disk)], check=True)
            done = subprocess.run(
                command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(SRC)}, check=False
            )
            summary = json.loads(done.stdout.splitlines()[-1])
            assert (done.returncode, summary["pages"]) == (0, PAGE_COUNT), done.stderr
            assert summary["fetched"] == PAGE_COUNT - stored
        finally:
            subprocess.run(["umount", "-l", str(disk)], check=False)


def test_file_size_limit_counts_as_full_disk(tmp_path: Path) -> None:
    site_pages = tree(60)
    for path in list(site_pages):
        site_pages[path].body += os.urandom(30_000).hex().encode()
    with Site(site_pages) as site:
        command = [*COMMAND, "crawl", site.root + "/", "-C", str(tmp_path), "--delay", "0", "--allow-private"]
        done = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(SRC)}, check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000)),
        )  # fmt: skip
        assert done.returncode == 3, done.stderr
