"""Crawl for unmet queries: pages of the type of the top results that are about the query (MIG).

While a crawl or refresh runs, an `UnmetQueryAttendant` moves promising links of such queries to the front. Otherwise
`fulfill_unmet_queries` starts a crawl for each.
"""

import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from sanderling.clock import Clock, system_clock
from sanderling.crawl.context import CrawlContext
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.request import CrawlRequest
from sanderling.crawl.stop import CrawlProgress
from sanderling.db.connection import Connection, transaction
from sanderling.errors import SanderlingError, UsageError
from sanderling.frontier.ordering.topic import add_short_text
from sanderling.frontier.url_rows import select_waiting
from sanderling.models import Url
from sanderling.search.feedback.event_log import DATABASE, EventLog, open_event_log
from sanderling.search.feedback.unmet_queries import (
    UnmetQuery,
    claim_unmet_queries,
    complete_unmet_query,
    release_unmet_queries,
)
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.page_history import load_observation
from sanderling.storage.queries import find_pages_visited_after, find_url_id
from sanderling.templates.concept_averaging import THRESHOLD
from sanderling.templates.driven_crawl import FRONT, find_hubs, learn_stored_pages, load_arrivals, revisit_hubs
from sanderling.templates.driven_ordering import Arrival, DrivenOrdering
from sanderling.templates.sample_pages import Sample, load_sample
from sanderling.templates.similar_pages import load_body

CHECK_INTERVAL = 2.0  # seconds between checks for unmet queries
ENOUGH_PAGES = 20  # new pages that fulfill a query
MAX_SECONDS = 600.0  # then the pages found so far are the answer
MIN_SECONDS = 10.0  # before a query is answered because no promising link waits
MAX_NEW_PAGES = 500  # looked at in one check
MAX_FETCHES = 60  # for one query, when no crawl runs
MAX_QUEUED = 50_000  # waiting URLs that are ranked for a query
PROMISING = 0.5
REASON = "users look for pages like those it links to"


def load_samples(urls: Sequence[str], db: Connection) -> list[Sample]:
    """Return the stored pages among these that can serve as samples."""
    found = []
    for url in urls:
        try:
            sample = load_sample(Url(url), db)
        except UsageError:  # a redirect, a PDF, or an empty page
            continue
        if sample is not None:
            found.append(sample)
    return found


def count_new(db: Connection, urls: Iterable[str]) -> int:
    """Count the pages that were visited once only."""
    return sum(load_observation(db, find_url_id(db, url)).visits == 1 for url in urls)


class QuerySearch(Struct):
    """An unmet query for which pages are looked for."""

    unmet: UnmetQuery
    ordering: DrivenOrdering
    started_at: float
    moved: set[int]  # URLs that were moved to the front
    found: int = 0  # new pages so far


