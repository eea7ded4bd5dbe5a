"""Dispatch queued URLs to workers as fetch batches (Dispatcher of IPC)."""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import msgspec

from sanderling.clock import Clock
from sanderling.crawl.context import REQUISITE_RANK, CrawlContext
from sanderling.db.connection import transaction
from sanderling.fingerprint.fast.stable_hash import unpack_stable_hash
from sanderling.fingerprint.model import is_current_fingerprint
from sanderling.frontier.ready_hosts import ReadyHost
from sanderling.models import (
    FetchBatch,
    FetchTask,
    Host,
    Outcome,
    StoredVersion,
    TemplateFilter,
    UrlRole,
    WorkerReport,
)
from sanderling.storage.catalog import PageCatalog, PageState
from sanderling.storage.render_templates import RENDERING, decode_rendering
from sanderling.storage.signal_log import Signal
from sanderling.workers.assignment.worker_assignment import WorkerAssignment

MIN_PENDING_TASKS = 16  # tasks of one worker at the start of a crawl: leased URLs are not reranked
EAGER_PENDING_TASKS = 4  # the same for orderings that learn from every page
PENDING_SHARE_DIVISOR = 8  # later: this fraction of the visited pages, up to the maximum load
POLITE_PENDING_FACTOR = 4  # times the maximum load with crawl delays: most tasks only wait
MAX_BACKLOG_SECONDS = 2.0  # while other hosts are ready, a host gets only what it can answer in this time
MIN_HOST_SHARE = 4  # URLs of a shared host per worker
NO_LIMIT = 2**31
HEALTHY_OUTCOMES = (Outcome.FETCHED, Outcome.NOT_MODIFIED, Outcome.REDIRECT, Outcome.GONE)  # no back-off


TemplateFilterBuilder = Callable[[FetchBatch], TemplateFilter | None]


class BatchSender(Protocol):
    """Sends fetch batches."""

    def send_batch(self, worker: str, batch: FetchBatch) -> None: ...


