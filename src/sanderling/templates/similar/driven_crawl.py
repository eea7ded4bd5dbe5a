"""More like this, on the web: a crawl that is driven towards pages built like sample pages."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from sanderling.crawl.choose_ordering import OrderingChoice
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.reevaluate import requeue_parked_pages
from sanderling.crawl.request import CrawlRequest
from sanderling.crawl.session import crawl
from sanderling.crawl.stop import CrawlLimits, CrawlProgress, FinishReason
from sanderling.db.connection import Connection, transaction
from sanderling.frontier.requeue import requeue_pages
from sanderling.models import CandidateUrl, Url, UrlSource
from sanderling.storage.collection import has_collection, open_collection_read_only
from sanderling.storage.collection_meta import CollectionMeta
from sanderling.storage.link_graph import load_source_ids
from sanderling.templates.classifier import Recogniser
from sanderling.templates.driven_ordering import RANKS, Driven
from sanderling.templates.link_model import Navigator, parents_of
from sanderling.templates.similar.samples import Sample
from sanderling.templates.similar.stored import SimilarPage
from sanderling.templates.template_indexer import read_arrivals
from sanderling.templates.template_views import PageView
from sanderling.urls.normalize import get_host, normalize_url

AT_ONCE = 1e9  # ranks forward: before everything else
RECALLED = 1_000  # stored pages that a drive learns from at its start


def is_worth_crawling(folder: Path, samples: Sequence[Sample]) -> bool:
    """Something may be out there: the samples are new, or URLs are waiting."""
    if not has_collection(folder) or any(not sample.look.id for sample in samples):
        return True
    with open_collection_read_only(folder) as collection:
        waiting = collection.db.execute("SELECT EXISTS (SELECT 1 FROM queue)").fetchone()[0]
        return bool(waiting) or not CollectionMeta(collection.db).is_complete


def find_on_web(
    folder: Path,
    request: CrawlRequest,
    samples: Sequence[Sample],
    budget: int,
    enough: int,
    *,
    on_start: Callable[[Coordinator], None] | None = None,
    on_tick: Callable[[CrawlProgress], None] | None = None,
) -> list[SimilarPage]:
    """Crawl towards pages built like the samples, with at most so many fetches, until enough are found."""
    looks = [sample.look for sample in samples]
    crew: list[Coordinator] = []

    def build_ordering(db: Connection, _choice: OrderingChoice) -> Driven:
        ordering = Driven(Recogniser(looks), navigator_for(looks))
        learn_from_stored(ordering, db)
        return ordering

    def start(coordinator: Coordinator) -> None:
        crew.append(coordinator)
        order = _driven(coordinator)
        order.let_wait = lambda urls: let_wait(coordinator, urls)
        coordinator.dispatcher.build_template_filter = lambda trip: (
            None if order.called & {stop.id for stop in trip.tasks} else order.build_template_filter()
        )
        bounds = coordinator.limits
        coordinator.limits = CrawlLimits(coordinator.earlier_page_count + budget, bounds.time_limit, bounds.size_limit)
        above = enqueue_parents(coordinator, looks) if request.seeds else {}
        rank_waiting(coordinator)
        begin_with_samples(coordinator, looks, above)
        if on_start:
            on_start(coordinator)

    def tick(progress: CrawlProgress) -> None:
        coordinator = crew[0]
        rerank_waiting(coordinator)
        order = _driven(coordinator)
        if len(order.matches) >= enough and not order.called and coordinator.stop_reason is None:
            coordinator.stop(FinishReason.PAGE_LIMIT)
        if on_tick:
            on_tick(progress)

    request = replace(request, uses_template_filter=True)
    crawl(folder, request, on_start=start, on_tick=tick, build_ordering=build_ordering)
    order = _driven(crew[0])
    order.recogniser.study()
    bring_rest(folder, request, order.calls() | order.called)
    matches = order.matches
    return [SimilarPage(url, round(value, 4), "web") for url, value in matches.items()]


def enqueue_parents(coordinator: Coordinator, looks: Sequence[PageView]) -> dict[Url, int]:
    """Let the directories above the samples wait, up to the home page: what lists a page often lies there."""
    with transaction(coordinator.context.db):
        return let_wait(coordinator, [parent for look in looks for parent in parents_of(look.url)])


def let_wait(coordinator: Coordinator, urls: Iterable[str]) -> dict[Url, int]:
    """Put URLs that no page has shown beside those that wait, if they may be visited, and give the ids of new ones.

    The caller holds the transaction.
    """
    house, now = coordinator.context, coordinator.clock()
    spellings = [spelling for url in urls if (spelling := normalize_url(url)) is not None]  # a guess may be too long
    known = house.frontier.url_store.get([spelling.url for spelling in spellings])
    entries = {
        found.url: house.frontier.url_filter.admit(
            CandidateUrl(found.url, found.distinct_request_url, 1, UrlSource.LINK, rank=RANKS), False, now
        )
        for found in spellings
        if found.url not in known
    }
    return house.frontier.enqueue([entry for entry in entries.values() if entry is not None], now)


def begin_with_samples(coordinator: Coordinator, looks: Sequence[PageView], above: Mapping[Url, int]) -> None:
    """Visit the samples first and then the home page; directories between them when the samples' links are known."""
    house, order = coordinator.context, _driven(coordinator)
    samples = [known.id for known in house.frontier.url_store.get([Url(look.url) for look in looks]).values()]
    homes = {id_ for url, id_ in above.items() if url == f"{get_host(url)}/"}
    between = {id_: url for url, id_ in above.items() if id_ not in homes}
    for url in between.values():
        order.ranks[url] += RANKS
    with transaction(house.db):
        house.frontier.raise_ranks(
            dict.fromkeys(between, -RANKS) | dict.fromkeys(homes, RANKS) | dict.fromkeys(samples, AT_ONCE)
        )


