"""More like this, on the web: a crawl that is driven towards pages built like sample pages."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.reevaluate import call_home
from sanderling.crawl.request import Request
from sanderling.crawl.session import crawl
from sanderling.crawl.stop import Bounds, Finish, Progress
from sanderling.db.connection import Connection, transaction
from sanderling.frontier.requeue import queue_pages
from sanderling.models import Candidate, Source, Url
from sanderling.storage.collection import exists, get_meta, read_collection
from sanderling.storage.link_graph import sources_of
from sanderling.templates.classifier import Recogniser
from sanderling.templates.driven_ordering import RANKS, Driven
from sanderling.templates.link_model import Navigator, parents_of
from sanderling.templates.similar.samples import Sample
from sanderling.templates.similar.stored import Found
from sanderling.templates.template_indexer import read_arrivals
from sanderling.templates.template_views import Look
from sanderling.urls.normalize import host_of, normalise

AT_ONCE = 1e9  # ranks forward: before everything else
RECALLED = 1_000  # stored pages that a drive learns from at its start


def is_worth_crawling(folder: Path, samples: Sequence[Sample]) -> bool:
    """Something may be out there: the samples are new, or URLs are waiting."""
    if not exists(folder) or any(not sample.look.id for sample in samples):
        return True
    with read_collection(folder) as collection:
        waiting = collection.db.execute("SELECT EXISTS (SELECT 1 FROM queue)").fetchone()[0]
        return bool(waiting) or get_meta(collection.db, "complete") != "1"


def find_on_web(
    folder: Path,
    request: Request,
    samples: Sequence[Sample],
    budget: int,
    enough: int,
    *,
    on_start: Callable[[Coordinator], None] | None = None,
    on_tick: Callable[[Progress], None] | None = None,
) -> list[Found]:
    """Crawl towards pages built like the samples, with at most so many fetches, until enough are found."""
    looks = [sample.look for sample in samples]
    crew: list[Coordinator] = []

    def start(coordinator: Coordinator) -> None:
        crew.append(coordinator)
        house = coordinator.house
        order = house.order = Driven(Recogniser(looks), navigator_for(looks))
        recall(order, house.db)
        order.let_wait = lambda urls: let_wait(coordinator, urls)
        coordinator.errands.brief = lambda trip: (
            None if order.called & {stop.id for stop in trip.stops} else order.brief()
        )
        bounds = coordinator.bounds
        coordinator.bounds = Bounds(coordinator.earlier + budget, bounds.time_limit, bounds.size_limit)
        above = look_above(coordinator, looks) if request.seeds else {}
        rank_waiting(coordinator)
        begin_with_samples(coordinator, looks, above)
        if on_start:
            on_start(coordinator)

    def tick(progress: Progress) -> None:
        coordinator = crew[0]
        look_ahead(coordinator)
        order = _driven(coordinator)
        if len(order.matches) >= enough and not order.called and coordinator.stopping is None:
            coordinator.stop(Finish.LIMIT)
        if on_tick:
            on_tick(progress)

    crawl(folder, replace(request, driven=True), on_start=start, on_tick=tick)
    order = _driven(crew[0])
    order.recogniser.study()
    bring_rest(folder, request, order.calls() | order.called)
    matches = order.matches
    return [Found(url, round(value, 4), "web") for url, value in matches.items()]


def look_above(coordinator: Coordinator, looks: Sequence[Look]) -> dict[Url, int]:
    """Let the directories above the samples wait, up to the home page: what lists a page often lies there."""
    with transaction(coordinator.house.db):
        return let_wait(coordinator, [parent for look in looks for parent in parents_of(look.url)])


def let_wait(coordinator: Coordinator, urls: Iterable[str]) -> dict[Url, int]:
    """Put URLs that no page has shown beside those that wait, if they may be visited, and give the ids of new ones.

    The caller holds the transaction.
    """
    house, now = coordinator.house, coordinator.clock()
    spellings = [spelling for url in urls if (spelling := normalise(url)) is not None]  # a guess may be too long
    known = house.book.find([spelling.url for spelling in spellings])
    entries = {
        found.url: house.judge.judge(
            Candidate(found.url, found.wire_if_different, 1, Source.LINK, rank=RANKS), False, now
        )
        for found in spellings
        if found.url not in known
    }
    return house.book.add([entry for entry in entries.values() if entry is not None], now)


def begin_with_samples(coordinator: Coordinator, looks: Sequence[Look], above: Mapping[Url, int]) -> None:
    """Visit the samples first and then the home page; directories between them when the samples' links are known."""
    house, order = coordinator.house, _driven(coordinator)
    samples = [known.id for known in house.book.find([Url(look.url) for look in looks]).values()]
    homes = {id_ for url, id_ in above.items() if url == f"{host_of(url)}/"}
    between = {id_: url for url, id_ in above.items() if id_ not in homes}
    for url in between.values():
        order.ranks[url] += RANKS
    with transaction(house.db):
        house.queue.promote(
            dict.fromkeys(between, -RANKS) | dict.fromkeys(homes, RANKS) | dict.fromkeys(samples, AT_ONCE)
        )


