"""The open rooms of one crawl, and what its book says of a URL."""

from collections import Counter
from collections.abc import Callable, Sequence

from msgspec import Struct

from sanderling.changes.change_store import Ledger
from sanderling.crawl.stages.redirect_loops import Rounds
from sanderling.crawl.stages.resources import Uses
from sanderling.db.connection import Connection, rows_of
from sanderling.dedup.near_duplicates import Pairing
from sanderling.frontier.eviction import Keeper
from sanderling.frontier.hosts import Hosts
from sanderling.frontier.ordering.ordering_registry import DEFAULT
from sanderling.frontier.ordering.protocol import Ordering
from sanderling.frontier.queue import Queue
from sanderling.frontier.url_filter import Judge
from sanderling.frontier.url_store import Book
from sanderling.models import Source
from sanderling.revisit.change_lists import Lists
from sanderling.revisit.notice_clusters import Notices
from sanderling.revisit.schedule import Diary
from sanderling.revisit.sitemap_schedule import Maps
from sanderling.revisit.tvi_files import Sides
from sanderling.storage.catalog import Catalogue
from sanderling.storage.crawl_log import CrawlLog
from sanderling.storage.link_graph import Graph
from sanderling.storage.sitemap_hints import Hints
from sanderling.warc.archive import Archive
from sanderling.warc.cdxj_index import Index
from sanderling.warc.remote import Offsite

MAPS_FIRST = -1e9  # rank: sitemaps and feeds are read before the pages of their host


class House(Struct):
    """What is open while a crawl runs; handed from one step to the next."""

    db: Connection
    book: Book
    queue: Queue
    hosts: Hosts
    judge: Judge
    order: Ordering
    hints: Hints
    ledger: Ledger
    diary: Diary
    lists: Lists
    maps: Maps
    sides: Sides
    notices: Notices
    rounds: Rounds
    catalogue: Catalogue
    pairing: Pairing
    graph: Graph
    archive: Archive
    captures: Index
    log: CrawlLog
    offsite: Offsite | None  # where full WARC files go, if not here
    session: int
    retries: int
    backoff_seconds: float
    counts: Counter[str]
    agent: str = "sanderling"  # what robots.txt calls us
    use_maps: bool = True  # look for sitemaps and feeds
    uses: Uses | None = None  # visit what pages use too
    order_name: str = DEFAULT
    keeper: Keeper | None = None  # of a collection of limited size
    rereads: dict[int, int] = {}  # pages whose bytes changed and whose words did not, with the visit before
    is_ahead: bool = False  # a batch was taken back from the disk, and memory still holds what was learned from it
    learned: int = 0  # pages since waiting URLs were last moved by what was learned
    damage: list[str] = []  # what damaged WARC files have lost, a sentence for each
    write_back: Callable[[], None] = lambda: None  # has the log of the database emptied, and does not wait for that


class UrlRow(Struct, frozen=True):
    """What the book says of a URL that was just visited."""

    depth: int
    hops: int
    attempts: int
    via: int
    wire: str
    source: str = ""

    @property
    def is_seed(self) -> bool:
        """Was it named by a person, or is it where a named one leads?"""
        return self.source == Source.SEED or (self.depth == 0 and self.source == Source.REDIRECT)


def url_rows(db: Connection, ids: Sequence[int]) -> dict[int, UrlRow]:
    """What the book says of these URLs."""
    asked = "SELECT id, depth, hops, attempts, via, wire, source FROM urls WHERE id IN ({})"
    return {row[0]: UrlRow(*row[1:]) for row in rows_of(db, asked, ids)}
