"""The Python API for asyncio: the same methods, awaited. A thread per collection does the work, not the event loop."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, Unpack

from sanderling.api.change import Change, Diff
from sanderling.api.collection_access import Collection, Time
from sanderling.api.crawl_run import CrawlRun, S
from sanderling.api.crawl_settings import Settings, SettingValues
from sanderling.api.page import Page, PageVersion
from sanderling.crawl.refresh import RefreshSummary
from sanderling.crawl.request import CrawlSummary
from sanderling.crawl.stop import CrawlProgress

if TYPE_CHECKING:  # the index is an optional part
    from sanderling.deletion.delete_pages import DeletionReport
    from sanderling.search.search_types import SearchResults

T = TypeVar("T")
END = object()


class AsyncCrawlRun(Generic[S]):
    """A running crawl or refresh: `async for page in run`, or `await run.wait()`."""

    def __init__(self, collection: "AsyncCollection", run: CrawlRun[S]) -> None:
        self._collection, self._run = collection, run

    def __aiter__(self) -> AsyncIterator[Page]:
        return self

    async def __anext__(self) -> Page:
        page = await self._collection.call(next, self._run, END)
        if page is END:
            raise StopAsyncIteration
        assert isinstance(page, Page)
        return page

    async def wait(self) -> S:
        """Wait for the end and return the summary."""
        return await self._collection.call(self._run.wait)

    async def changes(self, *, kind: str | Sequence[str] = (), min_significance: float = 0.0) -> list[Change]:
        """Wait for the end and return the changes found by this run."""
        return await self._collection.call(partial(self._run.changes, kind=kind, min_significance=min_significance))

    async def stop(self) -> None:
        """Stop after the requests in flight."""
        await self._collection.call(self._run.stop)

    @property
    def progress(self) -> CrawlProgress | None:
        """Counters of the run; None before the first second."""
        return self._run.progress


class AsyncCollection:
    """A collection for asyncio code; see `Collection` for the methods."""

    def __init__(self, folder: str | Path = "collection", settings: Settings | None = None) -> None:
        self.collection: Collection = Collection(folder, settings)
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="sanderling")

    async def call(self, function: Callable[..., T], *args: Any) -> T:
        """Run a function in the thread of this collection. Bodies of pages are read when used: use them there."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, function, *args)

    async def crawl(self, *urls: str, **settings: Unpack[SettingValues]) -> AsyncCrawlRun[CrawlSummary]:
        """Start a crawl, or resume it."""
        return AsyncCrawlRun(self, await self.call(partial(self.collection.crawl, *urls, **settings)))

    async def refresh(
        self, *, every_page: bool = False, **settings: Unpack[SettingValues]
    ) -> AsyncCrawlRun[RefreshSummary]:
        """Visit the pages that are due, or every page."""
        return AsyncCrawlRun(self, await self.call(partial(self.collection.refresh, every_page=every_page, **settings)))

    async def pages(self, pattern: str = "*", *, changed_since: Time | None = None) -> AsyncIterator[Page]:
        """Yield the stored pages."""
        found = self.collection.pages(pattern, changed_since=changed_since)
        while (page := await self.call(next, found, END)) is not END:
            assert isinstance(page, Page)
            yield page

    async def page(self, url: str) -> Page:
        """Return a stored page."""
        return await self.call(self.collection.page, url)

    async def markdown(self, url: str, when: Time | None = None) -> str:
        """Return the main content of a page as Markdown, now or at a time."""

        def read() -> str:
            return (self.collection.page(url) if when is None else self.collection.at(url, when)).markdown

        return await self.call(read)

    async def versions(self, url: str) -> list[PageVersion]:
        """Return all stored versions of a page, oldest first."""
        return await self.call(self.collection.versions, url)

    async def changes(
        self, *, since: Time = 0.0, kind: str | Sequence[str] = (), min_significance: float = 0.0, pattern: str = "*"
    ) -> list[Change]:
        """Return the changes, newest first."""
        find = partial(
            self.collection.changes, since=since, kind=kind, min_significance=min_significance, pattern=pattern
        )
        return await self.call(find)

    async def diff(self, url: str, old: int | Time | None = None, new: int | Time | None = None) -> Diff:
        """Compare two versions of a page, by default the last two."""
        return await self.call(self.collection.diff, url, old, new)

    async def search(self, query: str, *, limit: int = 10, offset: int = 0) -> "SearchResults":
        """Search the stored pages."""
        return await self.call(partial(self.collection.search, query, limit=limit, offset=offset))

    async def export(self, path: str | Path, format: str = "", **options: Any) -> int:
        """Write pages, versions, links, or changes to a file, with the options of `Collection.export`."""
        return await self.call(partial(self.collection.export, path, format, **options))

    async def delete(self, *patterns: str) -> "DeletionReport":
        """Delete pages permanently."""
        return await self.call(self.collection.delete, *patterns)

    async def status(self) -> dict[str, object]:
        """Return size and state of the collection."""
        return await self.call(self.collection.status)

    async def close(self) -> None:
        """Close the collection. A running crawl is stopped; it can be resumed."""
        await self.call(self.collection.close)
        self._executor.shutdown(wait=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.call(self.collection.__exit__, error_type, error, trace)
        self._executor.shutdown(wait=False)


def open_async(folder: str | Path = "collection", settings: Settings | None = None) -> AsyncCollection:
    """Open a collection for asyncio code, for use with `async with`."""
    return AsyncCollection(folder, settings)