class UnmetQueryAttendant:
    """Looks for pages for unmet queries while a crawl runs."""

    def __init__(self, folder: Path, clock: Clock = system_clock) -> None:
        self.folder = folder
        self.clock = clock
        self.log: EventLog | None = None
        self.coordinator: Coordinator | None = None
        self.searches: list[QuerySearch] = []
        self.last_visit = 0  # the last visit that was looked at
        self.next_check = 0.0

    def start(self, coordinator: Coordinator) -> None:
        """Start with a crawl; queries that an earlier crawl claimed and did not answer are open again."""
        self.coordinator = coordinator
        if (self.folder / DATABASE).exists():
            self.log = open_event_log(self.folder)
            release_unmet_queries(self.log)

    def tick(self, _progress: CrawlProgress | None = None) -> None:
        """Check for unmet queries, at most once per `CHECK_INTERVAL`, and for new pages."""
        if time.monotonic() < self.next_check or self.coordinator is None:
            return
        self.next_check = time.monotonic() + CHECK_INTERVAL
        if self.log is None and (self.folder / DATABASE).exists():
            self.log = open_event_log(self.folder)
        if self.log is not None and self.coordinator.stop_reason is None:
            for unmet in claim_unmet_queries(self.log):
                self._start_search(unmet, self.coordinator.context)
            if self.searches:
                self._update_searches(self.coordinator.context, self.log)

    def end(self) -> None:
        """Answer queries for which pages were found; leave the rest to the next crawl."""
        if self.log is not None:
            for search in [search for search in self.searches if search.found]:
                self._answer(search, self.log)
            release_unmet_queries(self.log)
            self.log.close()

    def _start_search(self, unmet: UnmetQuery, context: CrawlContext) -> None:
        """Learn from the stored pages, and let the pages that link to the samples be revisited."""
        views = [sample.view for sample in load_samples(unmet.urls, context.db)]
        if not self.searches:
            self.last_visit = context.storage.catalog.next_visit_id - 1
        ordering = DrivenOrdering(views, unmet.query)
        if views:
            learn_stored_pages(ordering, context.db)
            for entry in select_waiting(context.db, MAX_QUEUED):
                ordering.place(entry.url, entry.id)
            with transaction(context.db):
                hubs = find_hubs(context.db, [view.id for view in views])
                context.revisit.schedule.postpone(hubs, self.clock(), REASON)
        self.searches.append(QuerySearch(unmet, ordering, self.clock(), set()))
        context.log.write_message(f"crawl_more: looking for pages for the query {unmet.query!r}")

    def _update_searches(self, context: CrawlContext, log: EventLog) -> None:
        url_ids, self.last_visit = find_pages_visited_after(context.db, self.last_visit, MAX_NEW_PAGES)
        arrivals = load_arrivals(context.db, url_ids)
        for search in list(self.searches):
            for page in arrivals:
                search.ordering.note(self._measure_relevance(page, search.ordering))
            search.ordering.pop_rank_gains()
            waiting = search.ordering.find_promising(PROMISING)
            with transaction(context.db):
                context.frontier.raise_ranks(dict.fromkeys(waiting - search.moved, FRONT))
            search.moved |= waiting
            age = self.clock() - search.started_at
            search.found = count_new(context.db, search.ordering.matches)
            if search.found >= ENOUGH_PAGES or age > MAX_SECONDS or (not waiting and age > MIN_SECONDS):
                self._answer(search, log)

    def _measure_relevance(self, page: Arrival, ordering: DrivenOrdering) -> Arrival:
        """Return a page with the relevance of its stored text; pages of other types are not read."""
        if not ordering.topic or ordering.recognizer.compute_probability(page.view) < THRESHOLD:
            return page
        with open_collection_read_only(self.folder) as collection, suppress(SanderlingError, OSError):
            document = load_body(collection, page.view.id, page.view.url)
            title = add_short_text(page.view.title, document.text)
            return replace(page, relevance=ordering.topic.score_page(document.text, title))
        return page

    def _answer(self, search: QuerySearch, log: EventLog) -> None:
        complete_unmet_query(log, search.unmet.id, search.found, self.clock())
        self.searches.remove(search)


def fulfill_unmet_queries(
    folder: Path, request: CrawlRequest, clock: Clock = system_clock
) -> list[tuple[UnmetQuery, int]]:
    """Crawl for all unmet queries; return them with the number of new pages."""
    if not (folder / DATABASE).exists():
        return []
    log = open_event_log(folder)
    try:
        release_unmet_queries(log)
        return [(unmet, fulfill_unmet_query(folder, request, unmet, log, clock)) for unmet in claim_unmet_queries(log)]
    finally:
        log.close()


def fulfill_unmet_query(folder: Path, request: CrawlRequest, unmet: UnmetQuery, log: EventLog, clock: Clock) -> int:
    """Crawl for one unmet query; return the number of new pages."""
    with open_collection_read_only(folder) as collection:
        samples = load_samples(unmet.urls, collection.db)
    urls = revisit_hubs(folder, request, samples, MAX_FETCHES, ENOUGH_PAGES, query=unmet.query) if samples else []
    with open_collection_read_only(folder) as collection:
        found = count_new(collection.db, urls)
    complete_unmet_query(log, unmet.id, found, clock())
    return found
