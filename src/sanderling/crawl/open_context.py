"""Open the rooms of a crawl over a collection."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from typing import TypeVar

import msgspec

from sanderling.changes.change_store import Ledger
from sanderling.clock import Clock
from sanderling.config.settings import Scope
from sanderling.crawl.choose_ordering import open_order, remembered
from sanderling.crawl.context import House
from sanderling.crawl.depth import reach
from sanderling.crawl.request import Request, budget_of, fetch_settings, pace_of, policy_named
from sanderling.crawl.stages.discovered_urls import ARRIVALS
from sanderling.crawl.stages.redirect_loops import Rounds
from sanderling.crawl.stages.resources import Uses
from sanderling.db.connection import Connection, is_current, migrate, transaction
from sanderling.db.schema.revisit import MIGRATIONS as REFRESH
from sanderling.db.wal import written_back
from sanderling.dedup.near_duplicates import Pairing
from sanderling.errors import StoreUnavailable, UsageError
from sanderling.frontier.eviction import Keeper
from sanderling.frontier.host_quota import Quota
from sanderling.frontier.hosts import Hosts
from sanderling.frontier.ordering.protocol import Ordering
from sanderling.frontier.queue import Queue
from sanderling.frontier.requeue import queue_pages
from sanderling.frontier.url_cache import Leaving, Occurrences
from sanderling.frontier.url_filter import Judge
from sanderling.frontier.url_store import Book
from sanderling.models import Url
from sanderling.revisit.change_lists import Lists
from sanderling.revisit.notice_clusters import Notices
from sanderling.revisit.schedule import Diary
from sanderling.revisit.sitemap_schedule import Maps
from sanderling.revisit.tvi_files import Sides
from sanderling.storage.catalog import Catalogue
from sanderling.storage.collection import (
    DATABASE,
    Collection,
    exists,
    get_meta,
    open_collection,
    read_collection,
    set_meta,
    store_of,
)
from sanderling.storage.crawl_log import CrawlLog
from sanderling.storage.link_graph import Graph
from sanderling.storage.lost_records import describe_lost, forget_missing
from sanderling.storage.sitemap_hints import Hints
from sanderling.urls import dust
from sanderling.urls.blocklist import matcher
from sanderling.urls.normalize import Spelling
from sanderling.urls.pattern_budget import PatternBudget
from sanderling.urls.scope import Scope as ScopeKind
from sanderling.urls.scope import ScopeRule, scope_rule
from sanderling.warc.archive import Archive, open_archive
from sanderling.warc.cdxj_index import open_index
from sanderling.warc.remote import Offsite, open_offsite

RETRIES = 2
FORGOTTEN = "forgotten"  # in the meta table: patterns of URLs that stay out
T = TypeVar("T")


@contextmanager
def opened(folder: Path, request: Request, seeds: Sequence[Spelling], clock: Clock) -> Iterator[tuple[House, Request]]:
    """The rooms of a crawl into a folder, open until it ends; and the request, with the order that is remembered."""
    with open_collection(folder, request.workers.store) as collection, written_back(folder / DATABASE) as write_back:
        request = msgspec.structs.replace(request, wish=remembered(collection.db, request.wish))
        far = reach(collection.db, request.limits.depth, [seed.url for seed in seeds], Random())
        house = open_house(collection, request, seeds, far.limit, clock)
        house.judge.begin_at(far.starts)
        house.write_back = write_back
        with house.archive, closing(house.log):
            for repaired in house.archive.repairs:
                house.log.note(repaired.told)
            _queue_lost(house)
            yield house, request


def _queue_lost(house: House) -> None:
    """Forget what damaged WARC files have lost, and queue those pages."""
    with transaction(house.db):
        lost = forget_missing(house.db, house.archive.repairs)
        queue_pages(house.db, [page for pages in lost.values() for page in pages])
    house.damage = [describe_lost(file, len(pages)) for file, pages in lost.items()]
    for line in house.damage:
        house.log.note(line)


def planned(folder: Path) -> Collection | None:
    """A collection to look at, with its plans of when to come back; None: nobody has made any."""
    rooms = {"refresh": REFRESH}
    collection = read_collection(folder)
    if is_current(collection.db, rooms):
        return collection
    is_planned = collection.db.execute("SELECT 1 FROM migrations WHERE room = 'refresh'").fetchone() is not None
    collection.close()
    if not is_planned:
        return None
    with open_collection(folder) as ours:  # an older version made them: bring them up to date first
        migrate(ours.db, rooms)
    return read_collection(folder)


def open_house(collection: Collection, request: Request, seeds: Sequence[Spelling], depth: int, clock: Clock) -> House:
    """Open the rooms of one crawl over a collection, repaired to what was committed."""
    db, limits = collection.db, request.limits
    migrate(db, {"refresh": REFRESH})
    catalogue, ledger = Catalogue(db), Ledger(db)
    archive, offsite = _open_archive(collection, catalogue, request.workers.archive, clock)
    book = Book(db, Occurrences(request.memory.url_cache_size, Leaving(request.memory.url_cache)))
    wish = remembered(db, request.wish)
    order = open_order(db, wish)
    judge = _open_judge(db, request.scope, seeds, depth)
    queue = _open_queue(db, request, order, judge)
    return House(
        db=db,
        book=book,
        queue=queue,
        hosts=Hosts(db),
        judge=judge,
        order=order,
        order_name=wish.name,
        keeper=Keeper(db, limits.keep) if limits.keep else None,
        hints=Hints(db),
        ledger=ledger,
        uses=Uses(db, book, judge, ledger, catalogue) if request.fetching.resources else None,
        lists=Lists(db, request.revisit.threshold),
        maps=Maps(db),
        sides=Sides(db),
        notices=Notices(db),
        rounds=Rounds(db, book, order, clock(), request.fetching.cookies),
        diary=Diary(db, policy_named(request.revisit.policy), budget_of(request)),
        agent=fetch_settings(request).agent_token,
        use_maps=request.scope.sitemaps,
        catalogue=catalogue,
        pairing=Pairing(db),
        graph=_open_graph(db),
        archive=archive,
        captures=open_index(collection.indexes, collection.archive, catalogue.committed()),
        log=CrawlLog(collection.logs),
        offsite=offsite,
        session=int(get_meta(db, "session", "1")),
        retries=RETRIES,
        backoff_seconds=request.politeness.backoff,
        counts=Counter(),
    )


def _open_archive(
    collection: Collection, catalogue: Catalogue, elsewhere: str, clock: Clock
) -> tuple[Archive, Offsite | None]:
    """The archive, and the other place its full files go to, if there is one; the catalogue knows every file of it."""
    offsite = open_offsite(collection.archive, elsewhere)
    there = offsite.names() if offsite else {}
    archive = open_archive(collection.archive, catalogue.committed(), clock=clock, elsewhere=there)
    archive.on_full = offsite.send if offsite else None
    with transaction(collection.db):
        for name, length in archive.lengths().items():
            catalogue.file_id(name, length)
    return archive, offsite


def _open_graph(db: Connection) -> Graph:
    graph = Graph(db)
    graph.recover()
    return graph


def _open_judge(db: Connection, scope: Scope, seeds: Sequence[Spelling], depth: int) -> Judge:
    judge = Judge(_rule(db, scope, seeds), depth, _budget(db), dust.load(db))
    judge.forgotten = matcher(json.loads(get_meta(db, FORGOTTEN, "[]")))
    return judge


def _open_queue(db: Connection, request: Request, order: Ordering, judge: Judge) -> Queue:
    """The queue; hosts that have all the pages they may have get no others."""
    queue = Queue(db, pace_of(request), order.favour)
    if request.limits.limit_per_host:
        queue.quota = Quota(db, request.limits.limit_per_host)
        judge.full.update(queue.quota.full())
    return queue


def _rule(db: Connection, scope: Scope, seeds: Iterable[Spelling]) -> ScopeRule:
    """The seeds of a collection add up: a second site joins the first."""
    known = [Url(url) for url in json.loads(get_meta(db, "seeds", "[]"))]
    every = list(dict.fromkeys([*known, *(seed.url for seed in seeds)]))
    if not every:
        raise UsageError("say what to crawl: sanderling crawl https://example.org/")
    set_meta(db, "seeds", json.dumps(every))
    arrived = [Url(url) for url in json.loads(get_meta(db, ARRIVALS, "[]"))]
    return scope_rule([*every, *arrived], ScopeKind(scope.scope), scope.include, scope.exclude)


def _budget(db: Connection) -> PatternBudget:
    budget = PatternBudget()
    row = db.execute("SELECT value FROM blobs WHERE name = 'pattern_budget'").fetchone()
    if row:
        budget.load(row[0])
    return budget


def outlast(folder: Path, store: str, attempt: Callable[[], T]) -> T:
    """Do it. A shared database may go away and return meanwhile: then what was not committed is done again.

    That of a new collection has to be there: its address may be mistyped.
    """
    if store and not exists(folder):
        _wait_for(store, 0.0)
    while True:
        try:
            return attempt()
        except StoreUnavailable:
            if not store_of(folder):
                raise
            _wait_for(store_of(folder))


def _wait_for(store: str, seconds: float | None = None) -> None:
    """Wait until a shared database is back, or say that it is gone for good."""
    from sanderling.db import postgres

    postgres.connect(store, postgres.PATIENCE_SECONDS if seconds is None else seconds).close()
