"""Errands: which URLs of which open host go to which migrant, as long as somebody has room."""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import msgspec

from sanderling.clock import Clock
from sanderling.crawl.context import CrawlContext
from sanderling.db.connection import transaction
from sanderling.fingerprint.fast.stable_hash import unpack_stable_hash
from sanderling.fingerprint.model import is_current_fingerprint
from sanderling.frontier.ready_hosts import ReadyHost
from sanderling.models import FetchBatch, Host, Outcome, StoredVersion, TemplateFilter, UrlRole, WorkerReport
from sanderling.storage.catalog import PageState
from sanderling.storage.signal_log import Signal
from sanderling.workers.assignment.worker_assignment import WorkerAssignment

MIN_PENDING_TASKS = 16  # stops a migrant holds at the start of a crawl: what is in hand cannot be put in a better order
EAGER_PENDING_TASKS = 4  # the same, where every page teaches what to ask for next
PENDING_SHARE_DIVISOR = 8  # later it holds an eighth of what is done, up to its usual load
POLITE_PENDING_FACTOR = (
    4  # times what it usually holds, where hosts want pauses: then most of it waits and makes no work
)
MAX_BACKLOG_SECONDS = 2.0  # of a host no more is handed out than it can answer in this time, while others wait
MIN_HOST_SHARE = 4  # URLs of a shared host given to one migrant, so that the others get theirs
NO_LIMIT = 2**31
HEALTHY_OUTCOMES = (
    Outcome.FETCHED,
    Outcome.NOT_MODIFIED,
    Outcome.REDIRECT,
    Outcome.GONE,
)  # what hosts do not rest after


class BatchSender(Protocol):
    """Who brings an errand to its migrant."""

    def send_batch(self, worker: str, batch: FetchBatch) -> None: ...


