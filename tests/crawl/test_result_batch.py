"""A disk that is busy holds up nobody, and nothing counts before it is on it."""

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


class Disk:
    """Keeps what it is to write until it is let go; meanwhile it looks at what is committed."""

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
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    made = Disk(tmp_path)
    monkeypatch.setattr(os, "fdatasync", made.write)
    return made


def wish(site: Site) -> CrawlRequest:
    return CrawlRequest(
        seeds=(site.root + "/",),
        politeness=PolitenessSettings(delay=0),
        fetching=HttpSettings(allow_private=True),
        workers=WorkerSettings(workers=2),
    )


def stored(folder: Path) -> tuple[int, int]:
    """The visits in the catalogue, and the answers in the archive."""
    with open_collection_read_only(folder) as collection:
        (visits,) = collection.db.execute("SELECT count(*) FROM visits").fetchone()
    records = [
        record for path in (folder / "archive").glob("*.warc.gz") for record in iterate_records(path, max_body_bytes=0)
    ]
    return visits, sum(isinstance(record, StoredRecord) and record.record_type == "response" for record in records)


def linked(folder: Path) -> tuple[int, int]:
    """The links that were counted, and the back links that were written."""
    with open_collection_read_only(folder) as collection:
        (size,) = collection.db.execute("SELECT sum(length(packed)) FROM shelves").fetchone()
        return load_duplicate_stats(collection.db).links, size // SOURCE_BYTES


def test_all_that_is_known_is_asked_for_while_the_disk_is_busy(tmp_path: Path, disk: Disk) -> None:
    class Watched(Site):
        def answer(self, handler: object) -> None:
            super().answer(handler)  # type: ignore[arg-type]
            if len(self.hits) > PAGES:
                disk.free.set()

    with Watched(FLAT) as site:
        assert crawl(tmp_path, wish(site)).pages == PAGES + 1
    assert disk.committed[0] == 0
    assert max(site.hits.values()) == 1


@pytest.mark.parametrize("is_low", [True, False])
def test_a_disk_that_fills_up_meanwhile_leaves_no_page_without_its_visit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, disk: Disk, is_low: bool
) -> None:
    hand_out, usage = Dispatcher.dispatch_batches, shutil.disk_usage

    def is_full() -> bool:
        if len(site.hits) > 20:
            disk.free.set()
        return disk.free.is_set()

    def measured(folder: Path) -> object:
        return SimpleNamespace(free=0) if is_low and is_full() else usage(folder)

    def refused(errands: Dispatcher) -> None:
        if not is_low and is_full():
            raise DiskFull("no space left")
        hand_out(errands)

    with Site(FLAT) as site:
        with monkeypatch.context() as full:
            full.setattr(shutil, "disk_usage", measured)
            full.setattr(Dispatcher, "dispatch_batches", refused)
            assert crawl(tmp_path, wish(site)).finish_reason == "disk_full"
        visits, answers = stored(tmp_path)
        assert visits == answers < PAGES
        assert crawl(tmp_path, wish(site)).pages == PAGES + 1
        visits, answers = stored(tmp_path)
        assert visits == answers
    assert linked(tmp_path) == (2 * PAGES, 2 * PAGES)


def test_a_host_that_complains_is_left_alone_while_the_disk_is_busy(tmp_path: Path, disk: Disk) -> None:
    class Limited(Site):
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

    with Limited(FLAT) as site:
        assert crawl(tmp_path, wish(site), on_tick=site.tick).pages == PAGES + 1
    assert 0 < site.complaints <= 2 * MIN_PENDING_TASKS
