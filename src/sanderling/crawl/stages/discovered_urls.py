"""What visits point at: every URL gets an id; new ones are judged, ranked, and queued or skipped."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from sanderling.crawl.context import MAPS_FIRST, House, UrlRow
from sanderling.dedup import duplicate_stats
from sanderling.frontier.lease_outcome import MAX_HOPS
from sanderling.frontier.ordering.protocol import NEVER, Finding
from sanderling.frontier.ordering.topic import unpack_relevance
from sanderling.frontier.url_filter import OWNERS, SAME_AS
from sanderling.frontier.url_store import DEPTH, LIFTABLE, Entry, Known, id_of, unpacked
from sanderling.models import Candidate, Outcome, Reason, Role, Source, State, Url, Visit
from sanderling.storage.collection import get_meta, set_meta
from sanderling.storage.link_graph import targets_of
from sanderling.storage.signal_log import Signal
from sanderling.urls.dust import rewrite
from sanderling.urls.normalize import Spelling, normalise, resolve
from sanderling.urls.scope import verdict, with_seed
from sanderling.urls.traps import SESSION_ID, without_session

LINK, PAGE, QUEUED = Source.LINK, Role.PAGE, State.QUEUED  # a name in a module is found faster than one in an enum
KEPT_OUT = "SELECT 1 FROM urls WHERE id = ? AND reason = ?"
ARRIVALS = "arrivals"  # where seeds redirected to


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
        links = len(page.links) if self.source is LINK else 1
        relevance = relevance_of(page) if page.marks else 0.0
        return Finding(
            url, self.depth, page.id, page.token, links, back, self.is_seed, relevance, self.promise, self.priority
        )


def relevance_of(page: Visit) -> float:
    """How much a page speaks of the topic of a focused crawl."""
    packed = page.marks.get("relevance")
    return unpack_relevance(packed) if packed else 0.0


def offer_links(visits: Sequence[Visit], rows: Mapping[int, UrlRow], house: House, now: float) -> dict[Url, int]:
    """Every URL the visits point at gets an id; new ones are judged and queued or skipped."""
    hops, names = _hops(visits, rows, house), _names(visits, rows)
    linked = dict.fromkeys([link.url for visit in visits for link in visit.links])  # in order: so memory is read faster
    known = house.book.look_up(chain(linked, hops, names))
    offers = names | _wanted(visits, rows, linked.keys(), known) | hops
    links = sum(len(visit.links) for visit in visits)
    house.log.signal(Signal.EXTRACT, links, visits[-1].url if visits else "")
    before = house.book.next_id
    ids = {url: id_of(answer) for url, answer in known.items()}
    ids |= _offer(offers, known, house, now)
    duplicate_stats.add(house.db, {duplicate_stats.LINKS: links, duplicate_stats.NEW: house.book.next_id - before})
    return ids


def _wanted(
    visits: Sequence[Visit], rows: Mapping[int, UrlRow], linked: Set[Url], known: Mapping[Url, int]
) -> dict[Url, Offer]:
    """The links that are new, or come by a better way than was known; most do not, and cost nothing more."""
    least = 1 + min((rows[visit.id].depth for visit in visits), default=0)
    settled = {url for url, answer in known.items() if answer & DEPTH <= least and answer < LIFTABLE}
    news = linked - settled
    offers: dict[Url, Offer] = {}
    for visit in visits:
        row = rows[visit.id]
        depth, page_nofollow, seed = row.depth + 1, visit.nofollow, row.is_seed
        for link in [link for link in visit.links if link.url in news]:
            nofollow = page_nofollow or link.nofollow
            other = offers.get(link.url)
            if other is None or depth < other.depth or (other.nofollow and not nofollow):
                offers[link.url] = Offer(depth, nofollow, LINK, visit, link.wire, link.promise, is_seed=seed)
    return offers


def _names(visits: Sequence[Visit], rows: Mapping[int, UrlRow]) -> dict[Url, Offer]:
    """What pages call themselves, where that is another URL."""
    return {visit.canonical: Offer(rows[visit.id].depth, False, Source.CANONICAL, visit)
            for visit in visits if visit.canonical and visit.canonical != visit.url}  # fmt: skip


def _hops(visits: Sequence[Visit], rows: Mapping[int, UrlRow], house: House) -> dict[Url, Offer]:
    """Where redirects lead."""
    offers = {}
    for visit in visits:
        row = rows[visit.id]
        if visit.outcome is not Outcome.REDIRECT or row.hops >= MAX_HOPS:
            continue
        target = resolve(row.wire or visit.url, visit.location)
        if target is not None:
            if row.is_seed and visit.role is Role.PAGE:
                _arrive(target.url, house)
            wire, hops = target.wire_if_different, row.hops + 1
            offers[target.url] = Offer(
                row.depth, False, Source.REDIRECT, visit, wire, hops=hops, role=visit.role, is_seed=row.is_seed
            )
    return offers


def _arrive(url: Url, house: House) -> None:
    """Where a seed redirects to counts as a seed, in this run and later ones."""
    rule = house.judge.rule
    if verdict(rule, url) is Reason.OUT_OF_SCOPE:
        house.judge.rule = with_seed(rule, url)
        known = json.loads(get_meta(house.db, ARRIVALS, "[]"))
        set_meta(house.db, ARRIVALS, json.dumps([*known, url]))


def offer_all(offers: Mapping[Url, Offer], house: House, now: float) -> dict[Url, int]:
    """Every URL that is offered gets an id; new ones are judged and queued or skipped."""
    known = house.book.look_up(offers)
    return {url: id_of(answer) for url, answer in known.items()} | _offer(offers, known, house, now)


def _offer(offers: Mapping[Url, Offer], known: Mapping[Url, int], house: House, now: float) -> dict[Url, int]:
    """Judge those that are not known, and say which ids they got; look at the others again."""
    house.log.signal(Signal.TO_CLASSIFY, len(offers), next(iter(offers), ""))
    why_not, wanted = house.judge.why_not, list[Url]()
    skipped: list[Entry] = []
    cleaned: dict[Url, Offer] = {}
    for url, offer in offers.items():
        answer = known.get(url)
        is_back = offer.source is Source.REDIRECT and _leads_back(url, offer, house)
        if answer is None:
            reason, note = why_not(url, offer.depth, offer.source, offer.nofollow, now, is_back=is_back)
            if not reason:
                wanted.append(url)
            elif house.judge.lists(url, reason):
                skipped.append(Entry(offer.candidate(url), State.SKIPPED, reason, note))
                if clean := _cleaner(url, note):
                    cleaned[clean.url] = replace(offer, wire=clean.wire_if_different)
        elif is_back:
            _let_in(url, offer, id_of(answer), house)
        elif answer >= LIFTABLE or (offer.depth < answer & DEPTH and offer.source not in OWNERS):
            _found_again(url, offer, unpacked(answer), house, now)
    entries = _ranked(wanted, offers, house) + skipped
    ids = house.book.add(entries, now)
    house.counts["passed_over"] += sum(1 for entry in entries if entry.reason)
    cleaned = {url: offer for url, offer in cleaned.items() if url not in offers}
    return ids | offer_all(cleaned, house, now) if cleaned else ids


def _leads_back(url: Url, offer: Offer, house: House) -> bool:
    """Say whether a server leads from the spelling of a rule in use to this one: the rule does not hold there."""
    rules = house.judge.rules
    return bool(rules) and rewrite(url, rules) == offer.page.url


def _let_in(url: Url, offer: Offer, id_: int, house: House) -> None:
    """Ask after all for a URL that a rule kept out."""
    if house.db.execute(KEPT_OUT, (id_, Reason.DUPLICATE)).fetchone() is not None:
        (rank,) = house.order.rank([offer.finding(url)])
        if rank != NEVER and _has_room(house, rank):
            house.book.requeue(id_, offer.candidate(url, rank))


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
        offer_all(deeper, house, now)


def _cleaner(url: Url, note: str) -> Spelling | None:
    """The URL worth a visit instead: without its session id, or as a learned rule spells it."""
    if note.startswith(SESSION_ID):
        return normalise(without_session(url))
    return normalise(note.removeprefix(SAME_AS)) if note.startswith(SAME_AS) else None


def _ranked(wanted: Sequence[Url], offers: Mapping[Url, Offer], house: House) -> list[Entry]:
    """Give the URLs that are to be visited their place; one that gets none is skipped."""
    back = _back_links(wanted, offers) if house.order.counts_back else {}
    ranks = house.order.rank([offers[url].finding(url, back.get(url, 1)) for url in wanted])
    house.log.signal(Signal.RANK, len(wanted), house.order_name)
    entries = [_entry(url, offers[url], rank, house) for url, rank in zip(wanted, ranks, strict=True)]
    ready = [entry.candidate.url for entry in entries if not entry.reason]
    house.log.signal(Signal.READY, len(ready), ready[0] if ready else "")
    return entries


def _entry(url: Url, offer: Offer, rank: float, house: House) -> Entry:
    """A URL that is to be visited, at this place; or not after all."""
    if rank == NEVER:
        return Entry(offer.candidate(url), State.SKIPPED, Reason.IRRELEVANT)
    if offer.role is not PAGE:
        return Entry(offer.candidate(url, MAPS_FIRST), QUEUED)
    if house.keeper is not None and not _has_room(house, rank):
        return Entry(offer.candidate(url), State.SKIPPED, Reason.LIMIT, "not better than the pages kept")
    return Entry(offer.candidate(url, rank), QUEUED)


def _has_room(house: House, rank: float) -> bool:
    return house.keeper is None or not house.order.compares or house.keeper.admits(rank)


def _back_links(urls: Sequence[Url], offers: Mapping[Url, Offer]) -> Counter[Url]:
    """How many pages of this batch link to each of these."""
    wanted = set(urls)
    pages = {offer.page.id: offer.page for offer in offers.values() if offer.source is Source.LINK}
    return Counter(link.url for page in pages.values() for link in page.links if link.url in wanted)
