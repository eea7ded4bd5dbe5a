"""Services of a running crawl.

`CrawlContext` is built once, from a `CrawlPlan`, and never changes; changing values are in `RunState` and `RunStats`.
There is one service per package that owns tables. The pipeline sees all of them.
"""

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct, field

from sanderling.changes.change_store import ChangeStore
from sanderling.db.connection import Connection
from sanderling.dedup.near_duplicates import IncrementalPairing
from sanderling.frontier.frontier import Frontier
from sanderling.frontier.ordering.ordering_registry import DEFAULT_ORDERING
from sanderling.frontier.ordering.protocol import Ordering
from sanderling.models import Outcome, UrlState
from sanderling.revisit.change_lists import ChangeLists, SitemapSchedule
from sanderling.revisit.missing_pages import NoticeClusters
from sanderling.revisit.schedule import RevisitSchedule
from sanderling.revisit.tvi import TviFiles
from sanderling.storage.catalog import PageCatalog
from sanderling.storage.crawl_log import CrawlLog
from sanderling.storage.link_graph import LinkGraph
from sanderling.storage.render_templates import RenderTemplateStore
from sanderling.storage.sitemap_hints import SitemapHintStore
from sanderling.warc.archive import Archive
from sanderling.warc.cdxj_index import CdxjIndex
from sanderling.warc.remote import RemoteArchive

if TYPE_CHECKING:
    from sanderling.crawl.stages.form_queries import FormQueries

SITEMAP_RANK = -1e9  # sitemaps and feeds are fetched before the pages of their host


REQUISITE_RANK = 1e9  # page requisites are fetched after the pages of their host


class RunStats(Struct):
    """Counters of a run, shared by all attempts of a run that loses its database connection."""

    outcomes: Counter[Outcome] = field(default_factory=Counter)  # of pages
    failed: int = 0  # URLs that failed, are gone, or could not be checked
    skipped: int = 0
    duplicates: int = 0
    unchanged: int = 0  # fetched again without a significant change
    changed: int = 0
    new: int = 0
    gone: int = 0
    moved: int = 0
    returned: int = 0  # pages that were gone
    evicted: int = 0
    due: int = 0  # pages queued because they were due
    announced: int = 0  # pages that a sitemap, feed or change list reported as changed
    replaced_resources: int = 0
    stale_results: int = 0  # dropped, because their lease had expired
    bytes: int = 0
    bytes_saved: int = 0  # not transferred, thanks to validators
    rendered: int = 0  # pages rendered in a browser
    unrendered: int = 0  # fetched pages that look built by scripts, and were not rendered

    @property
    def visited_pages(self) -> int:
        return self.outcomes[Outcome.FETCHED] + self.outcomes[Outcome.NOT_MODIFIED]

    def count_dropped(self, state: UrlState, count: int) -> None:
        """Count URLs that left the queue unfetched, by their final state."""
        if state is UrlState.FAILED:
            self.failed += count
        else:
            self.skipped += count


class RunState(Struct):
    """Values that change during a run."""

    session: int
    started_at: float
    pages_since_rerank: int = 0
    is_memory_ahead: bool = False  # a batch was rolled back, but in-memory models still contain it
    same_text_pages: dict[int, int] = field(
        default_factory=dict
    )  # pages whose bytes changed but not their text: previous visit
    loop_fetches: Counter[int] = field(default_factory=Counter)  # by page id: fetches because of a redirect loop
    control_ids: set[int] = field(default_factory=set)
    """Pages that are fetched again at once, to learn what varies: their next visit tells nothing about changes."""
    failed_ids: set[int] = field(default_factory=set)  # pages that could not be fetched: a single refresh skips them
    damage_messages: list[str] = field(default_factory=list)  # one sentence per truncated WARC file


class CrawlOptions(Struct, frozen=True):
    """Settings that the stages of the pipeline read."""

    max_retries: int
    backoff_seconds: float
    agent_token: str = "sanderling"  # product token matched in robots.txt
    use_sitemaps: bool = True
    fetches_requisites: bool = False  # images, style sheets, fonts, scripts and frames of pages
    has_all_requisites: bool = False  # an earlier pass queued the requisites of every stored page
    keeps_cookies: bool = False
    renders: bool = False  # some pages are rendered in a browser
    ordering_name: str = DEFAULT_ORDERING
    saves_ordering: bool = True  # False: the ordering is used for this run only


class PageStorage(Struct, frozen=True):
    """Stored pages: catalog, links, hints from sitemaps, and WARC files."""

    catalog: PageCatalog
    link_graph: LinkGraph
    sitemap_hints: SitemapHintStore
    render_templates: RenderTemplateStore
    archive: Archive
    cdxj_index: CdxjIndex
    remote_archive: RemoteArchive | None  # destination of full WARC files; None: they stay local


class RevisitServices(Struct, frozen=True):
    """Schedule of revisits, and announcements of sites."""

    schedule: RevisitSchedule
    change_lists: ChangeLists
    sitemap_schedule: SitemapSchedule
    tvi_files: TviFiles
    notice_clusters: NoticeClusters


class CrawlContext(Struct, frozen=True):
    """The services of a running crawl."""

    db: Connection
    frontier: Frontier
    ordering: Ordering
    storage: PageStorage
    changes: ChangeStore
    revisit: RevisitServices
    near_duplicates: IncrementalPairing
    log: CrawlLog
    form_queries: "FormQueries | None"  # None: no form is sent
    options: CrawlOptions
    stats: RunStats
    run: RunState
    start_checkpoint: Callable[[], None]  # starts a WAL checkpoint in the background
