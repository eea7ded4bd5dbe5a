"""The services that each stage needs. Only the pipeline sees the whole `CrawlContext`, which has all of them."""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from sanderling.changes.change_store import ChangeStore
    from sanderling.crawl.context import CrawlOptions, PageStorage, RevisitServices, RunState, RunStats
    from sanderling.crawl.stages.form_queries import FormQueries
    from sanderling.db.connection import Connection
    from sanderling.dedup.near_duplicates import IncrementalPairing
    from sanderling.frontier.frontier import Frontier
    from sanderling.frontier.ordering.protocol import Ordering
    from sanderling.storage.crawl_log import CrawlLog


class HasChanges(Protocol):
    @property
    def changes(self) -> "ChangeStore": ...


class HasDb(Protocol):
    @property
    def db(self) -> "Connection": ...


class HasFormQueries(Protocol):
    @property
    def form_queries(self) -> "FormQueries | None": ...


class HasFrontier(Protocol):
    @property
    def frontier(self) -> "Frontier": ...


class HasLog(Protocol):
    @property
    def log(self) -> "CrawlLog": ...


class HasNearDuplicates(Protocol):
    @property
    def near_duplicates(self) -> "IncrementalPairing": ...


class HasOptions(Protocol):
    @property
    def options(self) -> "CrawlOptions": ...


class HasOrdering(Protocol):
    @property
    def ordering(self) -> "Ordering": ...


class HasRevisit(Protocol):
    @property
    def revisit(self) -> "RevisitServices": ...


class HasRun(Protocol):
    @property
    def run(self) -> "RunState": ...


class HasStats(Protocol):
    @property
    def stats(self) -> "RunStats": ...


class HasStorage(Protocol):
    @property
    def storage(self) -> "PageStorage": ...


class RedirectServices(HasFrontier, HasOptions, HasRun, Protocol):
    """Services of `redirects`."""


class RenderingServices(HasStats, HasStorage, Protocol):
    """Services of `page_renderings`."""


class RobotsServices(HasFrontier, HasOptions, HasRevisit, HasStats, Protocol):
    """Services of `robots_files`."""


class RepetitionServices(HasDb, HasFrontier, HasLog, HasStats, Protocol):
    """Services of `repeated_pages`."""


class UrlServices(HasDb, HasFrontier, HasLog, HasOptions, HasOrdering, HasRun, HasStats, Protocol):
    """Services of `discovered_urls`."""


class ArchiveServices(HasFrontier, HasLog, HasNearDuplicates, HasRun, HasStorage, Protocol):
    """Services of `archive_pages`."""


class RankServices(HasFrontier, HasOrdering, HasRevisit, HasRun, HasStats, HasStorage, Protocol):
    """Services of `rank_updates`."""


class ChangeServices(
    HasChanges, HasDb, HasFrontier, HasLog, HasOptions, HasRevisit, HasRun, HasStats, HasStorage, Protocol
):
    """Services of `change_detection`."""


class LeaseServices(RedirectServices, HasFormQueries, HasLog, HasOrdering, HasRevisit, HasStats, Protocol):
    """Services of `close_leases`."""


class VisitServices(RedirectServices, HasRevisit, HasStats, HasStorage, Protocol):
    """Services of `visit_batch`."""


class SitemapServices(UrlServices, HasRevisit, HasStorage, Protocol):
    """Services of `sitemaps`."""


class TviServices(ArchiveServices, ChangeServices, UrlServices, Protocol):
    """Services of `tvi_stage`."""
