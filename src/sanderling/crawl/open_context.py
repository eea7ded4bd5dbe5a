"""Build the crawl context of a collection."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from sanderling.changes.change_store import ChangeStore
from sanderling.clock import Clock, system_clock
from sanderling.crawl.choose_ordering import OrderingBuilder, merge_stored_choice, open_ordering
from sanderling.crawl.context import CrawlContext, CrawlOptions, PageStorage, RevisitServices, RunState, RunStats
from sanderling.crawl.depth import load_depth_limits
from sanderling.crawl.request import CrawlRequest, build_fetch_settings, build_politeness, get_budget, get_policy
from sanderling.crawl.stages.form_queries import FormQueries
from sanderling.db.backend import RECONNECT_SECONDS, connect_database
from sanderling.db.connection import Connection, apply_migrations, is_schema_current, load_schema_versions, transaction
from sanderling.db.id_range import ALL_IDS
from sanderling.db.schema.revisit import MIGRATIONS as REVISIT_MIGRATIONS
from sanderling.db.wal import run_checkpoints
from sanderling.dedup.near_duplicates import IncrementalPairing
from sanderling.errors import DatabaseUnavailable, UsageError
from sanderling.forms.form_recipes import load_recipes
from sanderling.forms.site_forms import RECIPE, FormStore
from sanderling.frontier.frontier import Frontier
from sanderling.frontier.ordering.protocol import HostPreference
from sanderling.frontier.pattern_store import load_repeated_content
from sanderling.frontier.shard_links import ShardIdentity
from sanderling.frontier.url_cache import EvictionPolicy, UrlCache
from sanderling.frontier.url_filter import UrlFilter
from sanderling.models import Url
from sanderling.plugins.url_rules import load_url_rules
from sanderling.revisit.change_lists import ChangeLists, SitemapSchedule
from sanderling.revisit.intervals import SETTINGS_OWNER, build_setting_rules
from sanderling.revisit.missing_pages import NoticeClusters
from sanderling.revisit.schedule import RevisitSchedule
from sanderling.revisit.tvi import TviFiles
from sanderling.storage.catalog import PageCatalog
from sanderling.storage.collection import (
    DATABASE_FILE,
    StoredCollection,
    has_collection,
    open_collection,
    open_collection_read_only,
    read_database_url,
)
from sanderling.storage.collection_meta import CollectionMeta
from sanderling.storage.crawl_log import CrawlLog
from sanderling.storage.dedup_sources import open_other_catalogs, open_sibling_catalog
from sanderling.storage.link_graph import LinkGraph
from sanderling.storage.lost_records import describe_lost_pages, reset_pages_of_short_files
from sanderling.storage.render_templates import RenderTemplateStore
from sanderling.storage.sitemap_hints import SitemapHintStore
from sanderling.urls import dust
from sanderling.urls.blocklist import compile_patterns
from sanderling.urls.normalize import NormalizedUrl
from sanderling.urls.pattern_budget import PatternBudget
from sanderling.urls.scope import Scope as ScopeKind
from sanderling.urls.scope import ScopeRule, build_scope_rule
from sanderling.warc.archive import open_archive
from sanderling.warc.cdxj_index import open_cdxj_index
from sanderling.warc.remote import open_remote_archive

MAX_RETRIES = 2
T = TypeVar("T")
log = logging.getLogger(__name__)


class CrawlPlan(Struct, frozen=True):
    """Plan of a run, made before its collection is opened."""

    folder: Path
    request: CrawlRequest
    seeds: Sequence[NormalizedUrl] = ()
    pages: Sequence[NormalizedUrl] = ()  # visited without their sites
    clock: Clock = system_clock
    build_ordering: OrderingBuilder = open_ordering  # another one replaces the ordering of the collection for this run
    shard: ShardIdentity | None = None  # None: not a shard of a set

    @property
    def saves_ordering(self) -> bool:
        return self.build_ordering is open_ordering


@contextmanager
def open_context(plan: CrawlPlan, stats: RunStats | None = None) -> Iterator[tuple[CrawlContext, CrawlRequest]]:
    """Open the crawl context of a collection. Also yields the request with the stored ordering."""
    with (
        open_collection(plan.folder, plan.request.workers.store) as collection,
        run_checkpoints(plan.folder / DATABASE_FILE) as start_checkpoint,
        open_other_catalogs(collection, plan.request.workers.dedup_from) as others,
        open_sibling_catalog(collection, plan.shard.owners if plan.shard else ()) as siblings,
    ):
        choice = merge_stored_choice(collection.db, plan.request.ordering_choice)
        plan = replace(plan, request=replace(plan.request, ordering_choice=choice))
        context = _build_context(collection, plan, stats or RunStats(), start_checkpoint)
        context.storage.catalog.others = {**others, **siblings}
        with context.storage.archive, closing(context.log):
            for repair in context.storage.archive.repairs:
                context.log.write_message(repair.description)
            _requeue_lost_pages(context)
            yield context, plan.request


def _requeue_lost_pages(context: CrawlContext) -> None:
    """Requeue pages whose records were lost from damaged WARC files."""
    with transaction(context.db):
        lost = reset_pages_of_short_files(context.db, context.storage.archive.repairs)
        context.frontier.requeue(page for pages in lost.values() for page in pages)
    context.run.damage_messages.extend(describe_lost_pages(file, len(pages)) for file, pages in lost.items())
    for message in context.run.damage_messages:
        context.log.write_message(message)


def read_scheduled_collection(folder: Path) -> StoredCollection | None:
    """Open a collection read-only, with current revisit tables.

    Returns None if it has no revisit schedule.
    """
    migrations = {"revisit": REVISIT_MIGRATIONS}
    collection = open_collection_read_only(folder)
    if is_schema_current(collection.db, migrations):
        return collection
    is_scheduled = "revisit" in load_schema_versions(collection.db)
    collection.close()
    if not is_scheduled:
        return None
    with open_collection(folder) as writable:  # the schedule was written by an older version
        apply_migrations(writable.db, migrations)
    return open_collection_read_only(folder)


def _build_context(
    collection: StoredCollection, plan: CrawlPlan, stats: RunStats, start_checkpoint: Callable[[], None]
) -> CrawlContext:
    """Build all services. Truncates the archive to its committed lengths."""
    db, request = collection.db, plan.request
    apply_migrations(db, {"revisit": REVISIT_MIGRATIONS})
    storage, fetching = _open_storage(collection, request.workers.archive, plan), build_fetch_settings(request)
    ordering, meta = plan.build_ordering(db, request.ordering_choice), CollectionMeta(db)
    frontier, revisit = _open_frontier(db, plan, ordering.host_preference), _open_revisit_services(db, plan)
    log_file = CrawlLog(collection.log_folder)  # after everything that refuses settings
    return CrawlContext(
        db=db,
        frontier=frontier,
        ordering=ordering,
        storage=storage,
        changes=ChangeStore(db),
        revisit=revisit,
        near_duplicates=IncrementalPairing(db),
        log=log_file,
        form_queries=_open_form_queries(plan, frontier, log_file),
        options=CrawlOptions(
            max_retries=MAX_RETRIES,
            backoff_seconds=request.politeness.backoff,
            agent_token=fetching.agent_token,
            use_sitemaps=request.scope.sitemaps,
            fetches_requisites=request.fetching.requisites,
            has_all_requisites=meta.has_all_requisites,
            keeps_cookies=fetching.cookies,
            renders=fetching.uses_browser,
            ordering_name=request.ordering_choice.name,
            saves_ordering=plan.saves_ordering,
        ),
        stats=stats,
        run=RunState(meta.session, plan.clock()),
        start_checkpoint=start_checkpoint,
    )


def _open_form_queries(plan: CrawlPlan, frontier: Frontier, log_file: CrawlLog) -> FormQueries | None:
    """Return None if no form is sent."""
    scope = plan.request.scope
    recipes = load_recipes(scope.recipe).forms if scope.recipe else ()
    if scope.forms == "off" and not recipes:
        return None
    mode = RECIPE if scope.forms == "off" else scope.forms
    return FormQueries(FormStore(frontier.db), frontier, log_file, mode, scope.form_limit, recipes)


def _open_schedule(db: Connection, plan: CrawlPlan) -> RevisitSchedule:
    """Open the revisit schedule, and store the intervals and the budget of the request."""
    settings = plan.request.revisit
    schedule = RevisitSchedule(db, get_policy(settings.policy), get_budget(plan.request))
    with transaction(db):
        stored = schedule.intervals.load_owned(SETTINGS_OWNER)
        schedule.set_intervals(SETTINGS_OWNER, build_setting_rules(settings, stored), plan.clock())
        CollectionMeta(db).revisit_budget = settings.budget
    return schedule


def _open_frontier(db: Connection, plan: CrawlPlan, host_preference: HostPreference) -> Frontier:
    return Frontier(
        db,
        _open_url_filter(db, plan),
        build_politeness(plan.request),
        host_preference,
        url_cache=UrlCache(plan.request.memory.url_cache_size, EvictionPolicy(plan.request.memory.url_cache)),
        max_pages_per_host=plan.request.limits.limit_per_host,
        max_pages=plan.request.limits.keep,
        shard=plan.shard,
    )


def _open_url_filter(db: Connection, plan: CrawlPlan) -> UrlFilter:
    depths = load_depth_limits(db, plan.request.limits.depth, [seed.url for seed in plan.seeds], Random())
    return UrlFilter(
        _load_scope_rule(db, plan),
        depths.limit,
        _load_pattern_budget(db),
        dust.load_rules(db),
        blocklist=compile_patterns(CollectionMeta(db).blocked_patterns),
        start_depths=depths.start_depths,
        repeated_content=load_repeated_content(db, plan.request.limits.repeat_limit),
        plugin_rules=load_url_rules(plan.request.scope.filter),
        refuses_actions=plan.request.scope.forms != "off" or bool(plan.request.scope.recipe),
    )


def _open_storage(collection: StoredCollection, remote_url: str, plan: CrawlPlan) -> PageStorage:
    """Open catalog, link graph and archive, and register all archive files in the catalog."""
    catalog = PageCatalog(db := collection.db, plan.shard.id_range if plan.shard else ALL_IDS)
    remote = open_remote_archive(collection.archive_folder, remote_url)
    archive = open_archive(
        collection.archive_folder,
        catalog.load_committed_lengths(),
        clock=plan.clock,
        remote_files=remote.list_files() if remote else {},
        on_file_full=remote.start_upload if remote else None,
    )
    with transaction(db):
        for name, length in archive.get_flushed_lengths().items():
            catalog.upsert_file(name, length)
    link_graph = LinkGraph(db)
    link_graph.restore_pending()
    cdxj_index = open_cdxj_index(collection.cdxj_folder, collection.archive_folder, catalog.load_committed_lengths())
    return PageStorage(catalog, link_graph, SitemapHintStore(db), RenderTemplateStore(db), archive, cdxj_index, remote)


def _load_scope_rule(db: Connection, plan: CrawlPlan) -> ScopeRule:
    """Build the scope from stored and new seeds and watched pages, and store them."""
    meta, scope = CollectionMeta(db), plan.request.scope
    pages = [Url(url) for url in dict.fromkeys([*meta.watched_pages, *(page.url for page in plan.pages)])]
    meta.watched_pages = list(pages) if plan.pages else meta.watched_pages
    all_seeds = [Url(url) for url in dict.fromkeys([*meta.seeds, *(seed.url for seed in plan.seeds)])]
    if not (all_seeds or pages):
        raise UsageError("no URL to crawl; give one, for example: sanderling crawl https://example.org/")
    meta.seeds = list(all_seeds)
    return build_scope_rule(
        [*all_seeds, *map(Url, meta.seed_redirects)], ScopeKind(scope.scope), scope.include, scope.exclude, pages=pages
    )


def _load_pattern_budget(db: Connection) -> PatternBudget:
    budget = PatternBudget()
    for (value,) in db.execute("SELECT value FROM blobs WHERE name = 'pattern_budget'").fetchall():
        budget.load(value)
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
    connect_database(store, wait_seconds=RECONNECT_SECONDS if timeout_seconds is None else timeout_seconds).close()


def _open_revisit_services(db: Connection, plan: CrawlPlan) -> RevisitServices:
    lists = ChangeLists(db, plan.request.revisit.threshold)
    return RevisitServices(_open_schedule(db, plan), lists, SitemapSchedule(db), TviFiles(db), NoticeClusters(db))
