"""One run of a crawl, from what a person asked for to the summary: seeds, scope, resume or a new session.

A *session* is one full pass over what is known; a *run* is one execution of the command. A run that was cut short is
resumed by the next one. When the last session is complete, the next run opens a new one: every known page in scope is
visited again, with its validators, so that unchanged pages cost a few bytes.
"""

import contextlib
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from random import Random

import msgspec
from msgspec import Struct

from sanderling import __version__
from sanderling.changes.ledger import Ledger
from sanderling.clock import Clock, real
from sanderling.coordinator import Bounds, Coordinator, Engine, Finish, Progress
from sanderling.database import Connection, migrate, transaction
from sanderling.engines.hosts.address import Address
from sanderling.engines.processes import Processes
from sanderling.errors import DiskFull, StoreUnavailable, UsageError
from sanderling.frontier.book import Book, Entry
from sanderling.frontier.hosts import Hosts
from sanderling.frontier.judge import Judge
from sanderling.frontier.keep import Keeper
from sanderling.frontier.orderings.memory import save
from sanderling.frontier.queue import Pace, Queue
from sanderling.migrants.resolve import Resolver
from sanderling.migrants.settings import FetchSettings
from sanderling.ordering import Wish, open_order, order_again, read_wish, remembered
from sanderling.organise import dust
from sanderling.organise.budget import PatternBudget
from sanderling.organise.depth import read_depth
from sanderling.organise.normalise import Spelling, normalise, why_not
from sanderling.organise.scope import Scope as ScopeKind
from sanderling.organise.scope import ScopeRule, scope_rule, verdict
from sanderling.pipeline import House, keep_best
from sanderling.reach import reach
from sanderling.records import Candidate, Outcome, Reason, Source, State, Url
from sanderling.refresh.budget import Budget, parse_budget
from sanderling.refresh.diary import Diary
from sanderling.refresh.lists import Lists
from sanderling.refresh.maps import Maps
from sanderling.refresh.policies import POLICIES
from sanderling.refresh.policy import Policy
from sanderling.refresh.schema import MIGRATIONS as REFRESH
from sanderling.schedule.plan import roster
from sanderling.schedule.roster import Roster
from sanderling.settings import AUTO, Fetching, Limits, Order, Politeness, Revisit, Scheduling, Scope, Workers, nearest
from sanderling.store.catalogue import Catalogue, urls_of
from sanderling.store.cdxj_index import open_index
from sanderling.store.collection import Collection, exists, get_meta, open_collection, set_meta
from sanderling.store.crawl_log import CrawlLog
from sanderling.store.graph import Graph
from sanderling.store.hints import Hints
from sanderling.store.offsite import Offsite, open_offsite
from sanderling.store.warc import open_archive

FAST_CONNECTIONS = 16  # to one host, where no pause is asked for
RETRIES = 2
HOST_HANDS = 4000  # stops a migrant at a host holds: pages come in a stream, not one by one
AUTO_MOST = min(16, 4 * (os.cpu_count() or 1))  # migrants that --migrants auto creates at most
REJUDGED = (Reason.OUT_OF_SCOPE, Reason.EXCLUDED, Reason.DEPTH, Reason.LIMIT, Reason.EVICTED)


class Request(Struct, frozen=True):
    """What a person asked for."""

    seeds: tuple[str, ...]
    scope: Scope = Scope()
    limits: Limits = Limits()
    politeness: Politeness = Politeness()
    fetching: Fetching = Fetching()
    workers: Workers = Workers()
    scheduling: Scheduling = Scheduling()
    revisit: Revisit = Revisit()
    order: Order = Order()
    wish: Wish = Wish()  # what `order` says, as it was read
    command: str = ""


class Summary(Struct, frozen=True):
    """How a run ended."""

    finish_reason: str
    pages: int
    fetched: int
    not_modified: int
    duplicates: int
    failed: int
    skipped: int
    bytes: int
    seconds: float
    pages_per_second: float
    evicted: int = 0  # pages that left for better ones


