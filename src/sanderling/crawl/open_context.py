"""Build the crawl context of a collection."""

import json
import logging
import time
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
from sanderling.crawl.choose_ordering import OrderingBuilder, merge_stored_choice, open_ordering
from sanderling.crawl.context import CrawlContext, RunState
from sanderling.crawl.depth import load_depth_limits
from sanderling.crawl.request import CrawlRequest, build_fetch_settings, build_politeness, get_budget, get_policy
from sanderling.crawl.stages.discovered_urls import SEED_REDIRECTS_META_KEY, WATCHED_PAGES_META_KEY
from sanderling.crawl.stages.redirect_loops import RedirectLoops
from sanderling.crawl.stages.resources import PageResources
from sanderling.db.connection import Connection, apply_migrations, is_schema_current, transaction
from sanderling.db.schema.revisit import MIGRATIONS as REVISIT_MIGRATIONS
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
    StoredCollection,
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
BLOCKLIST_META_KEY = "forgotten"  # meta table: patterns of deleted URLs, which are never queued again
T = TypeVar("T")
log = logging.getLogger(__name__)


@contextmanager
def open_context(
    folder: Path,
    request: CrawlRequest,
    seeds: Sequence[NormalizedUrl],
    clock: Clock,
    *,
    stats: Counter[str] | None = None,
    build_ordering: OrderingBuilder | None = None,
    pages: Sequence[NormalizedUrl] = (),
) -> Iterator[tuple[CrawlContext, CrawlRequest]]:
    """Open a crawl context. Also yields the request with the stored ordering. `pages`: visited without their sites."""
    with (
        open_collection(folder, request.workers.store) as collection,
        run_checkpoints(folder / DATABASE_FILE) as start_checkpoint,
    ):
        request = msgspec.structs.replace(
            request, ordering_choice=merge_stored_choice(collection.db, request.ordering_choice)
        )
        depth_limits = load_depth_limits(collection.db, request.limits.depth, [seed.url for seed in seeds], Random())
        _store_watched_pages(collection.db, pages)
        context = build_context(
            collection,
            request,
            seeds,
            depth_limits.limit,
            clock,
            stats=stats,
            build_ordering=build_ordering,
            start_checkpoint=start_checkpoint,
        )
        context.url_filter.set_start_depths(depth_limits.start_depths)
        with context.archive, closing(context.crawl_log):
            for repair in context.archive.repairs:
                context.crawl_log.write_message(repair.description)
            _requeue_lost_pages(context)
            yield context, request


def _requeue_lost_pages(context: CrawlContext) -> None:
    """Requeue pages whose records were lost from damaged WARC files."""
    with transaction(context.db):
        lost = reset_pages_of_short_files(context.db, context.archive.repairs)
        requeue_pages(context.db, [page for pages in lost.values() for page in pages])
    context.damage_messages.extend(describe_lost_pages(file, len(pages)) for file, pages in lost.items())
    for message in context.damage_messages:
        context.crawl_log.write_message(message)


def read_scheduled_collection(folder: Path) -> StoredCollection | None:
    """Open a collection read-only, with current revisit tables.

    Returns None if it has no revisit schedule.
    """
    migrations = {"refresh": REVISIT_MIGRATIONS}
    collection = open_collection_read_only(folder)
    if is_schema_current(collection.db, migrations):
        return collection
    is_scheduled = collection.db.execute("SELECT 1 FROM migrations WHERE room = 'refresh'").fetchone() is not None
    collection.close()
    if not is_scheduled:
        return None
    with open_collection(folder) as writable:  # the schedule was written by an older version
        apply_migrations(writable.db, migrations)
    return open_collection_read_only(folder)


def build_context(
    collection: StoredCollection,
    request: CrawlRequest,
    seeds: Sequence[NormalizedUrl],
    depth: int,
    clock: Clock,
    *,
    stats: Counter[str] | None = None,
    build_ordering: OrderingBuilder | None = None,
    start_checkpoint: Callable[[], None] = lambda: None,
) -> CrawlContext:
    """Build a context. Truncates the archive to its committed lengths."""
    db, limits = collection.db, request.limits
    apply_migrations(db, {"refresh": REVISIT_MIGRATIONS})
    catalog, change_store = PageCatalog(db), ChangeStore(db)
    archive, remote_archive = _open_archive(collection, catalog, request.workers.archive, clock)
    url_store = UrlStore(db, UrlCache(request.memory.url_cache_size, EvictionPolicy(request.memory.url_cache)))
    choice = merge_stored_choice(db, request.ordering_choice)
    ordering = (build_ordering or open_ordering)(db, choice)
    url_filter = _open_url_filter(db, _load_scope_rule(db, request.scope, seeds), depth)
    resources = PageResources(db, url_store, url_filter, change_store, catalog) if request.fetching.resources else None
    return CrawlContext(
        db=db,
        url_store=url_store,
        queue=_open_queue(db, request, ordering, url_filter),
        hosts=HostStore(db),
        url_filter=url_filter,
        ordering=ordering,
        ordering_name=choice.name,
        saves_ordering=build_ordering is None,
        collection_limit=CollectionLimit(db, limits.keep) if limits.keep else None,
        sitemap_hints=SitemapHintStore(db),
        change_store=change_store,
        page_resources=resources,
        change_lists=ChangeLists(db, request.revisit.threshold),
        sitemap_schedule=SitemapSchedule(db),
        tvi_files=TviFiles(db),
        notice_clusters=NoticeClusters(db),
        redirect_loops=RedirectLoops(db, url_store, ordering, clock(), request.fetching.cookies),
        revisit_schedule=RevisitSchedule(db, get_policy(request.revisit.policy), get_budget(request)),
        agent_token=build_fetch_settings(request).agent_token,
        use_sitemaps=request.scope.sitemaps,
        catalog=catalog,
        near_duplicates=IncrementalPairing(db),
        link_graph=_open_link_graph(db),
        archive=archive,
        cdxj_index=open_cdxj_index(collection.cdxj_folder, collection.archive_folder, catalog.load_committed_lengths()),
        crawl_log=CrawlLog(collection.log_folder),
        remote_archive=remote_archive,
        state=RunState(Counter() if stats is None else stats, int(get_meta(db, "session", "1"))),
        max_retries=MAX_RETRIES,
        backoff_seconds=request.politeness.backoff,
        start_checkpoint=start_checkpoint,
    )