class Dispatcher:
    """Hands out what is to be visited; `room` says how many pages may still be, `done` how many were."""

    def __init__(
        self,
        context: CrawlContext,
        sender: BatchSender,
        assignment: WorkerAssignment,
        count_remaining_pages: Callable[[], int],
        count_visited_pages: Callable[[], int],
        clock: Clock,
    ) -> None:
        self.context = context
        self.sender = sender
        self.assignment = assignment
        self.count_remaining_pages = count_remaining_pages
        self.count_visited_pages = count_visited_pages
        self.clock = clock
        self.build_template_filter: Callable[[FetchBatch], TemplateFilter | None] | None = (
            None  # what specialised migrants are to look for
        )
        self.list_migrant_sites: Callable[[], frozenset[Host]] = (
            frozenset  # fetched by a worker beside their server, now
        )

    def dispatch_batches(self) -> None:
        """Give every open host to the migrant the schedule chooses, as long as somebody has room."""
        self._update_migrant_sites()
        self.assignment.has_crawl_delay = self.context.queue.politeness.delay_seconds > 0
        order = self.context.ordering
        choosy = order.is_eager or order.is_focused  # rather wait for the best hosts than ask them all
        patient = self.assignment.has_crawl_delay and not choosy
        self.assignment.current_max_tasks = (
            POLITE_PENDING_FACTOR * self.assignment.max_tasks if patient else self._compute_pending_limit()
        )
        able, trips = self.assignment.list_available(), list[tuple[str, FetchBatch]]()
        if not able or self.count_remaining_pages() <= 0:
            return
        now = self.clock()
        with transaction(self.context.db):
            room = min(self.count_remaining_pages(), sum(map(self.assignment.count_free_slots, able)))
            for door in self.context.queue.find_ready_hosts(able, now, room, self._estimate_host_capacity):
                self.context.crawl_log.record_signal(Signal.TO_CRAWL, 1, f"{door.queued} URLs wait at {door.host}")
                trips += self._lease_host(door, now)
                if not self.assignment.list_available() or self.count_remaining_pages() <= 0:
                    break
        for migrant, itinerary in trips:
            self.sender.send_batch(migrant, itinerary)
            self.context.crawl_log.record_signal(
                Signal.CRAWL, 1, f"{migrant}: {len(itinerary.tasks)} stops at {itinerary.host}"
            )

    def _update_migrant_sites(self) -> None:
        """Fetch a site without a crawl delay of ours only while a worker runs beside its server.

        A worker may be moved home, parked or lost at any time: from then on the site is fetched over the network.
        """
        queue, near = self.context.queue, self.list_migrant_sites()
        if near != queue.politeness.migrant_hosts:
            queue.politeness = msgspec.structs.replace(queue.politeness, migrant_hosts=near)

    def can_dispatch_early(self, reports: Iterable[WorkerReport]) -> bool:
        """May URLs be handed out before these are stored? Not where they may teach which, or that a host wants rest."""
        queue, order = self.context.queue, self.context.ordering
        if queue.politeness.delay_seconds or queue.quota is not None or order.is_eager or order.is_focused:
            return False
        return all(
            not parcel.robots and all(visit.outcome in HEALTHY_OUTCOMES for visit in parcel.visits)
            for parcel in reports
        )

    def _compute_pending_limit(self) -> int:
        """Stops to hold at this time of a crawl: of one migrant, or of one host where hosts want pauses."""
        return (
            EAGER_PENDING_TASKS
            if self.context.ordering.is_eager
            else max(MIN_PENDING_TASKS, self.count_visited_pages() // PENDING_SHARE_DIVISOR)
        )

    def _compute_host_share(self, ready_host: ReadyHost) -> int:
        """How many URLs of a host may be handed out now; where all want pauses, each is kept at work by a few."""
        early = self._compute_pending_limit()
        if not self.assignment.has_crawl_delay or ready_host.host in self.context.queue.politeness.migrant_hosts:
            return ready_host.share
        return min(ready_host.share, early - ready_host.leased) if ready_host.leased <= early // 2 else 0

    def _estimate_host_capacity(self, host: Host) -> int:
        """How many URLs of a host those who reach it can work off soon."""
        return self._estimate_worker_capacity(host) * max(1, self.assignment.count_reachable(host))

    def _estimate_worker_capacity(self, host: Host) -> int:
        if host in self.context.queue.politeness.migrant_hosts:
            return NO_LIMIT
        return self.assignment.estimate_capacity(host, MAX_BACKLOG_SECONDS, self.context.queue.politeness.connections)

    def _lease_host(self, ready_host: ReadyHost, now: float) -> list[tuple[str, FetchBatch]]:
        """Lease URLs of one host to whom the schedule chooses; a shared host goes to several."""
        trips, share = [], self._compute_host_share(ready_host)
        least = min(MIN_HOST_SHARE, self.context.queue.politeness.connections)
        even = max(least, -(-ready_host.queued // max(1, self.assignment.count_reachable(ready_host.host))))
        soon = self._estimate_worker_capacity(ready_host.host) if ready_host.is_shared else NO_LIMIT
        while (able := self.assignment.list_available()) and (left := min(self.count_remaining_pages(), share)) > 0:
            if ready_host.is_shared and not self.assignment.is_host_bound:
                able = self.assignment.find_least_busy(ready_host.host, able, least, soon)
            migrant = (
                self.assignment.choose_worker(ready_host.host, able)
                if not ready_host.assigned_worker
                else ready_host.assigned_worker
            )
            if migrant is None or migrant not in able:
                break
            itinerary = self.context.queue.lease_host(
                ready_host, migrant, min(self._compute_batch_size(ready_host, migrant, even, soon), left), now
            )
            if itinerary is None:
                break
            itinerary = self._add_validators(itinerary)
            if self.build_template_filter is not None:
                itinerary = msgspec.structs.replace(itinerary, template_filter=self.build_template_filter(itinerary))
            self.assignment.record_batch(migrant, itinerary)
            self.context.crawl_log.record_signal(Signal.WORKER_SELECTED, 1, f"{migrant} for {itinerary.host}")
            self.context.crawl_log.record_signal(Signal.DISTRIBUTE_URLS, len(itinerary.tasks), itinerary.host)
            trips.append((migrant, itinerary))
            share -= len(itinerary.tasks)
            if not ready_host.is_shared:
                break
        return trips

    def _compute_batch_size(self, ready_host: ReadyHost, worker: str, even_share: int, capacity: int) -> int:
        """How much of a host one migrant is given at once: as much as it can hold, of a shared one its part."""
        room = self.assignment.count_free_slots(worker)
        if not ready_host.is_shared:
            return room
        return min(
            room, even_share, max(1, capacity - self.assignment.workers[worker].task_count_by_host[ready_host.host])
        )

    def _add_validators(self, batch: FetchBatch) -> FetchBatch:
        """Give stops that were visited before what the last visit left: then the server may say 304."""
        latest = self.context.catalog.load_page_states([stop.id for stop in batch.tasks])
        if not latest:
            return batch
        stops = []
        liar = self.context.hosts.has_unreliable_etags(batch.host)
        kept = self._load_stored_versions([old for old in latest.values() if old.is_present])
        for stop in batch.tasks:
            old = latest.get(stop.id)
            if old is not None and old.is_present and stop.role is not UrlRole.CHANGE_LIST:  # each question is another
                etag = "" if liar and old.last_modified else old.etag
                stop = msgspec.structs.replace(
                    stop, etag=etag, last_modified=old.last_modified, digest=old.digest, last_version=kept.get(stop.id)
                )
            elif old is not None and old.is_gone and stop.role is UrlRole.PAGE:  # a 304 would not say that it is back
                stop = msgspec.structs.replace(stop, digest=old.digest)
            stops.append(stop)
        return msgspec.structs.replace(batch, tasks=tuple(stops))

    def _load_stored_versions(self, latest: Sequence[PageState]) -> dict[int, StoredVersion]:
        """Say where the last versions of pages are kept, and which have a full mark."""
        catalogue = self.context.catalog
        places = catalogue.find_body_locations([old.visit_id for old in latest])
        changed = [old.url_id for old in latest if old.change_count]
        marks, sieves = catalogue.load_fingerprints(changed, "signature"), catalogue.load_fingerprints(changed, "sieve")
        return {
            old.url_id: StoredVersion(
                *places[old.visit_id], old.charset, is_current_fingerprint(marks.get(old.url_id, b"")),
                unpack_stable_hash(sieves.get(old.url_id, b""), old.digest), old.was_html,
            )
            for old in latest
            if old.visit_id in places
        }  # fmt: skip
