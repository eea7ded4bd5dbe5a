"""The whole flow on one screen; the only place where loops close.

    seeds -> judge -> book, queue -> itinerary -> migrant -> parcel -> WARC -> catalogue -> links -> judge ...

One batch of parcels is one transaction: WARC bytes are on the disk before it, leases end in it. What a crash leaves
undone is still leased or queued, and is done again.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from email.utils import parsedate_to_datetime

from msgspec import Struct
from msgspec.structs import replace

from sanderling.changes.ledger import Ledger
from sanderling.database import Connection, transaction
from sanderling.frontier.book import Book, Entry, Known
from sanderling.frontier.closing import MAX_HOPS, close, conduct
from sanderling.frontier.hosts import CONDEMN_AFTER, Hosts, backoff
from sanderling.frontier.judge import SAME_AS, Judge
from sanderling.frontier.keep import Keeper
from sanderling.frontier.order import LEARN_LEAST, LEARN_PAGES, LEARN_SHARE, NEVER, Finding, Lesson, Ordering
from sanderling.frontier.orderings.choose import DEFAULT
from sanderling.frontier.queue import Closing, Lease, Queue
from sanderling.migrants.observe import UNCHANGED
from sanderling.migrants.robots import rules_for
from sanderling.organise.normalise import Spelling, host_of, normalise, resolve, split
from sanderling.organise.relevance import unpack_relevance
from sanderling.organise.scope import admissible, is_site_of_seed, site_of
from sanderling.organise.traps import SESSION_ID, without_session
from sanderling.pages.parse import parse
from sanderling.pages.signatures import sign, write
from sanderling.records import (
    Candidate,
    Hint,
    Host,
    Link,
    Outcome,
    Parcel,
    Pointer,
    Reason,
    Robots,
    Role,
    Source,
    State,
    Url,
    Visit,
)
from sanderling.refresh.diary import Diary
from sanderling.refresh.lists import DELETED, UNSAID, Lists, is_answer
from sanderling.refresh.maps import Maps
from sanderling.refresh.plans import Facts
from sanderling.refresh.sitemap import Hint as Told
from sanderling.refresh.trust import Kind
from sanderling.sources.entries import INDEX_DEPTH_LIMIT, RESOURCESYNC
from sanderling.sources.entries import Kind as MapKind
from sanderling.store.catalogue import LOOKS, Catalogue, Filed, Latest
from sanderling.store.cdxj_index import Index
from sanderling.store.crawl_log import CrawlLog
from sanderling.store.graph import FLUSH_PAIRS, Forward, Graph, pack_links, targets_of, unpack_links
from sanderling.store.hints import Hints
from sanderling.store.offsite import Offsite
from sanderling.store.read import read_record
from sanderling.store.shelve import Shelved, captures, shelve
from sanderling.store.warc import Archive
from sanderling.store.warc_records import Place

WELL_KNOWN = (
    "/sitemap.xml",
    "/sitemap_index.xml",
    "/sitemap.txt",
    RESOURCESYNC,
)  # tried in turn where robots.txt names none
PLANNED = (Outcome.FETCHED, Outcome.NOT_MODIFIED, Outcome.REDIRECT, Outcome.GONE)
TROUBLE_WAIT = 86_400.0  # seconds until a page that could not be seen is looked at again
MAPS_FIRST = -1e9  # rank: sitemaps and feeds are read before the pages of their host


class House(Struct):
    """The open rooms of one crawl, handed only to this module."""

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
    catalogue: Catalogue
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
    order_name: str = DEFAULT
    keeper: Keeper | None = None  # of a collection of limited size
    learned: int = 0  # pages since waiting URLs were last moved by what was learned


def bring_home(parcels: Sequence[Parcel], house: House, now: float) -> None:
    """Store what migrants brought, queue what they found, end their leases: all of it or nothing."""
    with transaction(house.db):
        for robots in (robots for parcel in parcels for robots in parcel.robots):
            _learn_robots(robots, house, now)
        visits = [visit for parcel in parcels for visit in parcel.visits]
        shelved = _bring_visits(visits, house, now) if visits else []
    house.captures.add(captures(shelved), house.archive.lengths())
    house.log.flush()


def _bring_visits(visits: Sequence[Visit], house: House, now: float) -> list[Shelved]:
    leases = house.queue.leases([(visit.id, visit.token) for visit in visits])
    held = [visit for visit in visits if visit.id in leases and visit.token == leases[visit.id].token]
    house.counts["fenced"] += len(visits) - len(held)
    visits = held
    stored = [visit for visit in visits if visit.outcome not in (Outcome.RETURNED, Outcome.SKIPPED)]
    rows = _rows(house.db, [visit.id for visit in visits])
    latest = house.catalogue.latest([visit.id for visit in stored])
    ids = _offer_links(stored, rows, house, now)
    _follow_maps(stored, rows, house, now)
    wires = {visit.id: rows[visit.id].wire for visit in stored}
    shelved = shelve(stored, latest, wires, house.catalogue, house.archive)
    files = {name: house.catalogue.file_id(name, length) for name, length in house.archive.flush().items()}
    followed = [[(ids[link.url], link) for link in item.visit.links if link.url in ids] for item in shelved]
    filed = [_file(item, files, links, latest.get(item.visit.id), house)
             for item, links in zip(shelved, followed, strict=True)]  # fmt: skip
    _learn(zip(shelved, followed, strict=True), rows, leases, ids, house)
    _plan(shelved, latest, _note_changes(shelved, latest, house), house, now)
    house.catalogue.file(filed, latest, house.session)
    closings = [_close(visit, leases[visit.id], rows[visit.id], latest.get(visit.id), house) for visit in visits]
    house.queue.finish(closings)
    _treat_hosts(visits, leases, house, now)
    _count(visits, closings, filed, house)
    house.log.write(visits, rows)
    if house.graph.pairs >= FLUSH_PAIRS:
        house.graph.flush()
    _promote(len(shelved), house)
    if house.keeper is not None and house.keeper.is_due(len(shelved)):
        keep_best(house, house.keeper, now)
    return shelved


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


def _rows(db: Connection, ids: Sequence[int]) -> dict[int, UrlRow]:
    found = {}
    for start in range(0, len(ids), 400):
        part = ids[start : start + 400]
        marks = ",".join("?" * len(part))
        for row in db.execute(
            f"SELECT id, depth, hops, attempts, via, wire, source FROM urls WHERE id IN ({marks})", part
        ):
            found[row[0]] = UrlRow(*row[1:])
    return found


class Offer(Struct, frozen=True, gc=False):
    """A URL that a visit points at; it becomes a candidate only if it is new or comes by a better way."""

    depth: int
    nofollow: bool
    source: Source
    page: Visit
    wire: str = ""
    promise: float = 0.0  # what the words of the link say, in a focused crawl
    hops: int = 0
    priority: float = 0.5  # what a sitemap said
    role: Role = Role.PAGE
    is_seed: bool = False  # it was found on a seed

    def candidate(self, url: Url, rank: float = 0.0) -> Candidate:
        return Candidate(url, self.wire, self.depth, self.source, self.page.id, self.hops, rank, role=self.role)

    def finding(self, url: Url, back: int = 1) -> Finding:
        page = self.page
        links = len(page.links) if self.source is Source.LINK else 1
        return Finding(
            url, self.depth, page.id, page.token, links, back, self.is_seed, relevance_of(page), self.promise,
            self.priority,
        )  # fmt: skip


def relevance_of(page: Visit) -> float:
    """How much a page speaks of the topic of a focused crawl."""
    packed = page.marks.get("relevance")
    return unpack_relevance(packed) if packed else 0.0


def _offer_links(visits: Sequence[Visit], rows: Mapping[int, UrlRow], house: House, now: float) -> dict[Url, int]:
    """Every URL the visits point at gets an id; new ones are judged and queued or skipped."""
    offers: dict[Url, Offer] = {}
    for visit in visits:
        row = rows[visit.id]
        depth, page_nofollow, seed = row.depth + 1, visit.nofollow, row.is_seed
        for link in visit.links:
            nofollow = page_nofollow or link.nofollow
            known = offers.get(link.url)
            if known is None or depth < known.depth or (known.nofollow and not nofollow):
                offers[link.url] = Offer(depth, nofollow, Source.LINK, visit, link.wire, link.promise, is_seed=seed)
        if visit.canonical and visit.canonical != visit.url:
            offers.setdefault(visit.canonical, Offer(row.depth, False, Source.CANONICAL, visit))
        if visit.outcome is Outcome.REDIRECT and row.hops < MAX_HOPS:
            target = resolve(row.wire or visit.url, visit.location)
            if target is not None:
                wire, hops = target.wire_if_different, row.hops + 1
                offers[target.url] = Offer(
                    row.depth, False, Source.REDIRECT, visit, wire, hops=hops, role=visit.role, is_seed=seed
                )
    return _offer(offers, house, now)


def _offer(offers: Mapping[Url, Offer], house: House, now: float) -> dict[Url, int]:
    known = house.book.find(offers)
    ids = {url: found.id for url, found in known.items()}
    entries: list[Entry] = []
    cleaned: dict[Url, Offer] = {}
    for url, offer in offers.items():
        found = known.get(url)
        if found is None:
            entry = house.judge.judge(offer.candidate(url), offer.nofollow, now)
            if entry is not None:
                entries.append(entry)
                if clean := _cleaner(url, entry.note):
                    cleaned[clean.url] = replace(offer, wire=clean.wire_if_different)
        elif found.soft or (offer.depth < found.depth and offer.source not in (Source.SITEMAP, Source.FEED)):
            _found_again(url, offer, found, house, now)
    entries = _ranked(entries, offers, house)
    ids.update(house.book.add(entries, now))
    house.counts["passed_over"] += sum(1 for entry in entries if entry.state is State.SKIPPED)
    cleaned = {url: offer for url, offer in cleaned.items() if url not in offers}
    return ids | _offer(cleaned, house, now) if cleaned else ids


def _cleaner(url: Url, note: str) -> Spelling | None:
    """The URL worth a visit instead: without its session id, or as a learned rule spells it."""
    if note.startswith(SESSION_ID):
        return normalise(without_session(url))
    return normalise(note.removeprefix(SAME_AS)) if note.startswith(SAME_AS) else None


def _ranked(entries: Sequence[Entry], offers: Mapping[Url, Offer], house: House) -> list[Entry]:
    """Give the URLs that are to be visited their place; one that gets none is skipped."""
    wanted = [entry.candidate.url for entry in entries if entry.state is State.QUEUED]
    back = _back_links(wanted, offers) if house.order.counts_back else {}
    ranks = house.order.rank([offers[url].finding(url, back.get(url, 1)) for url in wanted])
    places = dict(zip(wanted, ranks, strict=True))
    out = []
    for entry in entries:
        candidate = entry.candidate
        rank = places.get(candidate.url)
        if rank is None:
            out.append(entry)
        elif rank == NEVER:
            out.append(Entry(candidate, State.SKIPPED, Reason.IRRELEVANT))
        elif candidate.role is Role.PAGE and not _has_room(house, rank):
            out.append(Entry(candidate, State.SKIPPED, Reason.LIMIT, "not better than the pages kept"))
        else:
            place = MAPS_FIRST if candidate.role is not Role.PAGE else rank
            out.append(Entry(offers[candidate.url].candidate(candidate.url, place), State.QUEUED))
    return out


def _has_room(house: House, rank: float) -> bool:
    return house.keeper is None or not house.order.compares or house.keeper.admits(rank)


def _back_links(urls: Sequence[Url], offers: Mapping[Url, Offer]) -> Counter[Url]:
    """How many pages of this batch link to each of these."""
    wanted = set(urls)
    pages = {offer.page.id: offer.page for offer in offers.values() if offer.source is Source.LINK}
    return Counter(link.url for page in pages.values() for link in page.links if link.url in wanted)


def _follow_maps(visits: Sequence[Visit], rows: Mapping[int, UrlRow], house: House, now: float) -> None:
    """What sitemaps and feeds lead to: their pages, with hints, and more sitemaps."""
    if not house.use_maps:
        return
    for visit in visits:
        if visit.role is Role.CHANGES:
            _hear_list(visit, house, now)
            continue
        if visit.pointers:
            _note_list(visit, house, now)
            near = [p for p in visit.pointers if p.role is not Role.CHANGES and admissible(p.url, visit.url)]
            _offer_maps(near, house, now, visit.id, rows[visit.id].hops + (visit.role is not Role.PAGE))
        if visit.role is Role.PAGE:
            continue
        _read_map(visit, house, now)
        if visit.outcome in (Outcome.GONE, Outcome.FAILED) and (path := split(visit.url)[1]) in WELL_KNOWN[:-1]:
            following = host_of(visit.url) + WELL_KNOWN[WELL_KNOWN.index(path) + 1]
            _offer_maps([Pointer(Url(following))], house, now)


def _read_map(visit: Visit, house: House, now: float) -> None:
    """Take what a sitemap or feed says, and plan when to read it again; of one that is retired nothing is kept."""
    kind = Kind.SITEMAP if visit.role is Role.SITEMAP else Kind.FEED
    if visit.outcome is Outcome.NOT_MODIFIED or visit.note == UNCHANGED:
        house.maps.read(visit.id, now, news=False)
    elif visit.outcome is Outcome.FETCHED and not visit.note.startswith(MapKind.UNKNOWN):
        _take_hints(visit, house, now)
        house.maps.read(visit.id, now, news=bool(visit.hints or visit.pointers))
    elif visit.outcome is not Outcome.REDIRECT and house.maps.fail(visit.id, now):
        house.diary.unlist(house.hints.keep(visit.id, [], now), now, kind)


def _offer_maps(pointers: Sequence[Pointer], house: House, now: float, via: int = 0, nesting: int = 0) -> None:
    """Queue sitemaps and feeds before the pages of their host."""
    known = house.book.find([pointer.url for pointer in pointers])
    entries = {}
    for pointer in pointers:
        if pointer.url not in known and nesting <= INDEX_DEPTH_LIMIT and house.judge.admits_map(host_of(pointer.url)):
            candidate = Candidate(
                pointer.url, pointer.wire, 0, Source.SITEMAP, via, nesting, MAPS_FIRST, role=pointer.role
            )
            entries[pointer.url] = Entry(candidate, State.QUEUED)
    house.book.add(list(entries.values()), now)


def _take_hints(visit: Visit, house: House, now: float) -> None:
    """Queue the pages of a sitemap that may speak for them, and keep what it says of all."""
    named: dict[Host, bool] = {}
    source = Source.SITEMAP if visit.role is Role.SITEMAP else Source.FEED
    offers: dict[Url, Offer] = {}
    hints: dict[Url, Hint] = {}
    for hint in visit.hints:
        host = host_of(hint.url)
        if admissible(hint.url, visit.url) or _is_named_by(host, visit.url, house, named):
            priority = hint.priority if hint.priority >= 0 else 0.5
            level = 1 + house.judge.map_level(host)
            offers[hint.url] = Offer(level, False, source, visit, hint.wire, priority=priority)
            hints[hint.url] = hint
    ids = _offer(offers, house, now)
    kept = [(ids[url], hint) for url, hint in hints.items() if url in ids]
    kind = Kind.SITEMAP if visit.role is Role.SITEMAP else Kind.FEED
    house.diary.unlist(house.hints.keep(visit.id, kept, visit.at), now, kind)
    if house.diary.believes(site_of(visit.url)):
        news = house.hints.newer([id_ for id_, hint in kept if hint.lastmod])
        house.counts["announced"] += house.diary.announce(news, now, kind)


def _note_list(visit: Visit, house: House, now: float) -> None:
    """A site names its list of changes: a refresh will ask it."""
    for pointer in visit.pointers:
        if pointer.role is not Role.CHANGES or host_of(pointer.url) != host_of(visit.url):
            continue
        known = house.book.find([pointer.url]).get(pointer.url)
        if known is None or house.lists.is_closed(known.id):
            wire = house.lists.first_question(pointer.url, house.book.host_id(host_of(visit.url)), visit)
            if known is None:
                new = Candidate(pointer.url, wire, 0, Source.SITEMAP, visit.id, role=Role.CHANGES)
                house.lists.open(house.book.add([Entry(new, State.VISITED)], now)[pointer.url])
            else:
                house.lists.reopen(known.id, wire)


def _hear_list(visit: Visit, house: House, now: float) -> None:
    """What a site says has changed is due now, if its priority is above the threshold; new pages are queued."""
    if not house.lists.is_open(visit.id):
        return None
    if visit.outcome is Outcome.RETRY:
        return house.lists.wait(visit.id, now)
    if visit.outcome is not Outcome.FETCHED or not is_answer(visit):
        house.log.note(f"{visit.url} gives no list of changes ({visit.status}); pages are visited the ordinary way")
        return house.lists.lose(visit, now)
    hints = {hint.url: hint for hint in visit.hints if host_of(hint.url) == host_of(visit.url)}
    known = house.book.find(hints)
    places = {url: DELETED if hint.deleted else hint.priority if hint.priority >= 0 else UNSAID
              for url, hint in hints.items()}  # fmt: skip
    _offer({url: Offer(1, False, Source.SITEMAP, visit, hint.wire, priority=places[url]) for url, hint in hints.items()
            if url not in known and not hint.deleted and house.lists.wants(places[url])}, house, now)  # fmt: skip
    house.diary.announce({found.id: now for found in known.values()}, now, Kind.PUBLISHER)
    house.lists.hear(visit, [(known[url].id, places[url]) for url in known], visit.list_next, now)
    house.catalogue.miss([known[url].id for url in known if hints[url].deleted])
    house.counts["announced"] += len(known)
    return None


def _is_named_by(host: Host, sitemap: str, house: House, named: dict[Host, bool]) -> bool:
    """Does the robots.txt of another host name this sitemap?"""
    if host not in named:
        robots = house.hosts.robots(host)
        named[host] = robots is not None and sitemap in rules_for(robots, house.agent).sitemaps
    return named[host]


def _found_again(url: Url, offer: Offer, found: Known, house: House, now: float) -> None:
    """A known URL by a shorter way, or by one that may be followed: tell its links, or lift its soft reason."""
    if found.soft:
        if not offer.nofollow and not house.judge.is_too_deep(offer.depth):
            (rank,) = house.order.rank([offer.finding(url)])
            rank = min(rank, house.order.keeps(found.id, offer.depth, 0.0)) if house.keeper is not None else rank
            if rank != NEVER and _has_room(house, rank):
                house.book.requeue(found.id, offer.candidate(url, rank))
    elif house.book.shorten(found.id, offer.candidate(url)):
        targets = targets_of(house.db, found.id).targets
        deeper = {url: replace(offer, depth=offer.depth + 1, source=Source.LINK, wire="", promise=0.0, hops=0)
                  for url in house.book.deeper_than(offer.depth + 1, targets)}  # fmt: skip
        _offer(deeper, house, now)


Followed = Sequence[tuple[int, Link]]
"""The links of a page whose targets are known, with their ids."""


def _file(item: Shelved, files: Mapping[str, int], kept: Followed, old: Latest | None, house: House) -> Filed:
    """Pack the links of a page that is new or changed, and tell the graph of those it did not have before."""
    visit, place = item.visit, item.place
    links, count = b"", 0
    if item.changed and visit.links:
        targets = [id_ for id_, _ in kept]
        count = len(targets)
        nofollow = [n for n, (_, link) in enumerate(kept) if link.nofollow]
        links = pack_links(Forward(targets, [link.anchor for _, link in kept], nofollow))
        known = set(unpack_links(old.links).targets) if old else ()
        house.graph.add(visit.id, [id_ for id_ in targets if id_ not in known] if known else targets)
    if place is None:
        return Filed(visit, item.changed, twin=item.twin, links=links, link_count=count)
    where = files[place.file], place.offset, place.length
    return Filed(visit, item.changed, *where, item.record, item.payload, item.twin, links, count)


def _learn(
    shelved: Iterable[tuple[Shelved, Followed]], rows: Mapping[int, UrlRow], leases: Mapping[int, Lease],
    ids: Mapping[Url, int], house: House,
) -> None:  # fmt: skip
    """Tell the ordering of pages that are new or changed, and of hops."""
    focused = house.order.is_focused
    for item, followed in shelved:
        visit, row = item.visit, rows[item.visit.id]
        if not item.changed or visit.role is not Role.PAGE:
            continue
        targets = [id_ for id_, _ in followed]
        if visit.outcome is Outcome.REDIRECT and (target := resolve(row.wire or visit.url, visit.location)):
            targets = [ids[target.url]] if target.url in ids else []
        promises = [link.promise for _, link in followed] if focused else ()
        rank, relevance = leases[visit.id].rank, relevance_of(visit)
        house.order.learn(Lesson(visit.id, visit.url, targets, rank, row.is_seed, relevance, promises))


def _promote(stored: int, house: House) -> None:
    """Now and then, move waiting URLs by what was learned: often at first, then each time the crawl grew by a tenth."""
    house.learned += stored
    if house.learned >= min(LEARN_PAGES, max(LEARN_LEAST, house.counts[Outcome.FETCHED] // LEARN_SHARE)):
        house.queue.promote(house.order.gains())
        house.learned = 0


def keep_best(house: House, keeper: Keeper, now: float) -> None:
    """Let the worst pages leave a collection that is full, and give up what waits and is no better."""
    evicted = keeper.worst(house.order)
    keeper.note(evicted)
    gone = [page.url for page in evicted]
    house.catalogue.remove(gone, house.session, now)
    house.diary.drop(gone)
    house.lists.leave(gone)
    house.counts["evicted"] += len(gone)
    if house.order.compares:
        house.counts["passed_over"] += keeper.drop_waiting()


def _note_changes(shelved: Sequence[Shelved], latest: Mapping[int, Latest], house: House) -> set[int]:
    """Say what kind of change each page had that was known before; give those where it matters."""
    changed: set[int] = set()
    for item in shelved:
        visit, old = item.visit, latest.get(item.visit.id)
        if old is None or visit.role is not Role.PAGE or old.status != 200:
            continue
        site = site_of(visit.url)
        if not item.changed and visit.outcome in (Outcome.NOT_MODIFIED, Outcome.FETCHED):
            house.ledger.same(visit.id, site)
        elif visit.outcome is Outcome.FETCHED:
            change = house.ledger.note(visit.id, site, visit.at, old.last_visit, _marks(visit, old, house), visit.mime)
            if change.matters:
                changed.add(visit.id)
    house.ledger.save()
    house.counts["changed"] += len(changed)
    return changed


def _plan(
    shelved: Sequence[Shelved], latest: Mapping[int, Latest], changed: set[int], house: House, now: float
) -> None:
    """Say when to come back to every page of the batch: the one loop from refresh to frontier."""
    seen = [item for item in shelved if item.visit.role is Role.PAGE and item.visit.outcome in PLANNED]
    ids = [item.visit.id for item in seen]
    states, hints = house.diary.states(ids), house.hints.of(ids)
    facts, gone = [], []
    for item in seen:
        visit, old = item.visit, latest.get(item.visit.id)
        if visit.outcome is Outcome.GONE and (old is None or old.misses + 1 >= LOOKS):
            gone.append(visit.id)
            house.counts["vanished"] += old is not None and old.status == 200
            continue
        hint = hints.get(visit.id)
        facts.append(
            Facts(
                visit.id, site_of(visit.url), split(visit.url)[1], now, old.last_visit if old else 0.0,
                visit.id in changed, old.visits + 1 if old else 1, old.changes if old else 0,
                visit.outcome is Outcome.GONE, http_time(visit.last_modified), visit.size,
                Told(hint.lastmod, hint.whole_day, hint.changefreq) if hint else None, states.get(visit.id, b""),
            )
        )  # fmt: skip
        house.counts["new"] += old is None and visit.outcome is Outcome.FETCHED
        house.counts["moved"] += old is not None and old.status == 200 and visit.outcome is Outcome.REDIRECT
        house.counts["bytes_saved"] += old.size if old and visit.outcome is Outcome.NOT_MODIFIED else 0
        if old and old.etag and visit.etag != old.etag and visit.outcome is Outcome.FETCHED and not item.changed:
            house.hosts.etag_lied(host_of(visit.url))
    house.diary.plan(facts)
    house.diary.drop(gone)
    house.lists.leave([*gone, *(page.url for page in facts if not page.previous)])
    house.lists.confirm({page.url: page.changed or page.missing for page in facts if page.previous}, now)
    lost = [i.visit for i in shelved if i.visit.outcome in (Outcome.RETRY, Outcome.FAILED) and i.visit.id in latest]
    for visit in lost:
        house.diary.postpone([visit.id], now + TROUBLE_WAIT, f"it could not be seen: {visit.reason}")
    house.diary.confirm({page.url: (page.site, page.changed) for page in facts if page.previous})


def http_time(text: str) -> float:
    """A Last-Modified header as a time; 0 if it is none."""
    try:
        return parsedate_to_datetime(text).timestamp() if text else 0.0
    except (ValueError, TypeError, OverflowError):
        return 0.0


def _marks(visit: Visit, old: Latest, house: House) -> tuple[bytes, bytes] | None:
    """The full marks of the last version and of this one; the first time, the last version is read once more."""
    new = visit.marks.get("signature", b"")
    if not new:
        return None
    before = house.catalogue.mark(visit.id, "signature")
    if not before and (place := house.catalogue.body_place(old.visit)):
        before = write(sign(parse(read_record(house.archive.folder, Place(*place)).body, old.charset)))
    return (before, new) if before else None


def _close(visit: Visit, lease: Lease, row: UrlRow, old: Latest | None, house: House) -> Closing:
    closing = close(visit, lease, row.attempts, house.retries)
    if visit.list_next and house.lists.goes_on(visit.id):
        return Closing(lease, State.QUEUED)
    if visit.outcome is Outcome.GONE and old is not None and old.status == 200 and old.misses + 1 < LOOKS:
        return Closing(lease, State.VISITED, note="missing, to be looked at once more")
    if visit.outcome is Outcome.REDIRECT:
        target = resolve(row.wire or visit.url, visit.location)
        if target is None:
            return Closing(lease, State.FAILED, Reason.REDIRECT_TO_NOWHERE, visit.location[:200])
        if row.hops >= MAX_HOPS or (target.url == visit.url and target.wire == (row.wire or visit.url)):
            return Closing(lease, State.FAILED, Reason.TOO_MANY_REDIRECTS, visit.location[:200])
    if closing.state is State.QUEUED and (given_up := house.judge.condemned.get(host_of(visit.url))):
        state = State.SKIPPED if given_up is Reason.ROBOTS_UNREACHABLE else State.FAILED
        return Closing(lease, state, given_up, visit.note, closing.attempts)
    if closing.state is State.FAILED and old is not None and old.status == 200:
        return replace(closing, state=State.VISITED)  # trouble is no change: what we hold stays
    return closing


def _treat_hosts(visits: Sequence[Visit], leases: Mapping[int, Lease], house: House, now: float) -> None:
    """Rest after answers, hold after complaints, give up on hosts that are not there."""
    last: dict[int, float] = {}
    struck: set[int] = set()
    for visit in visits:
        host = leases[visit.id].host
        if visit.outcome is Outcome.RETURNED or visit.reason is Reason.ROBOTS:
            continue
        last[host] = max(last.get(host, 0.0), visit.at + visit.seconds)
        seen = conduct(visit)
        if seen.limited and host not in struck:
            strikes = house.hosts.strike(host)
            wait = backoff(strikes - 1, house.backoff_seconds, seen.retry_after)
            house.hosts.hold(host, now + wait, Reason.RATE_LIMITED)
            house.log.note(f"{visit.url} asks us to slow down ({visit.status}); its host rests {wait:.0f} s")
            struck.add(host)
        elif seen.trouble:
            strikes = house.hosts.strike(host)
            struck.add(host)
            if strikes >= CONDEMN_AFTER:
                house.hosts.condemn(host, visit.reason, State.FAILED, visit.note)
                house.judge.condemned[host_of(visit.url)] = visit.reason
    house.hosts.rest(last, house.queue.pace.delay_seconds, struck)


def _learn_robots(robots: Robots, house: House, now: float) -> None:
    if robots.reachable and house.use_maps and is_site_of_seed(house.judge.rule, robots.host):
        named = [resolve(robots.host + "/", text) for text in rules_for(robots, house.agent).sitemaps]
        pointers = [Pointer(found.url, found.wire_if_different) for found in named if found is not None]
        _offer_maps(pointers or [Pointer(Url(robots.host + WELL_KNOWN[0]))], house, now)
    if not house.hosts.learn_robots(robots, house.backoff_seconds / 12, now):
        host = house.book.host_id(robots.host)
        house.hosts.condemn(host, Reason.ROBOTS_UNREACHABLE, State.SKIPPED, f"robots.txt: status {robots.status}")
        house.judge.condemned[robots.host] = Reason.ROBOTS_UNREACHABLE


def _count(visits: Sequence[Visit], closings: Sequence[Closing], filed: Sequence[Filed], house: House) -> None:
    counts = house.counts
    for visit, closing in zip(visits, closings, strict=True):
        counts["bytes"] += visit.wire_bytes
        if visit.role is Role.PAGE:
            counts[visit.outcome] += 1
            counts["lost"] += closing.state in (State.FAILED, State.GONE)
            counts["passed_over"] += closing.state is State.SKIPPED
    for item in filed:
        if item.visit.role is Role.PAGE:
            counts["duplicates"] += item.twin is not None and item.changed
            counts["unchanged"] += item.visit.outcome is Outcome.FETCHED and not item.changed