def crawl(
    folder: Path,
    request: Request,
    *,
    on_start: Callable[[Coordinator], None] | None = None,
    on_tick: Callable[[Progress], None] | None = None,
    engine: Engine | None = None,
    resolver: Resolver | None = None,
    clock: Clock = real,
) -> Summary:
    """Crawl into a collection; the same request again goes on where this one stopped."""
    seeds = [read_seed(text) for text in request.seeds]
    depth_limit(request.limits.depth)  # or say what is wrong
    wish = read_wish(request.order, is_new=not exists(folder))
    scope_rule((), ScopeKind(request.scope.scope), request.scope.include, request.scope.exclude)  # or say what is wrong
    counts: Counter[str] = Counter()
    while True:
        try:
            with open_collection(folder, request.workers.store) as collection:
                request = msgspec.structs.replace(request, wish=remembered(collection.db, wish))
                far = reach(collection.db, request.limits.depth, [seed.url for seed in seeds], Random())
                house = open_house(collection, request, seeds, far.limit, clock)
                house.judge.begin_at(far.starts)
                house.counts = counts
                with house.archive, closing(house.log):
                    run = _begin(house, request, seeds, clock())
                    home = engine or open_engine(request, folder)
                    coordinator = Coordinator(
                        house,
                        home,
                        resolver or Resolver(clock=clock),
                        Bounds(request.limits.limit, request.limits.time_limit, request.limits.size_limit),
                        migrants=count_migrants(request.workers),
                        allow_private=request.fetching.allow_private,
                        folder=folder,
                        roster=roster_of(request, home),
                        clock=clock,
                    )
                    settle(house, coordinator, home, request)
                    coordinator.earlier = _pages_of(house.db, house.session) - _counted(counts)
                    if on_start:
                        on_start(coordinator)
                    finish = coordinator.run(on_tick)
                    _write_schedule(collection, coordinator)
                    return _end(house, run, finish, coordinator, clock())
        except StoreUnavailable:
            if engine is not None or not request.workers.store:
                raise
            wait_for_store(request.workers.store)  # it is as if we had crashed: what was not committed is done again


def open_engine(request: Request, folder: Path) -> Engine:
    """Where the migrants of this crawl live."""
    settings = fetch_settings(request)
    if request.workers.engine == "ray":
        from sanderling.engines.cluster import Cluster

        cluster = Cluster(settings, request.workers.address or "local", request.workers.place)
        cluster.open()
        return cluster
    hosts = addresses_of(request.workers, folder)
    engine = Processes(settings, hosts)
    for place, address in hosts.items():
        engine.served |= dict.fromkeys(address.sites(), place)
    return engine


def addresses_of(workers: Workers, folder: Path) -> dict[str, Address]:
    """The hosts beside web servers that we may send letters to."""
    if workers.via and not workers.key:
        raise UsageError("--via needs our key: --key FILE (sanderling host keygen FILE writes one)")
    urls = [url.rstrip("/") for url in workers.via]
    return {url: Address(url, workers.key, workers.via_ca, memory=str(folder / "hosts")) for url in urls}


def roster_of(request: Request, home: Engine) -> Roster:
    """Who is there and who goes, as the settings say; migrants at hosts go to their own sites only."""
    return roster(request.scheduling, home.reaches if isinstance(home, Processes) else None)


def settle(house: House, coordinator: Coordinator, home: Engine, request: Request) -> None:
    """Let the crew grow if it may. One migrant goes to every host: the owner sets the pace, letters may be long."""
    coordinator.crew.most = AUTO_MOST if request.workers.migrants == AUTO else 0
    if isinstance(home, Processes) and home.hosts:
        house.queue.pace = msgspec.structs.replace(house.queue.pace, near=frozenset(home.served))
        coordinator.crew.hands = dict.fromkeys(home.hosts, HOST_HANDS)
        coordinator.posts = tuple(home.hosts)


def wait_for_store(store: str) -> None:
    """A shared database went away: wait until it is back, or say that it is gone for good."""
    from sanderling import postgres

    postgres.connect(store, postgres.PATIENCE_SECONDS).close()


def _counted(counts: Counter[str]) -> int:
    return counts[Outcome.FETCHED] + counts[Outcome.NOT_MODIFIED]


def _write_schedule(collection: Collection, coordinator: Coordinator) -> None:
    """Leave behind why the last migrant won, for `sanderling schedule`; a full disk costs only that."""
    with contextlib.suppress(OSError):
        (collection.logs / "schedule.json").write_text(json.dumps(coordinator.last_schedule))


