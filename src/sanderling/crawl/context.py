"""The open rooms of one crawl, and what its book says of a URL."""

from collections import Counter
from collections.abc import Callable, Sequence

from msgspec import Struct

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

SITEMAP_RANK = -1e9  # rank: sitemaps and feeds are read before the pages of their host


class CrawlContext(Struct):
    """What is open while a crawl runs; handed from one step to the next."""

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
    remote_archive: RemoteArchive | None  # where full WARC files go, if not here
    session: int
    max_retries: int
    backoff_seconds: float
    stats: Counter[str]
    agent_token: str = "sanderling"  # what robots.txt calls us
    use_sitemaps: bool = True  # look for sitemaps and feeds
    page_resources: PageResources | None = None  # visit what pages use too
    ordering_name: str = DEFAULT_ORDERING
    collection_limit: CollectionLimit | None = None  # of a collection of limited size
    same_text_pages: dict[int, int] = {}  # pages whose bytes changed and whose words did not, with the visit before
    is_memory_ahead: bool = (
        False  # a batch was taken back from the disk, and memory still holds what was learned from it
    )
    pages_since_rerank: int = 0  # pages since waiting URLs were last moved by what was learned
    damage_messages: list[str] = []  # what damaged WARC files have lost, a sentence for each
    start_checkpoint: Callable[[], None] = lambda: (
        None
    )  # has the log of the database emptied, and does not wait for that


class UrlRow(Struct, frozen=True):
    """What the book says of a URL that was just visited."""

    depth: int
    hops: int
    attempts: int
    referrer_id: int
    request_url: str
    source: str = ""

    @property
    def is_seed(self) -> bool:
        """Was it named by a person, or is it where a named one leads?"""
        return self.source == UrlSource.SEED or (self.depth == 0 and self.source == UrlSource.REDIRECT)


def load_url_rows(db: Connection, ids: Sequence[int]) -> dict[int, UrlRow]:
    """What the book says of these URLs."""
    asked = "SELECT id, depth, hops, attempts, via, wire, source FROM urls WHERE id IN ({})"
    return {row[0]: UrlRow(*row[1:]) for row in select_by_ids(db, asked, ids)}