def bring_rest(folder: Path, request: CrawlRequest, kept: set[int]) -> None:
    """When all is seen, bring home what migrants keep and turned out to be wanted; the web is not asked again."""

    def start(coordinator: Coordinator) -> None:
        house, bounds = coordinator.context, coordinator.limits
        with transaction(house.db):
            requeue_parked_pages(house, kept)
            house.frontier.raise_ranks(dict.fromkeys(kept, AT_ONCE))
        coordinator.limits = CrawlLimits(
            coordinator.earlier_page_count + len(kept), bounds.time_limit, bounds.size_limit
        )

    if kept:
        crawl(folder, replace(request, uses_template_filter=True), on_start=start)


def rerank_waiting(coordinator: Coordinator) -> None:
    """Move what waits by what was learned; call home what migrants keep and we want, at no cost to the budget."""
    house, order, bounds = coordinator.context, _driven(coordinator), coordinator.limits
    with transaction(house.db):
        house.frontier.raise_ranks(order.pop_rank_gains())
        called = requeue_parked_pages(house, order.calls())
    coordinator.limits = CrawlLimits(bounds.page_limit + called, bounds.time_limit, bounds.size_limit)


def learn_from_stored(order: Driven, db: Connection) -> None:
    """Let a drive learn from what is stored already, the latest pages."""
    rows = db.execute("SELECT url FROM pages ORDER BY visit DESC LIMIT ?", (RECALLED,)).fetchall()
    for page in reversed(read_arrivals(db, [url for (url,) in rows])):
        order.take_in(page)
    order.matches.clear()


def navigator_for(looks: Sequence[PageView]) -> Navigator:
    """A navigator that knows the samples' URLs."""
    return Navigator([look.url for look in looks])


def _driven(coordinator: Coordinator) -> Driven:
    order = coordinator.context.ordering
    if not isinstance(order, Driven):
        raise TypeError("the crawl was not started to find pages like samples")
    return order


def rank_waiting(coordinator: Coordinator) -> None:
    """Put what waits from earlier crawls in the order of what it promises."""
    house, order = coordinator.context, _driven(coordinator)
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
    counts = Counter(source for page in pages for source in load_source_ids(db, page))
    return [source for source, _ in counts.most_common(HUBS)]


def revisit_hubs(
    folder: Path,
    request: CrawlRequest,
    samples: Sequence[Sample],
    budget: int,
    enough: int,
    on_start: Callable[[Coordinator], None] | None = None,
) -> list[SimilarPage]:
    """Visit again the pages that lead to pages like the samples, and follow what is new there."""
    ids = [sample.look.id for sample in samples if sample.look.id]

    def start(coordinator: Coordinator) -> None:
        db = coordinator.context.db
        with transaction(db):
            hubs = hubs_of(db, ids)
            requeue_pages(db, hubs, rank=-FIRST)
            coordinator.context.frontier.raise_ranks(dict.fromkeys(hubs, FIRST))
        if on_start:
            on_start(coordinator)

    known = replace(request, seeds=())
    return find_on_web(folder, known, samples, budget, enough, on_start=start)