class Dispatcher:
    """Leases URLs and sends them to workers."""

    def __init__(
        self,
        context: CrawlContext,
        sender: BatchSender,
        assignment: WorkerAssignment,
        count_remaining_pages: Callable[[], int],
        count_visited_pages: Callable[[], int],
        *,
        clock: Clock,
        list_migrant_sites: Callable[[], frozenset[Host]] = frozenset,
        build_template_filter: TemplateFilterBuilder | None = None,
    ) -> None:
        self.context = context
        self.sender = sender
        self.assignment = assignment
        self.count_remaining_pages = count_remaining_pages
        self.count_visited_pages = count_visited_pages
        self.clock = clock
        self.build_template_filter = build_template_filter  # None: no filter
        self.list_migrant_sites = list_migrant_sites  # sites that migrants fetch now

    def dispatch_batches(self) -> None:
        """Lease URLs of ready hosts while workers have free slots, then send them."""
        self._update_migrant_sites()
        has_crawl_delay = self.context.frontier.politeness.delay_seconds > 0
        ordering = self.context.ordering
        is_selective = ordering.is_eager or ordering.is_focused  # better wait for the best hosts
        can_queue_ahead = has_crawl_delay and not is_selective
        self.assignment.set_load_limit(
            POLITE_PENDING_FACTOR * self.assignment.max_tasks if can_queue_ahead else self._compute_pending_limit(),
            has_crawl_delay=has_crawl_delay,
        )
        available, batches = self.assignment.list_available(), list[tuple[str, FetchBatch]]()
        if not available or self.count_remaining_pages() <= 0:
            return
        now = self.clock()
        with transaction(self.context.db):
            limit = min(self.count_remaining_pages(), sum(map(self.assignment.count_free_slots, available)))
            for ready_host in self.context.frontier.find_ready_hosts(
                available, now, limit, self._estimate_host_capacity
            ):
                detail = f"{ready_host.queued} URLs queued for {ready_host.host}"
                self.context.log.record_signal(Signal.TO_CRAWL, 1, detail)
                batches += self._lease_host(ready_host, now)
                if not self.assignment.list_available() or self.count_remaining_pages() <= 0:
                    break
        for worker, batch in batches:
            self.sender.send_batch(worker, batch)
            detail = f"{worker}: {len(batch.tasks)} tasks at {batch.host}"
            self.context.log.record_signal(Signal.CRAWL, 1, detail)

    def lease_only_requisites(self) -> bool:
        """Lease only page requisites from now on, without a limit; returns whether any can be fetched."""
        frontier = self.context.frontier
        if not self.context.options.fetches_requisites or not frontier.queue.has_queued(REQUISITE_RANK):
            return False
        frontier.queue.min_rank = REQUISITE_RANK
        self.count_remaining_pages = lambda: NO_LIMIT
        return frontier.hosts.get_next_ready_time() is not None

    def _update_migrant_sites(self) -> None:
        """Drop the crawl delay of a site only while a migrant runs next to its server.

        A migrant may stop at any time; its site is then fetched over the network.
        """
        queue, migrant_hosts = self.context.frontier.queue, self.list_migrant_sites()
        if migrant_hosts != queue.politeness.migrant_hosts:
            queue.set_migrant_hosts(migrant_hosts)

    def can_dispatch_early(self, reports: Iterable[WorkerReport]) -> bool:
        """Whether these reports can neither change ranks nor slow a host down."""
        frontier, ordering = self.context.frontier, self.context.ordering
        if frontier.politeness.delay_seconds or frontier.quota is not None or ordering.is_eager or ordering.is_focused:
            return False
        return all(
            not report.robots and all(visit.outcome in HEALTHY_OUTCOMES for visit in report.visits)
            for report in reports
        )

    def _compute_pending_limit(self) -> int:
        """Limit tasks per worker, or per host with a crawl delay; grows with the crawl."""
        return (
            EAGER_PENDING_TASKS
            if self.context.ordering.is_eager
            else max(MIN_PENDING_TASKS, self.count_visited_pages() // PENDING_SHARE_DIVISOR)
        )

    def _compute_host_share(self, ready_host: ReadyHost) -> int:
        """Return how many URLs to lease now; with crawl delays a few keep a host busy."""
        pending_limit = self._compute_pending_limit()
        if not self.assignment.has_crawl_delay or ready_host.host in self.context.frontier.politeness.migrant_hosts:
            return ready_host.share
        return (
            min(ready_host.share, pending_limit - ready_host.leased) if ready_host.leased <= pending_limit // 2 else 0
        )

    def _estimate_host_capacity(self, host: Host) -> int:
        return self._estimate_worker_capacity(host) * max(1, self.assignment.count_reachable(host))

    def _estimate_worker_capacity(self, host: Host) -> int:
        if host in self.context.frontier.politeness.migrant_hosts:
            return NO_LIMIT
        return self.assignment.estimate_capacity(
            host, MAX_BACKLOG_SECONDS, self.context.frontier.politeness.connections
        )

    def _lease_host(self, ready_host: ReadyHost, now: float) -> list[tuple[str, FetchBatch]]:
        """Lease URLs of a host to the chosen worker, or to several if shared."""
        batches, share = [], self._compute_host_share(ready_host)
        min_share = min(MIN_HOST_SHARE, self.context.frontier.politeness.connections)
        even_share = max(min_share, -(-ready_host.queued // max(1, self.assignment.count_reachable(ready_host.host))))
        capacity = self._estimate_worker_capacity(ready_host.host) if ready_host.is_shared else NO_LIMIT
        while available := self.assignment.list_available():
            remaining = min(self.count_remaining_pages(), share)
            if remaining <= 0:
                break
            if ready_host.is_shared and not self.assignment.is_host_bound:
                available = self.assignment.find_least_busy(ready_host.host, available, min_share, capacity)
            worker = ready_host.assigned_worker or self.assignment.choose_worker(ready_host.host, available)
            if worker is None or worker not in available:
                break
            size = min(self._compute_batch_size(ready_host, worker, even_share, capacity), remaining)
            batch = self.context.frontier.lease(ready_host, worker, size, now)
            if batch is None:
                break
            batch = self._add_validators(batch)
            if self.context.options.renders:
                templates = self.context.storage.render_templates.load(batch.host)
                batch = msgspec.structs.replace(batch, render_templates=templates)
            if self.build_template_filter is not None:
                batch = msgspec.structs.replace(batch, template_filter=self.build_template_filter(batch))
            self.assignment.record_batch(worker, batch)
            self.context.log.record_signal(Signal.WORKER_SELECTED, 1, f"{worker} for {batch.host}")
            self.context.log.record_signal(Signal.DISTRIBUTE_URLS, len(batch.tasks), batch.host)
            batches.append((worker, batch))
            share -= len(batch.tasks)
            if not ready_host.is_shared:
                break
        return batches

    def _compute_batch_size(self, ready_host: ReadyHost, worker: str, even_share: int, capacity: int) -> int:
        free_slots = self.assignment.count_free_slots(worker)
        if not ready_host.is_shared:
            return free_slots
        held_tasks = self.assignment.workers[worker].task_count_by_host[ready_host.host]
        return min(free_slots, even_share, max(1, capacity - held_tasks))

    def _add_validators(self, batch: FetchBatch) -> FetchBatch:
        """Add ETag, Last-Modified and digest of the last visit to tasks."""
        previous = self.context.storage.catalog.load_page_states([task.id for task in batch.tasks])
        if not previous:
            return batch
        tasks = []
        renderings = self.context.storage.catalog.load_fingerprints(list(previous), RENDERING)
        has_unreliable_etags = self.context.frontier.hosts.has_unreliable_etags(batch.host)
        stored_versions = load_stored_versions(
            self.context.storage.catalog, [old for old in previous.values() if old.is_present]
        )
        for task in batch.tasks:
            old = previous.get(task.id)
            # Every request for a change list has another query, so validators do not apply.
            if old is not None and old.was_html and self._needs_full_body(task):
                task = msgspec.structs.replace(task, last_version=stored_versions.get(task.id))
            elif old is not None and old.is_present and task.role is not UrlRole.CHANGE_LIST:
                etag = "" if has_unreliable_etags and old.last_modified else old.etag
                task = msgspec.structs.replace(
                    task,
                    etag=etag,
                    last_modified=old.last_modified,
                    digest=old.digest,
                    last_version=stored_versions.get(task.id),
                    rendering=decode_rendering(renderings.get(task.id)),
                )
                task = task if self.context.options.renders else _drop_rendered_version(task)
            elif old is not None and old.is_gone and task.role is UrlRole.PAGE:  # a 304 would hide its return
                task = msgspec.structs.replace(task, digest=old.digest)
            tasks.append(task)
        return msgspec.structs.replace(batch, tasks=tuple(tasks))

    def _needs_full_body(self, task: FetchTask) -> bool:
        """Whether a stored page is fetched without validators, because its requisites are not known."""
        options = self.context.options
        return options.fetches_requisites and not options.has_all_requisites and task.role is UrlRole.PAGE


def load_stored_versions(catalog: PageCatalog, latest: Sequence[PageState]) -> dict[int, StoredVersion]:
    """Return where the last versions of pages are stored, by URL id."""
    locations = catalog.find_body_locations([old.visit_id for old in latest])
    changed = [old.url_id for old in latest if old.change_count]
    fingerprints = catalog.load_fingerprints(changed, "page")
    stable_hashes = catalog.load_fingerprints(changed, "stable_hash")
    return {
        old.url_id: StoredVersion(
            *locations[old.visit_id],
            old.charset,
            is_current_fingerprint(fingerprints.get(old.url_id, b"")),
            unpack_stable_hash(stable_hashes.get(old.url_id, b""), old.digest),
            old.was_html,
        )
        for old in latest
        if old.visit_id in locations
    }


def _drop_rendered_version(task: FetchTask) -> FetchTask:
    """Fetch a page that was rendered like a new one: this crawl does not render."""
    if task.rendering is None or not task.rendering.is_rendered:
        return task
    return msgspec.structs.replace(task, etag="", last_modified="", digest=b"", last_version=None)