def _open_archive(
    collection: StoredCollection, catalog: PageCatalog, remote_url: str, clock: Clock
) -> tuple[Archive, RemoteArchive | None]:
    """Open the archive and its remote copy, and register all files in the catalog."""
    remote_archive = open_remote_archive(collection.archive_folder, remote_url)
    archive = open_archive(
        collection.archive_folder,
        catalog.load_committed_lengths(),
        clock=clock,
        remote_files=remote_archive.list_files() if remote_archive else {},
    )
    archive.on_file_full = remote_archive.start_upload if remote_archive else None
    with transaction(collection.db):
        for name, length in archive.get_flushed_lengths().items():
            catalog.upsert_file(name, length)
    return archive, remote_archive


def _open_link_graph(db: Connection) -> LinkGraph:
    graph = LinkGraph(db)
    graph.restore_pending()
    return graph


def _open_url_filter(db: Connection, scope_rule: ScopeRule, depth: int) -> UrlFilter:
    url_filter = UrlFilter(scope_rule, depth, _load_pattern_budget(db), dust.load_rules(db))
    url_filter.blocklist = compile_patterns(json.loads(get_meta(db, BLOCKLIST_META_KEY, "[]")))
    return url_filter


def _open_queue(db: Connection, request: CrawlRequest, ordering: Ordering, url_filter: UrlFilter) -> UrlQueue:
    """Open the queue, and mark hosts at their page limit as full."""
    quota = HostQuota(db, request.limits.limit_per_host) if request.limits.limit_per_host else None
    if quota is not None:
        url_filter.full_hosts.update(quota.find_full_hosts())
    return UrlQueue(db, build_politeness(request), ordering.host_preference, quota)


def _load_scope_rule(db: Connection, scope: ScopeSettings, seeds: Iterable[NormalizedUrl]) -> ScopeRule:
    """Build the scope from the watched pages and from old and new seeds, and store the new ones."""
    stored = [Url(url) for url in json.loads(get_meta(db, "seeds", "[]"))]
    all_seeds = list(dict.fromkeys([*stored, *(seed.url for seed in seeds)]))
    pages = [Url(url) for url in json.loads(get_meta(db, WATCHED_PAGES_META_KEY, "[]"))]
    if not (all_seeds or pages):
        raise UsageError("no URL to crawl; give one, for example: sanderling crawl https://example.org/")
    set_meta(db, "seeds", json.dumps(all_seeds))
    redirect_targets = [Url(url) for url in json.loads(get_meta(db, SEED_REDIRECTS_META_KEY, "[]"))]
    return build_scope_rule(
        [*all_seeds, *redirect_targets], ScopeKind(scope.scope), scope.include, scope.exclude, pages=pages
    )


def _store_watched_pages(db: Connection, pages: Sequence[NormalizedUrl]) -> None:
    stored = json.loads(get_meta(db, WATCHED_PAGES_META_KEY, "[]"))
    if new := [page.url for page in pages if page.url not in set(stored)]:
        set_meta(db, WATCHED_PAGES_META_KEY, json.dumps([*stored, *new]))


def _load_pattern_budget(db: Connection) -> PatternBudget:
    budget = PatternBudget()
    row = db.execute("SELECT value FROM blobs WHERE name = 'pattern_budget'").fetchone()
    if row:
        budget.load(row[0])
    return budget


def run_with_store_retries(folder: Path, store: str, attempt: Callable[[], T]) -> T:
    """Run an attempt, and repeat it after the shared database was unreachable.

    The database of a new collection must answer at once: its address may be mistyped.
    """
    if store and not has_collection(folder):
        _wait_for_store(store, 0.0)
    while True:
        try:
            return attempt()
        except DatabaseUnavailable as error:
            if not read_database_url(folder):
                raise
            from sanderling.db.postgres import RECONNECT_SECONDS

            log.warning(
                "database unavailable since %s (%s); retrying for %d minutes, then the crawl stops with exit code %d"
                " and the same command resumes it",
                time.strftime("%H:%M:%S"),
                error,
                RECONNECT_SECONDS // 60,
                error.exit_code,
            )
            _wait_for_store(read_database_url(folder))
            log.warning("database available again at %s; resuming after the last commit", time.strftime("%H:%M:%S"))


def _wait_for_store(store: str, timeout_seconds: float | None = None) -> None:
    from sanderling.db import postgres

    postgres.connect_postgres(store, postgres.RECONNECT_SECONDS if timeout_seconds is None else timeout_seconds).close()
