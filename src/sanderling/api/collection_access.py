"""A collection: crawl into it, refresh it, and delete from it."""

import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar, Unpack

from sanderling.api.archive_seal import SealReport, seal_archive
from sanderling.api.change import Change
from sanderling.api.collection_reader import CollectionReader
from sanderling.api.crawl_run import CrawlRun, StartHook, TickHook
from sanderling.api.crawl_settings import Settings, SettingValues
from sanderling.api.page import Page
from sanderling.api.page_links import PageLinks, load_page_links
from sanderling.api.version_pruning import PruneReport, prune_collection
from sanderling.crawl.refresh import RefreshMode, RefreshSummary, refresh
from sanderling.crawl.request import CrawlSummary, parse_seed
from sanderling.crawl.session import crawl
from sanderling.crawl.watch_service import WatchService
from sanderling.deletion.delete_pages import DeletionReport, delete_pages
from sanderling.deletion.selection import DeletionSelection
from sanderling.errors import UsageError
from sanderling.export.export_rows import ExportQuery
from sanderling.export.field_history import load_field_definitions
from sanderling.export.run_sink import SinkReport, SinkRequest, run_sink
from sanderling.monitor.page_fields import list_field_texts
from sanderling.monitor.watch import Watch
from sanderling.monitor.watch_file import build_watch
from sanderling.monitor.watch_store import WatchStore, has_watches
from sanderling.storage.collection import has_collection, open_collection_read_only
from sanderling.storage.collection import open_collection as create_collection
from sanderling.storage.collection_meta import CollectionMeta
from sanderling.templates.sample_pages import take_sample
from sanderling.templates.similar_pages import SimilarPage, find_stored

Time = datetime | float | str  # a timestamp, "2026-11-15", or "7d" (ago)
T = TypeVar("T")
__all__ = ["Collection", "crawl_site", "ensure_collection", "has_collection", "open_collection"]


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
        self.settings: Settings = settings or Settings()
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
        stored = self.load_settings()
        request = self.settings.merge(**settings).build_request((), stored)
        mode = RefreshMode.ALL if every_page else RefreshMode.ONCE

        def run(on_start: StartHook, on_tick: TickHook) -> RefreshSummary:
            return refresh(self.folder, request, mode, on_start=on_start, on_tick=on_tick)

        self._stop_abandoned_run()
        return CrawlRun(self, run, on_page, on_change).start()

    def load_settings(self) -> dict[str, object]:
        """Return the settings of the last crawl, as stored."""
        return self.query_stored(lambda stored: CollectionMeta(stored.db).settings)

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

    def links(self, url: str) -> PageLinks:
        """Return the links of a page with their text (`outgoing`), and the pages that link to it (`incoming`)."""
        return self.query_stored(lambda stored: load_page_links(stored, url))

    def prune(
        self,
        *,
        versions: int = 0,
        days: int = 0,
        monthly: bool = False,
        holds: Sequence[str] = (),
        dry_run: bool = False,
    ) -> PruneReport:
        """Erase the records of old versions, except the last ones, those of some days, or two of each month.

        The last version of a page is always kept; `holds` are regular expressions of URLs that keep all.
        """
        return prune_collection(
            self.folder, versions=versions, days=days, monthly=monthly, holds=holds, dry_run=dry_run
        )

    def seal(self, key: str | Path = "") -> SealReport:
        """Record digests of the WARC files, signed with a P-384 key in PEM; `sanderling verify` checks them."""
        return self.query_stored(lambda stored: seal_archive(stored, Path(key) if key else None))

    def similar(
        self, *urls: str, negatives: Sequence[str] = (), threshold: float | None = None, limit: int = 0
    ) -> list[SimilarPage]:
        """Return the stored pages built like these stored samples, most probable first (`url`, `probability`)."""
        if not urls:
            raise UsageError("no sample page given")
        samples = self.query_stored(lambda stored: [take_sample(url, stored, None) for url in urls])
        others = self.query_stored(lambda stored: [take_sample(url, stored, None) for url in negatives])
        return find_stored(self.folder, samples, others, threshold=threshold).pages[: limit or None]

    def sink(
        self,
        target: str | Path,
        *,
        text: Literal["", "text", "markdown"] = "",
        data: bool = False,
        fields: Mapping[str, str] | Sequence[str] = (),
        pattern: str = "*",
        format: str = "jsonl",
        restart: bool = False,
    ) -> SinkReport:
        """Send the pages that a target does not have yet: a folder, an fsspec address, PostgreSQL, or a webhook.

        The same call continues after the last page sent, as `sanderling sink` does.
        """
        definitions = self.query_stored(lambda stored: load_field_definitions(stored, list_field_texts(fields)))
        query = ExportQuery("pages", text, data, pattern, fields=definitions)
        return run_sink(self.folder, SinkRequest(str(target), query, format, restart=restart))

    def watch(self, *urls: str, site: bool = False, **options: object) -> Watch:
        """Add a watch of pages, or with `site` of their sites; a watch of the same name is replaced.

        Options are those of `sanderling watch`: `name`, `every="30m"`, `selector="#price"`, `condition="below 100"`,
        `notify="https://hooks.example.org/x"`, `pattern`, `kind`, `min_significance`, `ignore`, `digest_every`.
        """
        table = options | {"sites" if site else "urls": [parse_seed(url).url for url in urls]}
        watch = build_watch(table, time.time())
        with closing(WatchStore(self.folder)) as store:
            store.save_watch(watch)
        return watch

    def watches(self) -> list[Watch]:
        """Return the watches of this collection."""
        if not has_watches(self.folder):
            return []
        with closing(WatchStore(self.folder)) as store:
            return list(store.load_watches().values())

    def unwatch(self, name: str) -> None:
        """Delete a watch, by its name or URL."""
        with closing(WatchStore(self.folder)) as store:
            store.delete_watch(store.find_watch(name)[0])

    def check_watches(self, **settings: Unpack[SettingValues]) -> list[tuple[Watch, Change]]:
        """Visit the watched pages that are due, send notifications, and return the changes with their watch."""
        self._stop_abandoned_run()
        stored = (
            self.query_stored(lambda stored: CollectionMeta(stored.db).settings) if has_collection(self.folder) else {}
        )
        found: list[tuple[Watch, Change]] = []
        service = WatchService(
            self.folder,
            self.settings.merge(**settings).build_request((), stored),
            lambda watch, reported: found.append((watch, Change(self, reported))),
        )
        service.run(RefreshMode.ONCE)
        return found

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


def ensure_collection(folder: Path, *, create: bool) -> None:
    """Check that a collection can be opened, and with `create` make an empty one if there is none."""
    if create and not has_collection(folder):
        create_collection(folder).close()
    open_collection_read_only(folder).close()


def crawl_site(
    *urls: str, collection: str | Path = "collection", **settings: Unpack[SettingValues]
) -> CrawlRun[CrawlSummary]:
    """Start a crawl of these sites into a collection, or resume it. Iterate over the result for pages."""
    return Collection(collection).crawl(*urls, **settings)