def read_seed(text: str) -> Spelling:
    """Spell a seed; a bare host name means https."""
    raw = text.strip()
    spelling = normalise(raw if "://" in raw else f"https://{raw}")
    if spelling is None:
        why = {Reason.SCHEME: "only http and https are crawled", Reason.TOO_LONG: "it is too long"}
        raise UsageError(f"{text!r} cannot be crawled: {why.get(why_not(raw), 'it is no URL')}")
    return spelling


def depth_limit(text: str) -> int:
    """Read a depth limit as `organise.depth` does; -1 means no limit."""
    if text.strip() == "-1":
        return -1
    depth = read_depth(text, Random())
    return -1 if depth is None else depth


def count_migrants(workers: Workers) -> int:
    """How many worker processes: what was asked for, else one per core; auto begins with one."""
    return 1 if workers.migrants == AUTO else workers.migrants or max(1, os.cpu_count() or 1)


def most_migrants(workers: Workers) -> int:
    """How many there may ever be at once; what one host is asked at a time is shared among so many."""
    return AUTO_MOST if workers.migrants == AUTO else count_migrants(workers)


def fetch_settings(request: Request) -> FetchSettings:
    """What migrants need to know."""
    fetching, politeness = request.fetching, request.politeness
    name = politeness.user_agent or f"sanderling/{__version__}"
    agent = f"{name} (+{politeness.contact})" if politeness.contact else name
    auth = {}
    for item in fetching.basic_auth:
        host, equals, secret = item.partition("=")
        if not equals or ":" not in secret:
            raise UsageError("--basic-auth wants HOST=USER:PASSWORD")
        auth[host] = secret
    return FetchSettings(
        user_agent=agent,
        headers=fetching.header,
        basic_auth=auth,
        cookies=fetching.cookies,
        proxy=fetching.proxy,
        allow_private=fetching.allow_private,
        insecure_hosts=fetching.insecure_host,
        timeout=fetching.timeout,
        max_body=fetching.max_body,
        digest=fetching.digest,
        topic=request.wish.topic,
    )


