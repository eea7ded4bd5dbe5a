"""crawl_more: what users did not find becomes work for migrants (MIG-11, MIG-13), and samples are watched.

While a crawl or a refresh runs, an `Attendant` takes the briefs of searchers: links that promise pages like theirs go
first, and pages that led to such pages before are looked at again. Where nothing runs, `answer_briefs` sends
specialised migrants for them.
"""

import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from sanderling.clock import Clock, system_clock
from sanderling.crawl.context import CrawlContext
from sanderling.crawl.coordinator import Coordinator
from sanderling.crawl.request import CrawlRequest
from sanderling.crawl.stop import CrawlProgress
from sanderling.db.connection import Connection, transaction
from sanderling.errors import UsageError
from sanderling.models import Url
from sanderling.search.feedback.event_log import DATABASE, EventLog, open_event_log
from sanderling.search.feedback.unmet_queries import (
    UnmetQuery,
    claim_unmet_queries,
    complete_unmet_query,
    release_unmet_queries,
)
from sanderling.storage.collection import open_collection_read_only
from sanderling.storage.queries import find_url_id
from sanderling.templates.classifier import Recogniser
from sanderling.templates.driven_ordering import RANKS, Driven
from sanderling.templates.link_model import PROMISING
from sanderling.templates.similar.driven_crawl import FIRST, hubs_of, learn_from_stored, navigator_for, revisit_hubs
from sanderling.templates.similar.samples import Sample, stored_sample
from sanderling.templates.template_indexer import read_arrivals

LOOK_SECONDS = 2.0  # between two looks at what users ask for
ENOUGH = 20  # new pages that answer a brief
PATIENCE = 600.0  # seconds; then what was found is the answer
LEAST_SECONDS = 10.0  # before a brief is answered because nothing promising waits
NEW_PAGES = 500  # looked at in one turn
FETCHES = 60  # pages that specialised migrants may fetch for one brief
ASKED_FOR = "users look for pages like those it leads to"


def samples_of(urls: Sequence[str], db: Connection) -> list[Sample]:
    """The stored pages among these that can serve as samples."""
    found = []
    for url in urls:
        try:
            sample = stored_sample(Url(url), db)
        except UsageError:  # a redirect, a PDF, an empty page: it has no structure to look for
            continue
        if sample is not None:
            found.append(sample)
    return found


def count_new(db: Connection, urls: Iterable[str]) -> int:
    """How many of these pages were seen for the first time just now."""
    ids = [find_url_id(db, url) for url in urls]
    visits = [db.execute("SELECT visits FROM pages WHERE url = ?", (id_,)).fetchone() for id_ in ids]
    return sum(row is not None and row[0] == 1 for row in visits)


# Where a crawl runs


class Search(Struct):
    """A brief being answered."""

    brief: UnmetQuery
    drive: Driven
    begun: float
    moved: set[int]  # URLs that were put first already
    found: int = 0  # new pages so far


