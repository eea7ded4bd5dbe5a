"""Crawl towards pages like samples, within a budget of fetches, and revisit the pages that link to them."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from msgspec.structs import replace

from sanderling.crawl.choose_ordering import OrderingChoice
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.reevaluate import requeue_parked_pages
from sanderling.crawl.request import CrawlRequest
from sanderling.crawl.session import CrawlGuide, crawl
from sanderling.crawl.stop import CrawlLimits, CrawlProgress, FinishReason
from sanderling.db.connection import Connection, transaction
from sanderling.frontier.requeue import requeue_pages
from sanderling.frontier.url_rows import select_waiting
from sanderling.models import CandidateUrl, FetchBatch, TemplateFilter, Url, UrlSource
from sanderling.storage.collection import has_collection, open_collection_read_only
from sanderling.storage.collection_meta import CollectionMeta
from sanderling.storage.link_graph import load_outgoing_links, load_source_ids
from sanderling.storage.queries import find_latest_pages, load_urls
from sanderling.templates.driven_ordering import RANKS, Arrival, DrivenOrdering
from sanderling.templates.link_model import LinkEvidence
from sanderling.templates.page_features import PageView
from sanderling.templates.sample_pages import Sample
from sanderling.templates.template_index import TemplateIndex
from sanderling.urls.normalize import normalize_url
from sanderling.urls.tokens import split_path

FRONT = 1e6  # ranks: before everything that is only promising
MAX_STORED_PAGES = 1_000  # latest stored pages that a crawl learns from at its start
MAX_PARENTS = 4  # directories above a sample
MAX_HUBS = 10  # pages revisited each time
MAX_QUEUED = 50_000  # waiting URLs of earlier crawls that are ranked

StartHook = Callable[[Coordinator], None]
TickHook = Callable[[CrawlProgress], None]


def is_worth_crawling(folder: Path, samples: Sequence[Sample]) -> bool:
    """Return whether pages may be found: samples are not stored, URLs wait, or the last pass was cut short."""
    if not has_collection(folder) or any(not sample.view.id for sample in samples):
        return True
    with open_collection_read_only(folder) as collection:
        return bool(select_waiting(collection.db, 1)) or not CollectionMeta(collection.db).is_complete


def find_on_web(
    folder: Path,
    request: CrawlRequest,
    samples: Sequence[Sample],
    budget: int,
    enough: int,
    *,
    query: str = "",
    on_start: StartHook | None = None,
    on_tick: TickHook | None = None,
) -> list[str]:
    """Crawl with at most `budget` fetches until `enough` pages are found or no more are to be expected.

    With a query, pages must also be about it. Returns the URLs of the matching pages.
    """
    views = [sample.view for sample in samples]
    ordering = DrivenOrdering(views, query)
    coordinators: list[Coordinator] = []

    def build_ordering(db: Connection, _choice: OrderingChoice) -> DrivenOrdering:
        learn_stored_pages(ordering, db)
        return ordering

    def build_filter(batch: FetchBatch) -> TemplateFilter | None:
        is_requested = not ordering.requested.isdisjoint(task.id for task in batch.tasks)
        return None if is_requested else ordering.recognizer.build_template_filter()

    def start(coordinator: Coordinator) -> None:
        coordinators.append(coordinator)
        limits = coordinator.limits
        coordinator.limits = CrawlLimits(coordinator.earlier_page_count + budget, limits.time_limit, limits.size_limit)
        rank_queued(coordinator, ordering)
        if request.seeds:
            enqueue_parents(coordinator, ordering, views)
        if on_start:
            on_start(coordinator)

    def tick(progress: CrawlProgress) -> None:
        coordinator, limits = coordinators[0], coordinators[0].limits
        with transaction(coordinator.context.db):
            coordinator.context.frontier.raise_ranks(ordering.pop_rank_gains())
            requested = requeue_parked_pages(coordinator.context, ordering.request_parked_pages())
        coordinator.limits = CrawlLimits(limits.page_limit + requested, limits.time_limit, limits.size_limit)
        is_done = len(ordering.matches) >= enough or ordering.is_exhausted()
        if is_done and not ordering.requested and coordinator.stop_reason is None:
            coordinator.stop(FinishReason.PAGE_LIMIT)
        if on_tick:
            on_tick(progress)

    request = replace(request, uses_template_filter=True, topic=ordering.topic.words)
    crawl(folder, request, on_start=start, on_tick=tick, guide=CrawlGuide(build_ordering, build_filter))
    fetch_parked_pages(folder, request, ordering.request_parked_pages() | ordering.requested)
    return sorted(ordering.matches)


def learn_stored_pages(ordering: DrivenOrdering, db: Connection) -> None:
    """Let a crawl learn from the latest stored pages; they are not among its matches."""
    for page in load_arrivals(db, find_latest_pages(db, MAX_STORED_PAGES)):
        ordering.take_in(page)
    ordering.start_counting()


def load_arrivals(db: Connection, ids: Sequence[int]) -> list[Arrival]:
    """Return stored pages with their links; their relevance to a query is unknown."""
    found = []
    for view in TemplateIndex(db, db).load_views(ids).values():
        forward = load_outgoing_links(db, view.id)
        urls = load_urls(db, forward.target_ids)
        links = [
            (target, LinkEvidence(urls[target], anchor, view.url))
            for target, anchor in zip(forward.target_ids, forward.anchor_texts, strict=True)
            if target in urls
        ]
        found.append(Arrival(view, links))
    return found


def rank_queued(coordinator: Coordinator, ordering: DrivenOrdering) -> None:
    """Rank the URLs that wait from earlier crawls."""
    context = coordinator.context
    waiting = select_waiting(context.db, MAX_QUEUED)
    with transaction(context.db):
        context.frontier.raise_ranks({entry.id: entry.rank - ordering.place(entry.url, entry.id) for entry in waiting})


def enqueue_parents(coordinator: Coordinator, ordering: DrivenOrdering, views: Sequence[PageView]) -> None:
    """Fetch the samples first, then the home page and the directories above the samples: they may list such pages."""
    context, now = coordinator.context, coordinator.clock()
    normalized = [found for view in views for url in list_parents(view.url) if (found := normalize_url(url))]
    known = context.frontier.url_store.get([found.url for found in normalized])
    entries = {
        found.url: context.frontier.url_filter.admit(
            CandidateUrl(found.url, found.distinct_request_url, 1, UrlSource.LINK, rank=RANKS), False, now
        )
        for found in normalized
        if found.url not in known
    }
    samples = [known.id for known in context.frontier.url_store.get([Url(view.url) for view in views]).values()]
    with transaction(context.db):
        new = context.frontier.enqueue([entry for entry in entries.values() if entry is not None], now)
        for url, id_ in new.items():
            ordering.place(url, id_)
        context.frontier.raise_ranks(dict.fromkeys(new.values(), RANKS) | dict.fromkeys(samples, FRONT))


def list_parents(url: str) -> list[str]:
    """Return the nearest directories above a page, and the home page of its site last."""
    parts = urlsplit(url)
    folders = split_path(url)[0]
    paths = ["/".join(["", *folders[:depth], ""]) for depth in range(len(folders), -1, -1)]
    paths = [*paths[: MAX_PARENTS - 1], paths[-1]] if len(paths) > MAX_PARENTS else paths
    return [found for path in paths if (found := f"{parts.scheme}://{parts.netloc}{path}") != url]


def fetch_parked_pages(folder: Path, request: CrawlRequest, ids: set[int]) -> None:
    """Store parked pages that turned out to match; workers have them, so the web site is not asked again."""

    def start(coordinator: Coordinator) -> None:
        context, limits = coordinator.context, coordinator.limits
        with transaction(context.db):
            requeue_parked_pages(context, ids)
            context.frontier.raise_ranks(dict.fromkeys(ids, FRONT))
        page_limit = coordinator.earlier_page_count + len(ids)
        coordinator.limits = CrawlLimits(page_limit, limits.time_limit, limits.size_limit)

    if ids:
        crawl(folder, request, on_start=start)


def find_hubs(db: Connection, ids: Sequence[int]) -> list[int]:
    """Return the pages that link to most of these."""
    counts = Counter(source for id_ in ids for source in load_source_ids(db, id_))
    return [source for source, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MAX_HUBS]]


def revisit_hubs(
    folder: Path,
    request: CrawlRequest,
    samples: Sequence[Sample],
    budget: int,
    enough: int,
    on_start: StartHook | None = None,
    query: str = "",
) -> list[str]:
    """Visit the pages that link to the samples again, and follow their new links. Returns matching URLs."""
    ids = [sample.view.id for sample in samples if sample.view.id]

    def start(coordinator: Coordinator) -> None:
        db = coordinator.context.db
        with transaction(db):
            hubs = find_hubs(db, ids)
            requeue_pages(db, hubs, rank=-FRONT)
        if on_start:
            on_start(coordinator)

    return find_on_web(folder, replace(request, seeds=()), samples, budget, enough, query=query, on_start=start)
