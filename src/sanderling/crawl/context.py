"""Components of a running crawl, and stored rows of URLs.

`CrawlContext` is built once and never changes; changing values are in its `RunState`.
"""

from collections import Counter
from collections.abc import Callable, Sequence

from msgspec import Struct, field

from sanderling.changes.change_store import ChangeStore
from sanderling.crawl.stages.redirect_loops import RedirectLoops
from sanderling.crawl.stages.resources import PageResources
from sanderling.db.connection import Connection, select_by_ids
from sanderling.dedup.near_duplicates import IncrementalPairing
from sanderling.frontier.eviction import CollectionLimit
from sanderling.frontier.hosts import HostStore
from sanderling.frontier.ordering.ordering_registry import DEFAULT_ORDERING
from sanderling.frontier.ordering.protocol import Ordering
from sanderling.frontier.queue import UrlQueue
from sanderling.frontier.url_filter import UrlFilter
from sanderling.frontier.url_store import UrlStore
from sanderling.models import UrlSource
from sanderling.revisit.change_lists import ChangeLists
from sanderling.revisit.notice_clusters import NoticeClusters
from sanderling.revisit.schedule import RevisitSchedule
from sanderling.revisit.sitemap_schedule import SitemapSchedule
from sanderling.revisit.tvi_files import TviFiles
from sanderling.storage.catalog import PageCatalog
from sanderling.storage.crawl_log import CrawlLog
from sanderling.storage.link_graph import LinkGraph
from sanderling.storage.sitemap_hints import SitemapHintStore
from sanderling.warc.archive import Archive
from sanderling.warc.cdxj_index import CdxjIndex
from sanderling.warc.remote import RemoteArchive

SITEMAP_RANK = -1e9  # sitemaps and feeds are fetched before the pages of their host


class RunState(Struct):
    """Values that change during a run."""

    stats: Counter[str]  # shared by all attempts of a run that loses its database connection
    session: int
    pages_since_rerank: int = 0
    is_memory_ahead: bool = False  # a batch was rolled back, but in-memory models still contain it
    same_text_pages: dict[int, int] = field(
        default_factory=dict
    )  # pages whose bytes changed but not their text: previous visit


class CrawlContext(Struct, frozen=True):
    """The components of a running crawl."""

    db: Connection
    url_store: UrlStore
    queue: UrlQueue
    hosts: HostStore
    url_filter: UrlFilter
    ordering: Ordering
    sitemap_hints: SitemapHintStore
    change_store: ChangeStore
    revisit_schedule: RevisitSchedule
    change_lists: ChangeLists
    sitemap_schedule: SitemapSchedule
    tvi_files: TviFiles
    notice_clusters: NoticeClusters
    redirect_loops: RedirectLoops
    catalog: PageCatalog
    near_duplicates: IncrementalPairing
    link_graph: LinkGraph
    archive: Archive
    cdxj_index: CdxjIndex
    crawl_log: CrawlLog
    remote_archive: RemoteArchive | None  # destination of full WARC files; None: they stay local
    state: RunState
    max_retries: int
    backoff_seconds: float
    start_checkpoint: Callable[[], None]  # starts a WAL checkpoint in the background
    agent_token: str = "sanderling"  # product token matched in robots.txt
    use_sitemaps: bool = True
    page_resources: PageResources | None = None  # None: images, scripts and style sheets are not fetched
    ordering_name: str = DEFAULT_ORDERING
    saves_ordering: bool = True  # False: the ordering is used for this run only
    collection_limit: CollectionLimit | None = None  # None: the collection may grow without limit
    damage_messages: list[str] = field(default_factory=list)  # one sentence per truncated WARC file

    @property
    def stats(self) -> Counter[str]:
        """The counters of this run."""
        return self.state.stats


class UrlRow(Struct, frozen=True):
    """A URL as stored before its visit."""

    depth: int
    hops: int
    attempts: int
    referrer_id: int
    request_url: str
    source: str = ""

    @property
    def is_seed(self) -> bool:
        """Whether the URL is a seed or the redirect target of a seed."""
        return self.source == UrlSource.SEED or (self.depth == 0 and self.source == UrlSource.REDIRECT)


def load_url_rows(db: Connection, ids: Sequence[int]) -> dict[int, UrlRow]:
    sql = "SELECT id, depth, hops, attempts, via, wire, source FROM urls WHERE id IN ({})"
    return {row[0]: UrlRow(*row[1:]) for row in select_by_ids(db, sql, ids)}
