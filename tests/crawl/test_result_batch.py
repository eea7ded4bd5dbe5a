"""Batches are committed only when they are on disk, and a busy disk does not stop the crawl."""

import os
import shutil
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.support.site import Page, Site, html

from sanderling.config.settings import HttpSettings, PolitenessSettings, WorkerSettings
from sanderling.crawl.dispatch import MIN_PENDING_TASKS, Dispatcher
from sanderling.crawl.session import CrawlRequest, crawl
from sanderling.dedup.duplicate_stats import load_duplicate_stats
from sanderling.errors import DiskFull
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.link_graph import SOURCE_BYTES
from sanderling.storage.queries import load_pages
from sanderling.warc.warc_reader import StoredRecord, iterate_records

PAGES = 300
PATHS = [f"/p{number}" for number in range(PAGES)]
FLAT = {"/": html(*PATHS), **{path: html("/", text=path) for path in PATHS}}


class SlowDisk:
    """Delays writes until released, and records how many pages are committed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.free = threading.Event()
        self.sync = os.fdatasync
        self.committed: list[int] = []

    def write(self, fd: int) -> None:
        if threading.current_thread().name.startswith("disk"):
            assert self.free.wait(60), "the crawl waits for the disk"
            with open_collection_read_only(self.folder) as collection:
                self.committed.append(sum(1 for _ in load_pages(collection.db)))
        self.sync(fd)


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SlowDisk:
    slow_disk = SlowDisk(tmp_path)
    monkeypatch.setattr(os, "fdatasync", slow_disk.write)
    return slow_disk


def build_request(site: Site) -> CrawlRequest:
    return CrawlRequest(
        seeds=(site.root + "/",),
        politeness=PolitenessSettings(delay=0),
        fetching=HttpSettings(allow_private=True),
        workers=WorkerSettings(workers=2),
    )


def count_stored(folder: Path) -> tuple[int, int]:
    """Count visits in the catalog and responses in the archive."""
    with open_collection_read_only(folder) as collection:
        (visits,) = collection.db.execute("SELECT count(*) FROM visits").fetchone()
    records = [
        record for path in (folder / "archive").glob("*.warc.gz") for record in iterate_records(path, max_body_bytes=0)
    ]
    return visits, sum(isinstance(record, StoredRecord) and record.record_type == "response" for record in records)


def count_links(folder: Path) -> tuple[int, int]:
    """Count links and stored backlinks."""
    with open_collection_read_only(folder) as collection:
        (size,) = collection.db.execute("SELECT sum(length(packed)) FROM backlink_buckets").fetchone()
        return load_duplicate_stats(collection.db).links, size // SOURCE_BYTES


def test_dispatch_continues_while_disk_is_busy(tmp_path: Path, disk: SlowDisk) -> None:
    class ObservedSite(Site):
        def answer(self, handler: object) -> None:
            super().answer(handler)  # type: ignore[arg-type]
            if len(self.hits) > PAGES:
                disk.free.set()

    with ObservedSite(FLAT) as site:
        assert crawl(tmp_path, build_request(site)).pages == PAGES + 1
    assert disk.committed[0] == 0
    assert max(site.hits.values()) == 1


@pytest.mark.parametrize("is_low", [True, False])
def test_full_disk_leaves_archive_and_catalog_consistent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, disk: SlowDisk, is_low: bool
) -> None:
    dispatch, usage = Dispatcher.dispatch_batches, shutil.disk_usage

    def is_full() -> bool:
        if len(site.hits) > 20:
            disk.free.set()
        return disk.free.is_set()

    def get_usage(folder: Path) -> object:
        return SimpleNamespace(free=0) if is_low and is_full() else usage(folder)

    def dispatch_or_fail(dispatcher: Dispatcher) -> None:
        if not is_low and is_full():
            raise DiskFull("no space left")
        dispatch(dispatcher)

    with Site(FLAT) as site:
        with monkeypatch.context() as full:
            full.setattr(shutil, "disk_usage", get_usage)
            full.setattr(Dispatcher, "dispatch_batches", dispatch_or_fail)
            assert crawl(tmp_path, build_request(site)).finish_reason == "disk_full"
        visits, answers = count_stored(tmp_path)
        assert visits == answers < PAGES
        assert crawl(tmp_path, build_request(site)).pages == PAGES + 1
        visits, answers = count_stored(tmp_path)
        assert visits == answers
    assert count_links(tmp_path) == (2 * PAGES, 2 * PAGES)


def test_rate_limited_host_is_not_requested_while_disk_is_busy(tmp_path: Path, disk: SlowDisk) -> None:
    class LimitedSite(Site):
        complaints, ticks = 0, 0

        def answer(self, handler: object) -> None:
            if len(self.hits) > 30 and not disk.free.is_set():
                self.pages = dict.fromkeys(FLAT, Page(b"", 429, {"Retry-After": "1"}))
                self.complaints += 1
            elif disk.free.is_set():
                self.pages = dict(FLAT)
            super().answer(handler)  # type: ignore[arg-type]

        def tick(self, _: object) -> None:
            self.ticks += self.complaints > 0
            if self.ticks >= 3:
                disk.free.set()

    with LimitedSite(FLAT) as site:
        assert crawl(tmp_path, build_request(site), on_tick=site.tick).pages == PAGES + 1
    assert 0 < site.complaints <= 2 * MIN_PENDING_TASKS