def bring_rest(folder: Path, request: Request, kept: set[int]) -> None:
    """When all is seen, bring home what migrants keep and turned out to be wanted; the web is not asked again."""

    def start(coordinator: Coordinator) -> None:
        house, bounds = coordinator.house, coordinator.bounds
        with transaction(house.db):
            call_home(house, kept)
            house.queue.promote(dict.fromkeys(kept, AT_ONCE))
        coordinator.bounds = Bounds(coordinator.earlier + len(kept), bounds.time_limit, bounds.size_limit)

    if kept:
        crawl(folder, replace(request, driven=True), on_start=start)


def look_ahead(coordinator: Coordinator) -> None:
    """Move what waits by what was learned; call home what migrants keep and we want, at no cost to the budget."""
    house, order, bounds = coordinator.house, _driven(coordinator), coordinator.bounds
    with transaction(house.db):
        house.queue.promote(order.gains())
        called = call_home(house, order.calls())
    coordinator.bounds = Bounds(bounds.limit + called, bounds.time_limit, bounds.size_limit)


def recall(order: Driven, db: Connection) -> None:
    """Let a drive learn from what is stored already, the latest pages."""
    rows = db.execute("SELECT url FROM pages ORDER BY visit DESC LIMIT ?", (RECALLED,)).fetchall()
    for page in reversed(read_arrivals(db, [url for (url,) in rows])):
        order.take_in(page)
    order.matches.clear()


def navigator_for(looks: Sequence[Look]) -> Navigator:
    """A navigator that knows the samples' URLs."""
    return Navigator([look.url for look in looks])


def _driven(coordinator: Coordinator) -> Driven:
    order = coordinator.house.order
    if not isinstance(order, Driven):
        raise TypeError("the crawl was not started to find pages like samples")
    return order


def rank_waiting(coordinator: Coordinator) -> None:
    """Put what waits from earlier crawls in the order of what it promises."""
    house, order = coordinator.house, _driven(coordinator)
    rows = house.db.execute(
        "SELECT q.url, h.name || u.path FROM queue AS q JOIN urls AS u ON u.id = q.url JOIN hosts AS h ON h.id = u.host"
    ).fetchall()
    with transaction(house.db):
        house.db.executemany(
            "UPDATE queue SET rank = ? WHERE url = ?", [(order.place(Url(url), id_), id_) for id_, url in rows]
        )


FIRST = 1e6  # ranks that a promising link moves forward: before everything that is not
HUBS = 10  # pages looked at again each time


def hubs_of(db: Connection, pages: Sequence[int]) -> list[int]:
    """Pages that link to these, those with most such links first."""
    counts = Counter(source for page in pages for source in sources_of(db, page))
    return [source for source, _ in counts.most_common(HUBS)]


def look_again(
    folder: Path,
    request: Request,
    samples: Sequence[Sample],
    budget: int,
    enough: int,
    on_start: Callable[[Coordinator], None] | None = None,
) -> list[Found]:
    """Visit again the pages that lead to pages like the samples, and follow what is new there."""
    ids = [sample.look.id for sample in samples if sample.look.id]

    def start(coordinator: Coordinator) -> None:
        db = coordinator.house.db
        with transaction(db):
            hubs = hubs_of(db, ids)
            queue_pages(db, hubs, rank=-FIRST)
            coordinator.house.queue.promote(dict.fromkeys(hubs, FIRST))
        if on_start:
            on_start(coordinator)

    known = replace(request, seeds=())
    return find_on_web(folder, known, samples, budget, enough, on_start=start)
