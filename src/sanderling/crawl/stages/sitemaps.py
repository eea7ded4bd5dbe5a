"""Sitemaps, feeds and lists of changes: where they are named, what they lead to, what they say of pages."""

from collections.abc import Mapping, Sequence

from sanderling.crawl.context import MAPS_FIRST, House
from sanderling.crawl.stages.close_leases import TROUBLE_SHARE
from sanderling.crawl.stages.discovered_urls import Offer, offer_all
from sanderling.crawl.stages.redirects import nesting
from sanderling.discovery.entry_types import INDEX_DEPTH_LIMIT, RESOURCESYNC
from sanderling.discovery.entry_types import Kind as MapKind
from sanderling.fetch.process import UNCHANGED
from sanderling.fetch.robots import rules_for
from sanderling.frontier.url_store import Entry
from sanderling.models import Candidate, Hint, Host, Outcome, Pointer, Reason, Robots, Role, Source, State, Url, Visit
from sanderling.revisit.change_lists import DELETED, UNSAID, is_answer
from sanderling.revisit.model.announcer_trust import Kind
from sanderling.revisit.policies.sitemap_driven import Hint as Told
from sanderling.urls.normalize import host_of, resolve, split
from sanderling.urls.scope import admissible, is_site_of_seed, site_of

MAPS = (Role.SITEMAP, Role.FEED)
WELL_KNOWN = (
    "/sitemap.xml",
    "/sitemap_index.xml",
    "/sitemap.txt",
    RESOURCESYNC,
)  # tried in turn where robots.txt names none


def learn_robots(robots: Robots, house: House, now: float) -> None:
    rules = rules_for(robots, house.agent)
    if robots.reachable and house.use_maps and is_site_of_seed(house.judge.rule, robots.host):
        named = [resolve(robots.host + "/", text) for text in rules.sitemaps]
        pointers = [Pointer(found.url, found.wire_if_different) for found in named if found is not None]
        offer_maps(pointers or [Pointer(Url(robots.host + WELL_KNOWN[0]))], house, now)
    wait, pause = house.backoff_seconds / TROUBLE_SHARE, rules.crawl_delay() or 0.0
    if not house.hosts.learn_robots(robots, wait, now, pause):
        host = house.book.host_id(robots.host)
        note = f"robots.txt: status {robots.status}" if robots.status else "robots.txt: no answer"
        house.counts["passed_over"] += house.hosts.condemn(host, Reason.ROBOTS_UNREACHABLE, State.SKIPPED, note)
        house.judge.condemned[robots.host] = Reason.ROBOTS_UNREACHABLE


def follow_maps(visits: Sequence[Visit], house: House, now: float) -> None:
    """What sitemaps and feeds lead to: their pages, with hints, and more sitemaps."""
    if not house.use_maps:
        return
    for visit in visits:
        if visit.role is Role.CHANGES:
            _hear_list(visit, house, now)
            continue
        if visit.pointers:
            _note_list(visit, house, now)
            near = [p for p in visit.pointers if p.role in MAPS and admissible(p.url, visit.url)]
            offer_maps(near, house, now, visit.id, 0 if visit.role is Role.PAGE else 1 + nesting(house.db, visit.id))
        if visit.role not in MAPS:
            continue
        _read_map(visit, house, now)
        if visit.outcome in (Outcome.GONE, Outcome.FAILED) and (path := split(visit.url)[1]) in WELL_KNOWN[:-1]:
            following = host_of(visit.url) + WELL_KNOWN[WELL_KNOWN.index(path) + 1]
            offer_maps([Pointer(Url(following))], house, now)


def _read_map(visit: Visit, house: House, now: float) -> None:
    """Take what a sitemap or feed says, and plan when to read it again; of one that is retired nothing is kept."""
    kind = Kind.SITEMAP if visit.role is Role.SITEMAP else Kind.FEED
    if visit.outcome is Outcome.NOT_MODIFIED or visit.note == UNCHANGED:
        house.maps.read(visit.id, now, news=False)
    elif visit.outcome is Outcome.FETCHED and not visit.note.startswith(MapKind.UNKNOWN):
        _take_hints(visit, house, now)
        house.maps.read(visit.id, now, news=bool(visit.hints or visit.pointers))
    elif visit.outcome is not Outcome.REDIRECT and house.maps.fail(visit.id, now, visit.outcome is Outcome.GONE):
        house.diary.unlist(house.hints.keep(visit.id, [], now), now, kind)