class Attendant:
    """Takes the briefs of users while a crawl runs."""

    def __init__(self, folder: Path, clock: Clock = system_clock) -> None:
        self.folder = folder
        self.clock = clock
        self.log: EventLog | None = None
        self.crew: Coordinator | None = None
        self.searches: list[Search] = []
        self.seen = 0  # the last visit that was looked at
        self.next_look = 0.0

    def start(self, coordinator: Coordinator) -> None:
        """Begin with a crawl; what an earlier one took and did not answer is open again."""
        self.crew = coordinator
        if (self.folder / DATABASE).exists():
            self.log = open_event_log(self.folder)
            release_unmet_queries(self.log)

    def tick(self, _progress: CrawlProgress | None = None) -> None:
        """Look now and then whether somebody asked for more, and how far the others are."""
        if time.monotonic() < self.next_look or self.crew is None:
            return
        self.next_look = time.monotonic() + LOOK_SECONDS
        if self.log is None and (self.folder / DATABASE).exists():
            self.log = open_event_log(self.folder)
        if self.log is not None and self.crew.stop_reason is None:
            for brief in claim_unmet_queries(self.log):
                self._begin(brief, self.crew.context)
            if self.searches:
                self._go_on(self.crew.context, self.log)

    def end(self) -> None:
        """The crawl is over: what was found is the answer; what was not is left to the next."""
        if self.log is not None:
            for search in [search for search in self.searches if search.found]:
                self._answer(search, self.log)
            release_unmet_queries(self.log)
            self.log.close()

    def _begin(self, brief: UnmetQuery, house: CrawlContext) -> None:
        """Teach a drive what is stored, and look again at the pages that led to pages like these."""
        samples = samples_of(brief.urls, house.db)
        looks = [sample.look for sample in samples]
        drive = Driven(Recogniser(looks), navigator_for(looks))
        if samples:
            learn_from_stored(drive, house.db)
            rows = house.db.execute(
                "SELECT q.url, h.name || u.path FROM queue AS q JOIN urls AS u ON u.id = q.url"
                " JOIN hosts AS h ON h.id = u.host LIMIT 50000"
            )
            for id_, url in rows.fetchall():
                drive.place(url, id_)
            with transaction(house.db):
                house.revisit.schedule.postpone(hubs_of(house.db, [look.id for look in looks]), self.clock(), ASKED_FOR)
        if not self.searches:
            self.seen = house.storage.catalog.next_visit_id - 1
        self.searches.append(Search(brief, drive, self.clock(), set()))
        house.log.write_message(f"crawl_more: pages like those of {brief.query!r} are looked for")

    def _go_on(self, house: CrawlContext, log: EventLog) -> None:
        rows = house.db.execute(
            "SELECT url, visit FROM pages WHERE visit > ? ORDER BY visit LIMIT ?", (self.seen, NEW_PAGES)
        ).fetchall()
        arrivals = read_arrivals(house.db, [url for url, _ in rows])
        self.seen = rows[-1][1] if rows else self.seen
        for search in list(self.searches):
            for page in arrivals:
                search.drive.note(page)
            search.drive.pop_rank_gains()
            waiting = promising(search.drive)
            with transaction(house.db):
                house.frontier.raise_ranks(dict.fromkeys(waiting - search.moved, FIRST))
            search.moved |= waiting
            age = self.clock() - search.begun
            search.found = count_new(house.db, search.drive.matches)
            if search.found >= ENOUGH or age > PATIENCE or (not waiting and age > LEAST_SECONDS):
                self._answer(search, log)

    def _answer(self, search: Search, log: EventLog) -> None:
        complete_unmet_query(log, search.brief.id, search.found, self.clock())
        self.searches.remove(search)


def promising(drive: Driven) -> set[int]:
    """Waiting URLs that probably lead to pages like the samples."""
    least = RANKS * (1 - PROMISING)
    return {target for target, ways in drive.leads.ways.items() if drive.ranks.get(ways[0].url, RANKS) <= least}


# Where nothing runs


def fulfill_unmet_queries(
    folder: Path, request: CrawlRequest, clock: Clock = system_clock
) -> list[tuple[UnmetQuery, int]]:
    """Send specialised migrants for everything users asked for; says how many new pages came for each."""
    if not (folder / DATABASE).exists():
        return []
    log = open_event_log(folder)
    try:
        release_unmet_queries(log)
        return [(brief, fulfill_unmet_query(folder, request, brief, log, clock)) for brief in claim_unmet_queries(log)]
    finally:
        log.close()


def fulfill_unmet_query(folder: Path, request: CrawlRequest, brief: UnmetQuery, log: EventLog, clock: Clock) -> int:
    """Look for pages like those of one brief."""
    with open_collection_read_only(folder) as collection:
        samples = samples_of(brief.urls, collection.db)
    came = revisit_hubs(folder, request, samples, FETCHES, ENOUGH) if samples else []
    with open_collection_read_only(folder) as collection:
        found = count_new(collection.db, [page.url for page in came])
    complete_unmet_query(log, brief.id, found, clock())
    return found
