"""Open the rooms of a crawl over a collection."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from typing import TypeVar

import msgspec

from sanderling.changes.change_store import ChangeStore
from sanderling.clock import Clock
from sanderling.config.settings import ScopeSettings
from sanderling.crawl.choose_ordering import merge_stored_choice, open_ordering
from sanderling.crawl.context import CrawlContext
from sanderling.crawl.depth import load_depth_limits
from sanderling.crawl.request import CrawlRequest, build_fetch_settings, build_politeness, get_budget, get_policy
from sanderling.crawl.stages.discovered_urls import SEED_REDIRECTS_META_KEY
from sanderling.crawl.stages.redirect_loops import RedirectLoops
from sanderling.crawl.stages.resources import PageResources
from sanderling.db.connection import Connection, apply_migrations, is_schema_current, transaction
from sanderling.db.schema.revisit import MIGRATIONS as REFRESH
from sanderling.db.wal import run_checkpoints
from sanderling.dedup.near_duplicates import IncrementalPairing
from sanderling.errors import DatabaseUnavailable, UsageError
from sanderling.frontier.eviction import CollectionLimit
from sanderling.frontier.host_quota import HostQuota
from sanderling.frontier.hosts import HostStore
from sanderling.frontier.ordering.protocol import Ordering
from sanderling.frontier.queue import UrlQueue
from sanderling.frontier.requeue import requeue_pages
from sanderling.frontier.url_cache import EvictionPolicy, UrlCache
from sanderling.frontier.url_filter import UrlFilter
from sanderling.frontier.url_store import UrlStore
from sanderling.models import Url
from sanderling.revisit.change_lists import ChangeLists
from sanderling.revisit.notice_clusters import NoticeClusters
from sanderling.revisit.schedule import RevisitSchedule
from sanderling.revisit.sitemap_schedule import SitemapSchedule
from sanderling.revisit.tvi_files import TviFiles
from sanderling.storage.catalog import PageCatalog
from sanderling.storage.collection import (
    DATABASE_FILE,
    Collection,
    get_meta,
    has_collection,
    open_collection,
    open_collection_read_only,
    read_database_url,
    set_meta,
)
from sanderling.storage.crawl_log import CrawlLog
from sanderling.storage.link_graph import LinkGraph
from sanderling.storage.lost_records import describe_lost_pages, reset_pages_of_short_files
from sanderling.storage.sitemap_hints import SitemapHintStore
from sanderling.urls import dust
from sanderling.urls.blocklist import compile_patterns
from sanderling.urls.normalize import NormalizedUrl
from sanderling.urls.pattern_budget import PatternBudget
from sanderling.urls.scope import Scope as ScopeKind
from sanderling.urls.scope import ScopeRule, build_scope_rule
from sanderling.warc.archive import Archive, open_archive
from sanderling.warc.cdxj_index import open_cdxj_index
from sanderling.warc.remote import RemoteArchive, open_remote_archive

MAX_RETRIES = 2
BLOCKLIST_META_KEY = "forgotten"  # in the meta table: patterns of URLs that stay out
T = TypeVar("T")


@contextmanager
def open_context(
    folder: Path, request: CrawlRequest, seeds: Sequence[NormalizedUrl], clock: Clock
) -> Iterator[tuple[CrawlContext, CrawlRequest]]:
    """The rooms of a crawl into a folder, open until it ends; and the request, with the order that is remembered."""
    with (
        open_collection(folder, request.workers.store) as collection,
        run_checkpoints(folder / DATABASE_FILE) as write_back,
    ):
        request = msgspec.structs.replace(
            request, ordering_choice=merge_stored_choice(collection.db, request.ordering_choice)
        )
        far = load_depth_limits(collection.db, request.limits.depth, [seed.url for seed in seeds], Random())
        house = build_context(collection, request, seeds, far.limit, clock)
        house.url_filter.set_start_depths(far.start_depths)
        house.start_checkpoint = write_back
        with house.archive, closing(house.crawl_log):
            for repaired in house.archive.repairs:
                house.crawl_log.write_message(repaired.description)
            _requeue_lost_pages(house)
            yield house, request


def _requeue_lost_pages(context: CrawlContext) -> None:
    """Forget what damaged WARC files have lost, and queue those pages."""
    with transaction(context.db):
        lost = reset_pages_of_short_files(context.db, context.archive.repairs)
        requeue_pages(context.db, [page for pages in lost.values() for page in pages])
    context.damage_messages = [describe_lost_pages(file, len(pages)) for file, pages in lost.items()]
    for line in context.damage_messages:
        context.crawl_log.write_message(line)


def read_scheduled_collection(folder: Path) -> Collection | None:
    """A collection to look at, with its plans of when to come back; None: nobody has made any."""
    rooms = {"refresh": REFRESH}
    collection = open_collection_read_only(folder)
    if is_schema_current(collection.db, rooms):
        return collection
    is_planned = collection.db.execute("SELECT 1 FROM migrations WHERE room = 'refresh'").fetchone() is not None
    collection.close()
    if not is_planned:
        return None
    with open_collection(folder) as ours:  # an older version made them: bring them up to date first
        apply_migrations(ours.db, rooms)
    return open_collection_read_only(folder)


def build_context(
    collection: Collection, request: CrawlRequest, seeds: Sequence[NormalizedUrl], depth: int, clock: Clock
) -> CrawlContext:
    """Open the rooms of one crawl over a collection, repaired to what was committed."""
    db, limits = collection.db, request.limits
    apply_migrations(db, {"refresh": REFRESH})
    catalogue, ledger = PageCatalog(db), ChangeStore(db)
    archive, offsite = _open_archive(collection, catalogue, request.workers.archive, clock)
    book = UrlStore(db, UrlCache(request.memory.url_cache_size, EvictionPolicy(request.memory.url_cache)))
    wish = merge_stored_choice(db, request.ordering_choice)
    order = open_ordering(db, wish)
    judge = _open_url_filter(db, request.scope, seeds, depth)
    queue = _open_queue(db, request, order, judge)
    return CrawlContext(
        db=db,
        url_store=book,
        queue=queue,
        hosts=HostStore(db),
        url_filter=judge,
        ordering=order,
        ordering_name=wish.name,
        collection_limit=CollectionLimit(db, limits.keep) if limits.keep else None,
        sitemap_hints=SitemapHintStore(db),
        change_store=ledger,
        page_resources=PageResources(db, book, judge, ledger, catalogue) if request.fetching.resources else None,
        change_lists=ChangeLists(db, request.revisit.threshold),
        sitemap_schedule=SitemapSchedule(db),
        tvi_files=TviFiles(db),
        notice_clusters=NoticeClusters(db),
        redirect_loops=RedirectLoops(db, book, order, clock(), request.fetching.cookies),
        revisit_schedule=RevisitSchedule(db, get_policy(request.revisit.policy), get_budget(request)),
        agent_token=build_fetch_settings(request).agent_token,
        use_sitemaps=request.scope.sitemaps,
        catalog=catalogue,
        near_duplicates=IncrementalPairing(db),
        link_graph=_open_link_graph(db),
        archive=archive,
        cdxj_index=open_cdxj_index(
            collection.cdxj_folder, collection.archive_folder, catalogue.load_committed_lengths()
        ),
        crawl_log=CrawlLog(collection.log_folder),
        remote_archive=offsite,
        session=int(get_meta(db, "session", "1")),
        max_retries=MAX_RETRIES,
        backoff_seconds=request.politeness.backoff,
        stats=Counter(),
    )


def _open_archive(
    collection: Collection, catalog: PageCatalog, remote_url: str, clock: Clock
) -> tuple[Archive, RemoteArchive | None]:
    """The archive, and the other place its full files go to, if there is one; the catalogue knows every file of it."""
    offsite = open_remote_archive(collection.archive_folder, remote_url)
    there = offsite.list_files() if offsite else {}
    archive = open_archive(collection.archive_folder, catalog.load_committed_lengths(), clock=clock, remote_files=there)
    archive.on_file_full = offsite.start_upload if offsite else None
    with transaction(collection.db):
        for name, length in archive.get_flushed_lengths().items():
            catalog.upsert_file(name, length)
    return archive, offsite


def _open_link_graph(db: Connection) -> LinkGraph:
    graph = LinkGraph(db)
    graph.restore_pending()
    return graph


def _open_url_filter(db: Connection, scope: ScopeSettings, seeds: Sequence[NormalizedUrl], depth: int) -> UrlFilter:
    judge = UrlFilter(_load_scope_rule(db, scope, seeds), depth, _load_pattern_budget(db), dust.load_rules(db))
    judge.blocklist = compile_patterns(json.loads(get_meta(db, BLOCKLIST_META_KEY, "[]")))
    return judge


def _open_queue(db: Connection, request: CrawlRequest, ordering: Ordering, url_filter: UrlFilter) -> UrlQueue:
    """The queue; hosts that have all the pages they may have get no others."""
    queue = UrlQueue(db, build_politeness(request), ordering.host_preference)
    if request.limits.limit_per_host:
        queue.quota = HostQuota(db, request.limits.limit_per_host)
        url_filter.full_hosts.update(queue.quota.find_full_hosts())
    return queue


def _load_scope_rule(db: Connection, scope: ScopeSettings, seeds: Iterable[NormalizedUrl]) -> ScopeRule:
    """The seeds of a collection add up: a second site joins the first."""
    known = [Url(url) for url in json.loads(get_meta(db, "seeds", "[]"))]
    every = list(dict.fromkeys([*known, *(seed.url for seed in seeds)]))
    if not every:
        raise UsageError("say what to crawl: sanderling crawl https://example.org/")
    set_meta(db, "seeds", json.dumps(every))
    arrived = [Url(url) for url in json.loads(get_meta(db, SEED_REDIRECTS_META_KEY, "[]"))]
    return build_scope_rule([*every, *arrived], ScopeKind(scope.scope), scope.include, scope.exclude)


def _load_pattern_budget(db: Connection) -> PatternBudget:
    budget = PatternBudget()
    row = db.execute("SELECT value FROM blobs WHERE name = 'pattern_budget'").fetchone()
    if row:
        budget.load(row[0])
    return budget


def run_with_store_retries(folder: Path, store: str, attempt: Callable[[], T]) -> T:
    """Do it. A shared database may go away and return meanwhile: then what was not committed is done again.

    That of a new collection has to be there: its address may be mistyped.
    """
    if store and not has_collection(folder):
        _wait_for_store(store, 0.0)
    while True:
        try:
            return attempt()
        except DatabaseUnavailable:
            if not read_database_url(folder):
                raise
            _wait_for_store(read_database_url(folder))


def _wait_for_store(store: str, timeout_seconds: float | None = None) -> None:
    """Wait until a shared database is back, or say that it is gone for good."""
    from sanderling.db import postgres

    postgres.connect_postgres(store, postgres.RECONNECT_SECONDS if timeout_seconds is None else timeout_seconds).close()