def offer_maps(pointers: Sequence[Pointer], house: House, now: float, via: int = 0, level: int = 0) -> None:
    """Queue sitemaps and feeds before the pages of their host."""
    known = house.book.find([pointer.url for pointer in pointers])
    entries = {}
    for pointer in pointers:
        if pointer.url not in known and level <= INDEX_DEPTH_LIMIT and house.judge.admits_map(host_of(pointer.url)):
            candidate = Candidate(pointer.url, pointer.wire, 0, Source.SITEMAP, via, rank=MAPS_FIRST, role=pointer.role)
            entries[pointer.url] = Entry(candidate, State.QUEUED)
    house.book.add(list(entries.values()), now)


def _take_hints(visit: Visit, house: House, now: float) -> None:
    """Queue the pages of a sitemap that may speak for them, and keep what it says of all."""
    named: dict[Host, bool] = {}
    source = Source.SITEMAP if visit.role is Role.SITEMAP else Source.FEED
    offers: dict[Url, Offer] = {}
    hints: dict[Url, Hint] = {}
    for hint in visit.hints:
        if may_list(visit.url, hint.url, house, named):
            priority = hint.priority if hint.priority >= 0 else 0.5
            level = 1 + house.judge.map_level(host_of(hint.url))
            offers[hint.url] = Offer(level, False, source, visit, hint.wire, priority=priority)
            hints[hint.url] = hint
        elif house.judge.lists(visit.url, Reason.FOREIGN):
            offers[hint.url] = Offer(1, True, source, visit, hint.wire)
    first = house.book.next_id
    ids = offer_all(offers, house, now)
    kept = [(ids[url], hint) for url, hint in hints.items() if url in ids]
    if house.order.heeds_owners:
        _move_known({ids[url]: offers[url].priority for url in hints if ids.get(url, first) < first}, house)
    kind = Kind.SITEMAP if visit.role is Role.SITEMAP else Kind.FEED
    house.diary.unlist(house.hints.keep(visit.id, kept, visit.at), now, kind)
    told = {id_: Told(hint.lastmod, hint.whole_day, hint.changefreq) for id_, hint in kept}
    house.diary.enlist(told, now, kind)
    if house.diary.believes(site_of(visit.url)):
        news = house.hints.newer([id_ for id_, hint in kept if hint.lastmod])
        house.counts["announced"] += house.diary.announce(news, now, kind)


def _move_known(priorities: Mapping[int, float], house: House) -> None:
    """What a sitemap says counts for URLs too that were found by links before it was read."""
    before = house.hints.of(list(priorities))
    said = {id_: before[id_].priority if id_ in before and before[id_].priority >= 0 else UNSAID for id_ in priorities}
    house.queue.promote(house.order.told({id_: priority - said[id_] for id_, priority in priorities.items()}))


def may_list(sitemap: str, url: Url, house: House, named: dict[Host, bool]) -> bool:
    """May a sitemap speak for a URL: is it of its site, or does the robots.txt of its host name the sitemap?"""
    return admissible(url, sitemap) or _is_named_by(host_of(url), sitemap, house, named)


def _is_named_by(host: Host, sitemap: str, house: House, named: dict[Host, bool]) -> bool:
    if host not in named:
        robots = house.hosts.robots(host)
        named[host] = robots is not None and sitemap in rules_for(robots, house.agent).sitemaps
    return named[host]


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
    new = {url: Offer(1, False, Source.SITEMAP, visit, hint.wire, priority=places[url]) for url, hint in hints.items()
           if url not in known and not hint.deleted and house.lists.wants(places[url])}  # fmt: skip
    offer_all(new, house, now)
    house.diary.announce({found.id: now for found in known.values()}, now, Kind.PUBLISHER)
    house.lists.hear(visit, [(known[url].id, places[url]) for url in known], visit.list_next, now)
    house.catalogue.miss([known[url].id for url in known if hints[url].deleted])
    house.counts["announced"] += len(known)
    return None
