"""A collection: crawl into it, refresh it, and delete from it."""

import weakref
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

from sanderling.api.change import Change
from sanderling.api.collection_reader import CollectionReader
from sanderling.api.crawl_run import CrawlRun, StartHook, TickHook
from sanderling.api.crawl_settings import Settings, SettingValues
from sanderling.api.page import Page
from sanderling.crawl.refresh import RefreshMode, RefreshSummary, refresh
from sanderling.crawl.request import CrawlSummary
from sanderling.crawl.session import crawl
from sanderling.deletion.delete_pages import DeletionReport, delete_pages
from sanderling.deletion.selection import DeletionSelection
from sanderling.errors import UsageError
from sanderling.storage.collection import has_collection
from sanderling.storage.collection_meta import CollectionMeta

if TYPE_CHECKING:  # the index is an optional part
    pass

Time = datetime | float | str  # a timestamp, "2026-11-15", or "7d" (ago)
T = TypeVar("T")


class Collection(CollectionReader):
    """A folder with pages, their versions, and their changes. Use it from one thread, or open one per thread.

    >>> with open_collection(example_folder) as c:
    ...     for page in c.pages():
    ...         print(page.title)
    Tide tables
    High water
    """

    def __init__(self, folder: str | Path = "collection", settings: Settings | None = None) -> None:
        super().__init__(folder)
        self.settings = settings or Settings()
        self._run: weakref.ref[CrawlRun[Any]] | None = None

    def crawl(
        self,
        *urls: str,
        on_page: Callable[[Page], None] | None = None,
        on_change: Callable[[Change], None] | None = None,
        **settings: Unpack[SettingValues],
    ) -> CrawlRun[CrawlSummary]:
        """Start a crawl of these sites, or resume it. Iterate over the result for pages as they are stored.

        Breaking out of the loop stops the crawl at the next call of this collection; `wait()` runs it to the end.
        """
        if not urls and not has_collection(self.folder):
            raise UsageError("no URL given: collection.crawl('https://example.org/')")
        request = self.settings.merge(**settings).build_request(urls)

        def run(on_start: StartHook, on_tick: TickHook) -> CrawlSummary:
            return crawl(self.folder, request, on_start=on_start, on_tick=on_tick)

        self._stop_abandoned_run()
        return CrawlRun(self, run, on_page, on_change).start()

    def refresh(
        self,
        *,
        every_page: bool = False,
        on_page: Callable[[Page], None] | None = None,
        on_change: Callable[[Change], None] | None = None,
        **settings: Unpack[SettingValues],
    ) -> CrawlRun[RefreshSummary]:
        """Visit the pages that are due, or every page. Settings not given are those of the last crawl."""
        stored = self._read(lambda stored: CollectionMeta(stored.db).settings)
        request = self.settings.merge(**settings).build_request((), stored)
        mode = RefreshMode.ALL if every_page else RefreshMode.ONCE

        def run(on_start: StartHook, on_tick: TickHook) -> RefreshSummary:
            return refresh(self.folder, request, mode, on_start=on_start, on_tick=on_tick)

        self._stop_abandoned_run()
        return CrawlRun(self, run, on_page, on_change).start()

    def _begin_run(self, run: CrawlRun[Any]) -> None:
        self._run = weakref.ref(run)

    def _end_run(self, run: object) -> None:
        if self._run is not None and self._run() is run:
            self._run = None

    def _stop_abandoned_run(self) -> None:
        """Stop a run that is still going on: its loop was left by `break`."""
        run = self._run() if self._run is not None else None
        if run is not None:
            run.stop()
        self._run = None

    def delete(self, *patterns: str) -> DeletionReport:
        """Delete pages permanently from catalog, archive, and indexes, and keep them out of later crawls."""
        if not patterns:
            raise UsageError("no URL or pattern given")
        self._stop_abandoned_run()
        urls = [pattern if "*" in pattern else self.page(pattern).url for pattern in patterns]
        return delete_pages(self.folder, DeletionSelection(urls))

    def close(self) -> None:
        """Close the collection. A running crawl is stopped; it can be resumed."""
        self._stop_abandoned_run()
        if self._stored is not None:
            self._stored.close()
            self._stored = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        run = self._run() if self._run is not None and error is None else None
        if run is not None and not run.was_iterated:
            run.wait()
        self.close()

    def __repr__(self) -> str:
        return f"<Collection {self.folder}>"


def open_collection(folder: str | Path = "collection", settings: Settings | None = None) -> Collection:
    """Open a collection. The folder is created by the first crawl."""
    return Collection(folder, settings)


def crawl_site(
    *urls: str, collection: str | Path = "collection", **settings: Unpack[SettingValues]
) -> CrawlRun[CrawlSummary]:
    """Start a crawl of these sites into a collection, or resume it. Iterate over the result for pages."""
    return Collection(collection).crawl(*urls, **settings)
