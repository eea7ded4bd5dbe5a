"""Services of the HTTP API, shared by its operations."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from msgspec import Struct

from sanderling.api.collection_access import Collection
from sanderling.web.rest.api_tokens import TokenStore
from sanderling.web.rest.crawl_jobs import CrawlJobs


class RestServices(Struct, frozen=True):
    """Tokens, crawl jobs, and access to the collection."""

    folder: Path
    tokens: TokenStore
    jobs: CrawlJobs

    @contextmanager
    def open_collection(self) -> Iterator[Collection]:
        """Open the collection for the thread of a request."""
        with closing(Collection(self.folder)) as collection:
            yield collection

    def close(self) -> None:
        self.tokens.close()
        self.jobs.close()


def open_rest_services(folder: Path) -> RestServices:
    return RestServices(folder, TokenStore(folder), CrawlJobs(folder))
