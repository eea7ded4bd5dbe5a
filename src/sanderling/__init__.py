"""Sanderling: an incremental web crawler, change detector and search engine.

>>> import sanderling
>>> with sanderling.open(example_folder) as c:
...     for page in c.pages():
...         print(page.title)
Tide tables
High water

The names listed in `__all__` are the public Python API, provisional until 1.0; everything else may change.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sanderling.api.aio import AsyncCollection, AsyncCrawlRun, open_async
    from sanderling.api.change import Change, Diff
    from sanderling.api.collection_access import Collection
    from sanderling.api.collection_access import crawl_site as crawl
    from sanderling.api.collection_access import open_collection as open
    from sanderling.api.crawl_run import CrawlRun
    from sanderling.api.crawl_settings import Settings
    from sanderling.api.page import Page, PageVersion
    from sanderling.db.backend import StorageBackend
    from sanderling.errors import (
        ClusterUnavailable,
        CollectionError,
        DatabaseUnavailable,
        DiskFull,
        MissingExtra,
        SanderlingError,
        SinkUnavailable,
        UsageError,
    )
    from sanderling.export.sink import Sink, SinkBatch, SinkColumn, SinkOptions
    from sanderling.plugins.protocols import ContentRule, DocumentReader, PageSource

__version__ = "0.1.0"
__all__ = [
    "AsyncCollection",
    "AsyncCrawlRun",
    "Change",
    "ClusterUnavailable",
    "Collection",
    "CollectionError",
    "ContentRule",
    "CrawlRun",
    "DatabaseUnavailable",
    "Diff",
    "DiskFull",
    "DocumentReader",
    "MissingExtra",
    "Page",
    "PageSource",
    "PageVersion",
    "SanderlingError",
    "Settings",
    "Sink",
    "SinkBatch",
    "SinkColumn",
    "SinkOptions",
    "SinkUnavailable",
    "StorageBackend",
    "UsageError",
    "crawl",
    "open",
    "open_async",
]
_MODULES = {
    "AsyncCollection": "api.aio",
    "AsyncCrawlRun": "api.aio",
    "Change": "api.change",
    "Collection": "api.collection_access",
    "ContentRule": "plugins.protocols",
    "CrawlRun": "api.crawl_run",
    "Diff": "api.change",
    "DocumentReader": "plugins.protocols",
    "Page": "api.page",
    "PageSource": "plugins.protocols",
    "PageVersion": "api.page",
    "Settings": "api.crawl_settings",
    "Sink": "export.sink",
    "SinkBatch": "export.sink",
    "SinkColumn": "export.sink",
    "SinkOptions": "export.sink",
    "StorageBackend": "db.backend",
    "open_async": "api.aio",
}
_RENAMED = {"crawl": ("api.collection_access", "crawl_site"), "open": ("api.collection_access", "open_collection")}


def __getattr__(name: str) -> object:
    """Import public names at their first use: commands start without loading all of them."""
    if name not in __all__:
        raise AttributeError(f"module 'sanderling' has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _RENAMED.get(name, (_MODULES.get(name, "errors"), name))
    return getattr(import_module(f"sanderling.{module}"), attribute)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
