"""A disk that is busy holds up nobody, and nothing counts before it is on it."""

import os
import threading
from pathlib import Path

import pytest
from tests.web import Site, html

from sanderling.session import Request, crawl
from sanderling.settings import Fetching, Politeness, Workers
from sanderling.store.collection import read_collection
from sanderling.store.listing import pages

PAGES = 300


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
            with read_collection(self.folder) as collection:
                self.committed.append(sum(1 for _ in pages(collection.db)))
        self.sync(fd)


def test_all_that_is_known_is_asked_for_while_the_disk_is_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [f"/p{number}" for number in range(PAGES)]
    disk = Disk(tmp_path)
    monkeypatch.setattr(os, "fdatasync", disk.write)

    class Watched(Site):
        def answer(self, handler: object) -> None:
            super().answer(handler)  # type: ignore[arg-type]
            if len(self.hits) > PAGES:
                disk.free.set()

    with Watched({"/": html(*paths), **{path: html("/", text=path) for path in paths}}) as site:
        wish = Request(
            seeds=(site.root + "/",),
            politeness=Politeness(delay=0),
            fetching=Fetching(allow_private=True),
            workers=Workers(migrants=2),
        )
        assert crawl(tmp_path, wish).pages == PAGES + 1
    assert disk.committed[0] == 0
    assert max(site.hits.values()) == 1