def pace_of(request: Request) -> Pace:
    """How fast one host may be asked, and whether several migrants may do so."""
    delay, migrants = request.politeness.delay, most_migrants(request.workers)
    concurrency = request.politeness.concurrency or (1 if delay > 0 else FAST_CONNECTIONS)
    shared = delay == 0 and concurrency >= migrants
    return Pace(
        delay_seconds=delay,
        connections=max(1, concurrency // migrants) if shared else concurrency,
        shared=shared,
        proxied=bool(request.fetching.proxy),
        term_seconds=request.workers.lease,
    )


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
    return House(
        db=db,
        book=Book(db),
        queue=Queue(db, pace_of(request), order.favour),
        hosts=Hosts(db),
        judge=Judge(rule, depth, _budget(db), dust.load(db)),
        order=order,
        order_name=wish.name,
        keeper=Keeper(db, request.limits.keep) if request.limits.keep else None,
        hints=Hints(db),
        ledger=Ledger(db),
        lists=Lists(db, request.revisit.threshold),
        maps=Maps(db),
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


def policy_named(name: str) -> Policy:
    """A refresh policy by its name."""
    if name not in POLICIES:
        raise UsageError(f"there is no policy {name!r}{nearest(name, list(POLICIES))}")
    return POLICIES[name]


def budget_of(request: Request) -> Budget | None:
    """What revisits may cost; None: no limit."""
    return parse_budget(request.revisit.budget) if request.revisit.budget else None


def _rule(db: Connection, scope: Scope, seeds: Iterable[Spelling]) -> ScopeRule:
    """The seeds of a collection add up: a second site joins the first."""
    known = [Url(url) for url in json.loads(get_meta(db, "seeds", "[]"))]
    every = list(dict.fromkeys([*known, *(seed.url for seed in seeds)]))
    if not every:
        raise UsageError("say what to crawl: sanderling crawl https://example.org/")
    set_meta(db, "seeds", json.dumps(every))
    return scope_rule(every, ScopeKind(scope.scope), scope.include, scope.exclude)


def _budget(db: Connection) -> PatternBudget:
    budget = PatternBudget()
    row = db.execute("SELECT value FROM blobs WHERE name = 'pattern_budget'").fetchone()
    if row:
        budget.load(row[0])
    return budget


def _begin(house: House, request: Request, seeds: Sequence[Spelling], now: float) -> int:
    """Give back old leases, judge again what other rules skipped, queue the seeds, perhaps open a new session."""
    db = house.db
    with transaction(db):
        house.queue.release_all()
        order_again(house, request.wish)
        _judge_again(house, request, now)
        _queue_seeds(house, seeds, now)
        _look_again(house, now)
        if not house.queue.waiting() and db.execute("SELECT 1 FROM pages LIMIT 1").fetchone():
            _open_session(house)
        set_meta(db, "complete", "0")
        set_meta(db, "settings", _kept_settings(request))
        return note_start(house, request, now)


def note_start(house: House, request: Request, now: float) -> int:
    """Write down that a run began; its id."""
    row = house.db.execute(
        "INSERT INTO runs (session, started, command) VALUES (?, ?, ?) RETURNING id",
        (house.session, now, request.command),
    ).fetchone()
    return int(row[0])


def _kept_settings(request: Request) -> str:
    """What a later refresh should know of this crawl; never passwords or secret headers."""
    kept: dict[str, object] = {}
    for group in (request.scope, request.limits, request.politeness, request.fetching, request.workers):
        kept |= msgspec.to_builtins(group)
    secret = {"basic_auth", "header", "limit", "time_limit", "size_limit", "store"}
    return json.dumps({name: value for name, value in kept.items() if name not in secret})


def _queue_seeds(house: House, seeds: Sequence[Spelling], now: float) -> None:
    known = house.book.find([seed.url for seed in seeds])
    entries: dict[Url, Entry] = {}
    for seed in seeds:
        candidate = Candidate(seed.url, seed.wire_if_different, house.judge.seed_level(seed.url), Source.SEED)
        if seed.url not in known:
            entry = house.judge.judge(candidate, False, now)
            if entry is not None:
                entries[seed.url] = entry
        elif known[seed.url].soft:
            house.book.requeue(known[seed.url].id, candidate)
        elif known[seed.url].depth > candidate.depth:
            house.book.shorten(known[seed.url].id, candidate)
    house.book.add(list(entries.values()), now)


def _judge_again(house: House, request: Request, now: float) -> None:
    """When scope or depth changed since the last run, what was skipped may be wanted now, and the other way round."""
    rules = json.dumps([request.scope.scope, request.scope.include, request.scope.exclude, house.judge.depth_limit,
                        sorted(house.judge.rule.seeds), request.limits.keep])  # fmt: skip
    before = get_meta(house.db, "rules")
    set_meta(house.db, "rules", rules)
    if before in ("", rules):
        return
    reasons = ",".join("?" * len(REJUDGED))
    rows = house.db.execute(
        "SELECT u.id, h.name || u.path, u.depth, u.wire FROM urls AS u JOIN hosts AS h ON h.id = u.host"
        f" WHERE u.state = ? AND u.reason IN ({reasons})",
        (State.SKIPPED, *REJUDGED),
    ).fetchall()
    for id_, url, depth, wire in rows:
        candidate = Candidate(Url(url), wire, depth, rank=house.order.again(id_, depth))
        entry = house.judge.judge(candidate, False, now)
        if entry is not None and entry.state is State.QUEUED:
            house.book.requeue(id_, candidate)


def _look_again(house: House, now: float) -> None:
    """Pages that left a full collection, and what had no room in it, may be better than others by now."""
    if house.keeper is None:
        return
    keep_best(house, house.keeper, now)
    better = dict(house.keeper.worth_another_look(house.order))
    for id_, url in urls_of(house.db, list(better)).items():
        house.book.requeue(id_, Candidate(Url(url), depth=better[id_], rank=house.order.keeps(id_, better[id_], 0.0)))


def _open_session(house: House) -> None:
    """A new pass over everything we know."""
    house.session += 1
    set_meta(house.db, "session", str(house.session))
    house.hosts.pardon()
    queue_everything(house)


def queue_everything(house: House, states: Sequence[State] = (State.VISITED, State.GONE, State.FAILED)) -> int:
    """Queue every page we hold, and what was missing or failed, for another visit; say how many."""
    db = house.db
    rows = db.execute(
        "SELECT u.id, u.host, u.depth, h.name || u.path FROM urls AS u JOIN hosts AS h ON h.id = u.host"
        f" WHERE u.state IN ({','.join('?' * len(states))})",
        tuple(states),
    )
    wanted = [(id_, host, depth) for id_, host, depth, url in rows if _is_wanted(house, url, depth)]
    db.executemany(
        "INSERT INTO queue (host, rank, url) VALUES (?, ?, ?)", [(h, house.order.again(i, d), i) for i, h, d in wanted]
    )
    db.executemany("UPDATE urls SET state = ?, attempts = 0 WHERE id = ?", [(State.QUEUED, i) for i, _, _ in wanted])
    db.execute("UPDATE hosts SET waiting = (SELECT count(*) FROM queue WHERE queue.host = hosts.id)")
    return len(wanted)


def _is_wanted(house: House, url: str, depth: int) -> bool:
    return verdict(house.judge.rule, url) is Reason.NONE and not house.judge.is_too_deep(depth)


def _pages_of(db: Connection, session: int) -> int:
    """Pages visited in this session by earlier runs."""
    sql = (
        "SELECT count(*) FROM visits JOIN urls ON urls.id = visits.url"
        " WHERE session = ? AND outcome IN (?, ?) AND role = 'page'"
    )
    return int(db.execute(sql, (session, Outcome.FETCHED, Outcome.NOT_MODIFIED)).fetchone()[0])


def _end(house: House, run: int, finish: Finish, coordinator: Coordinator, now: float) -> Summary:
    """Write down how it ended; hand back what nobody holds any more. On a full disk the next start does it."""
    try:
        with transaction(house.db):
            keep_exactly(house, now)
        summary = summarise(house, finish, time.monotonic() - coordinator.started)
        note_end(house, run, finish, msgspec.to_builtins(summary), now)
    except DiskFull:
        if finish is not Finish.DISK:
            raise
        summary = summarise(house, finish, time.monotonic() - coordinator.started)
    return summary


def keep_exactly(house: House, now: float) -> None:
    """At the end a collection of limited size holds no page too many."""
    if house.keeper is not None:
        keep_best(house, house.keeper, now)


def note_end(house: House, run: int, finish: Finish, summary: object, now: float) -> None:
    """Write down how a run ended, and close what it opened."""
    with transaction(house.db):
        _write_end(house, run, finish, summary, now)
    house.captures.close()
    if house.offsite:
        _send_away(house, house.offsite)


def _send_away(house: House, offsite: Offsite) -> None:
    """Bring the archive to its other place; what could not be copied stays here and is tried again the next time."""
    (current,) = house.archive.lengths()
    offsite.settle(current, house.catalogue.committed())
    for name, why in offsite.trouble.items():
        house.log.note(f"{name} could not be copied to {offsite.address}: {why}")
    offsite.close()


def _write_end(house: House, run: int, finish: Finish, summary: object, now: float) -> None:
    db = house.db
    house.queue.release_all()
    keep_exactly(house, now)
    house.graph.flush()
    house.diary.save()
    save(db, house.order_name, house.order, house.catalogue.next_visit - 1)
    house.archive.close()
    for name, length in house.archive.lengths().items():
        house.catalogue.file_id(name, length)
    set_meta(db, "complete", "1" if finish is Finish.DONE else "0")
    set_meta(db, "finish_reason", finish)
    db.execute(
        "INSERT INTO blobs VALUES ('pattern_budget', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (house.judge.budget.dump(),),
    )
    db.execute(
        "UPDATE runs SET ended = ?, finish_reason = ?, summary = ? WHERE id = ?",
        (now, finish, json.dumps(summary), run),
    )


def summarise(house: House, finish: Finish, seconds: float) -> Summary:
    """The numbers of a run."""
    counts, db = house.counts, house.db
    (pages,) = db.execute(
        "SELECT count(*) FROM pages JOIN urls ON urls.id = pages.url WHERE status BETWEEN 200 AND 299 AND role = 'page'"
    ).fetchone()
    (skipped,) = db.execute("SELECT count(*) FROM urls WHERE state = ?", (State.SKIPPED,)).fetchone()
    visited = counts[Outcome.FETCHED] + counts[Outcome.NOT_MODIFIED]
    return Summary(
        finish_reason=finish,
        pages=pages,
        fetched=counts[Outcome.FETCHED],
        not_modified=counts[Outcome.NOT_MODIFIED],
        duplicates=counts["duplicates"],
        failed=counts["lost"],
        skipped=skipped,
        bytes=counts["bytes"],
        seconds=round(seconds, 3),
        pages_per_second=round(visited / seconds, 2) if seconds else 0.0,
        evicted=counts["evicted"],
    )
