"""Open the rooms of a crawl over a collection, and the place where its migrants live."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from random import Random
from typing import TypeVar

import msgspec

from sanderling.changes.ledger import Ledger
from sanderling.clock import Clock
from sanderling.coordinator import Coordinator, Engine
from sanderling.database import Connection, migrate, transaction
from sanderling.ending import Bounds
from sanderling.engines.hosts.address import Address
from sanderling.engines.processes import Newborn, Processes, newborns
from sanderling.errors import StoreUnavailable, UsageError
from sanderling.frontier.book import Book
from sanderling.frontier.hosts import Hosts
from sanderling.frontier.judge import Judge
from sanderling.frontier.keep import Keeper
from sanderling.frontier.known import Leaving, Occurrences
from sanderling.frontier.queue import Queue
from sanderling.frontier.quota import Quota
from sanderling.home.house import House
from sanderling.home.offers import ARRIVALS
from sanderling.home.uses import Uses
from sanderling.migrants.briefed import is_kept
from sanderling.migrants.resolve import Resolver
from sanderling.ordering import open_order, remembered
from sanderling.organise import dust
from sanderling.organise.budget import PatternBudget
from sanderling.organise.forgotten import matcher
from sanderling.organise.normalise import Spelling
from sanderling.organise.scope import Scope as ScopeKind
from sanderling.organise.scope import ScopeRule, scope_rule
from sanderling.reach import reach
from sanderling.records import Url
from sanderling.refresh.diary import Diary
from sanderling.refresh.lists import Lists
from sanderling.refresh.maps import Maps
from sanderling.refresh.notices import Notices
from sanderling.refresh.schema import MIGRATIONS as REFRESH
from sanderling.refresh.sides import Sides
from sanderling.request import AUTO_MOST, Request, budget_of, count_migrants, fetch_settings, pace_of, policy_named
from sanderling.schedule.plan import roster
from sanderling.schedule.rivals import OWNING
from sanderling.schedule.roster import Roster
from sanderling.settings import AUTO, Scope, Workers
from sanderling.store.catalogue import Catalogue
from sanderling.store.cdxj_index import open_index
from sanderling.store.collection import Collection, get_meta, open_collection, set_meta
from sanderling.store.crawl_log import CrawlLog
from sanderling.store.graph import Graph
from sanderling.store.hints import Hints
from sanderling.store.offsite import open_offsite
from sanderling.store.warc import open_archive

RETRIES = 2
FORGOTTEN = "forgotten"  # in the meta table: patterns of URLs that stay out
KEEP = "migrants"  # folder in a collection: what specialised migrants keep
T = TypeVar("T")
HOST_HANDS = 4000  # stops a migrant at a host holds: pages come in a stream, not one by one


@contextmanager
def opened(folder: Path, request: Request, seeds: Sequence[Spelling], clock: Clock) -> Iterator[tuple[House, Request]]:
    """The rooms of a crawl into a folder, open until it ends; and the request, with the order that is remembered."""
    with open_collection(folder, request.workers.store) as collection:
        request = msgspec.structs.replace(request, wish=remembered(collection.db, request.wish))
        far = reach(collection.db, request.limits.depth, [seed.url for seed in seeds], Random())
        house = open_house(collection, request, seeds, far.limit, clock)
        house.judge.begin_at(far.starts)
        with house.archive, closing(house.log):
            yield house, request


def open_house(collection: Collection, request: Request, seeds: Sequence[Spelling], depth: int, clock: Clock) -> House:
    """Open the rooms of one crawl over a collection, repaired to what was committed."""
    db = collection.db
    migrate(db, {"refresh": REFRESH})
    catalogue = Catalogue(db)
    offsite = open_offsite(collection.archive, request.workers.archive)
    there = offsite.names() if offsite else {}
    archive = open_archive(collection.archive, catalogue.committed(), clock=clock, elsewhere=there)
    archive.on_full = offsite.send if offsite else None
    with transaction(db):
        for name, length in archive.lengths().items():
            catalogue.file_id(name, length)
    captures = open_index(collection.indexes, collection.archive, catalogue.committed())
    graph = Graph(db)
    graph.recover()
    rule = _rule(db, request.scope, seeds)
    wish = remembered(db, request.wish)
    order = open_order(db, wish)
    memory = request.memory
    book = Book(db, Occurrences(memory.url_cache_size, Leaving(memory.url_cache)))
    judge, ledger = Judge(rule, depth, _budget(db), dust.load(db)), Ledger(db)
    judge.forgotten = matcher(json.loads(get_meta(db, FORGOTTEN, "[]")))
    queue = Queue(db, pace_of(request), order.favour)
    if request.limits.limit_per_host:
        queue.quota = Quota(db, request.limits.limit_per_host)
        judge.full.update(queue.quota.full())
    return House(
        db=db,
        book=book,
        queue=queue,
        hosts=Hosts(db),
        judge=judge,
        order=order,
        order_name=wish.name,
        keeper=Keeper(db, request.limits.keep) if request.limits.keep else None,
        hints=Hints(db),
        ledger=ledger,
        uses=Uses(db, book, judge, ledger, catalogue) if request.fetching.resources else None,
        lists=Lists(db, request.revisit.threshold),
        maps=Maps(db),
        sides=Sides(db),
        notices=Notices(db),
        diary=Diary(db, policy_named(request.revisit.policy), budget_of(request)),
        agent=fetch_settings(request).agent_token,
        use_maps=request.scope.sitemaps,
        catalogue=catalogue,
        graph=graph,
        archive=archive,
        captures=captures,
        log=CrawlLog(collection.logs),
        offsite=offsite,
        session=int(get_meta(db, "session", "1")),
        retries=RETRIES,
        backoff_seconds=request.politeness.backoff,
        counts=Counter(),
    )


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


def prepare_engine(request: Request) -> AbstractContextManager[list[Newborn]]:
    """Start what takes long to wake up, before it is known what it will be told."""
    count = count_migrants(request.workers) + len(request.workers.via)  # one goes to every host
    return newborns(count if request.workers.engine != "ray" else 0)


def open_engine(request: Request, folder: Path, waiting: list[Newborn] | None = None) -> Engine:
    """Where the migrants of this crawl live."""
    settings = fetch_settings(request)
    if request.driven or is_kept(folder / KEEP):
        settings = msgspec.structs.replace(settings, keep=str(folder / KEEP))
    if request.workers.engine == "ray":
        from sanderling.engines.cluster import Cluster

        cluster = Cluster(settings, request.workers.address or "local", request.workers.place)
        cluster.open()
        return cluster
    hosts = addresses_of(request.workers, folder)
    engine = Processes(settings, hosts, waiting)
    for place, address in hosts.items():
        engine.served |= dict.fromkeys(address.sites(), place)
    return engine


def addresses_of(workers: Workers, folder: Path) -> dict[str, Address]:
    """The hosts beside web servers that we may send letters to."""
    if workers.via and not workers.key:
        raise UsageError("--via needs our key: --key FILE (sanderling host keygen FILE writes one)")
    urls = [url.rstrip("/") for url in workers.via]
    memory, check = str(folder / "hosts"), workers.via_check
    return {url: Address(url, workers.key, workers.via_ca, memory=memory, check=check) for url in urls}


def roster_of(request: Request, home: Engine) -> Roster:
    """Who is there and who goes, as the settings say; migrants at hosts go to their own sites only.

    With cookies a host belongs to one migrant, or it would see several visitors.
    """
    scheduling = request.scheduling
    if request.fetching.cookies and scheduling.schedule not in OWNING:
        scheduling = msgspec.structs.replace(scheduling, schedule="consistent-hash")
    return roster(scheduling, home.reaches if isinstance(home, Processes) else None)


def put_in_charge(
    house: House, home: Engine, request: Request, folder: Path, bounds: Bounds, resolver: Resolver, clock: Clock
) -> Coordinator:
    """Make the coordinator of migrants who live there."""
    coordinator = Coordinator(
        house,
        home,
        resolver,
        bounds,
        migrants=count_migrants(request.workers),
        allow_private=request.fetching.allow_private,
        folder=folder,
        roster=roster_of(request, home),
        clock=clock,
    )
    settle(house, coordinator, home, request)
    return coordinator


def settle(house: House, coordinator: Coordinator, home: Engine, request: Request) -> None:
    """Let the crew grow if it may. One migrant goes to every host: the owner sets the pace, letters may be long."""
    coordinator.crew.most = AUTO_MOST if request.workers.migrants == AUTO else 0
    if isinstance(home, Processes) and home.hosts:
        house.queue.pace = msgspec.structs.replace(house.queue.pace, near=frozenset(home.served))
        coordinator.crew.hands = dict.fromkeys(home.hosts, HOST_HANDS)
        coordinator.posts = tuple(home.hosts)


def outlast(store: str, attempt: Callable[[], T]) -> T:
    """Do it. A shared database may go away and return meanwhile: then what was not committed is done again."""
    while True:
        try:
            return attempt()
        except StoreUnavailable:
            if not store:
                raise
            _wait_for(store)


def _wait_for(store: str) -> None:
    """Wait until a shared database is back, or say that it is gone for good."""
    from sanderling import postgres

    postgres.connect(store, postgres.PATIENCE_SECONDS).close()
