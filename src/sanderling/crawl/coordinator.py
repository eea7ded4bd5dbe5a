"""The coordinator: keeps migrants busy and the house in order until the crawl is done, cut short or told to stop.

It owns the global picture, so no URL is asked for twice because several migrants are at work. Each turn: take in what
came home, commit it, resolve new hosts, hand out new errands, look at the limits.
"""

import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from sanderling.clock import Clock, MonotonicClock, system_clock
from sanderling.crawl.context import CrawlContext
from sanderling.crawl.dispatch import NO_LIMIT, Dispatcher
from sanderling.crawl.host_dns import HostResolver
from sanderling.crawl.result_batch import BATCH_SECONDS, ResultBatcher
from sanderling.crawl.stop import CrawlLimits, CrawlProgress, FinishReason
from sanderling.db.connection import rollback, transaction
from sanderling.errors import DiskFull
from sanderling.fetch.dns import DnsResolver
from sanderling.fetch.fetch_settings import MAX_LATENCY_DELAY
from sanderling.models import FetchBatch, Heartbeat, Host, Outcome, UrlState, WorkerReport
from sanderling.storage.signal_log import Signal
from sanderling.workers.admin import WorkerAdmin
from sanderling.workers.assignment.ahp_strategy import AhpStrategy
from sanderling.workers.assignment.report import AssignmentReport, build_report
from sanderling.workers.assignment.worker_assignment import WorkerAssignment
from sanderling.workers.control import ControlChannel
from sanderling.workers.local import WorkerLost
from sanderling.workers.manager import WorkerPool

IDLE_SECONDS = 0.25
STOP_GRACE_SECONDS = 20.0  # patience with what is in flight when stopping
TICK_SECONDS = 0.5
MIN_FREE_DISK_BYTES = 50_000_000  # bytes that must stay free
MAX_WAIT_SECONDS = 600.0  # seconds; a host that wants longer is left to the next run
ADMIN_POLL_SECONDS = 0.1  # between two looks at questions to the crawl
MAX_CONSECUTIVE_LOSSES = 50  # migrants that die one after the other: something is wrong with us


class WorkerEngine(Protocol):
    """Where migrants live, as the coordinator sees it."""

    def create_worker(self, name: str = "", place: str = "") -> str: ...
    def dispose_worker(self, worker: str) -> None: ...
    def list_places(self) -> list[str]: ...
    def get_location(self, worker: str) -> str: ...
    def list_workers(self) -> list[str]: ...
    def send_batch(self, worker: str, batch: FetchBatch) -> None: ...
    def cancel_tasks(self, worker: str, host: Host | None = None) -> None: ...
    def receive_reports(self, timeout: float) -> Sequence[WorkerReport | WorkerLost]: ...
    def get_heartbeat(self, worker: str) -> Heartbeat | None: ...
    def close(self) -> None: ...


class Coordinator:
    """Runs one crawl over an open house."""

    def __init__(
        self,
        context: CrawlContext,
        engine: WorkerEngine,
        resolver: DnsResolver,
        limits: CrawlLimits,
        *,
        worker_count: int,
        allow_private: bool,
        folder: Path,
        assignment: WorkerAssignment | None = None,
        clock: Clock = system_clock,
    ) -> None:
        self.context = context
        self.engine = engine
        self.limits = limits
        self.worker_count = worker_count
        self.folder = folder
        self.clock = clock
        self.assignment = assignment or WorkerAssignment(AhpStrategy())
        self.assignment.clock = MonotonicClock(clock)  # or who speaks after it was set back would seem silent
        self.host_resolver = HostResolver(context, resolver, allow_private=allow_private, clock=clock)
        self.dispatcher = Dispatcher(
            context, engine, self.assignment, self._count_remaining_pages, self._count_visited_pages, clock
        )
        self.result_batcher = ResultBatcher(context, clock)
        self.worker_pool = WorkerPool(engine, self.assignment, folder, self._requeue_worker_leases, clock=clock)
        self.control = ControlChannel(folder)
        self.admin = WorkerAdmin(self.control, self.worker_pool, self._build_assignment_report)
        self.queue_due_pages: Callable[[float], int] | None = None  # queues what has become due since; says how many
        self.is_continuous = False  # a service: wait for what becomes due next
        self.stop_reason: FinishReason | None = None
        self.stop_requested_at = 0.0
        self.is_forced = False
        self.has_cancelled_all = False  # all know that we are stopping
        self.error_message = ""  # the sentence for a person, when something of this machine ended the crawl
        self.started_at = time.monotonic()
        self.earlier_page_count = 0  # pages of this session from earlier runs
        self.consecutive_losses = 0
        self.next_admin_poll = 0.0
        self.last_receive_at = 0.0
        self.last_clock_time = 0.0  # by the clock, the last time we looked
        self.migrant_places: tuple[str, ...] = ()  # places that get a migrant of their own
        self.last_assignment_report: AssignmentReport = {}
        self.cpu_seconds_at_start = time.process_time()

    def run(self, on_tick: Callable[[CrawlProgress], None] | None = None) -> FinishReason:
        """Crawl until there is nothing left or a reason to stop."""
        pool = ThreadPoolExecutor(8, thread_name_prefix="dns")
        next_tick = 0.0
        try:
            self.control.open()
            self.worker_pool.load_parked()
            for _ in range(self.worker_count):
                self.worker_pool.create()
            for place in self.migrant_places:
                self.worker_pool.create(place)
            while (finish := self._find_finish_reason()) is None:
                self._receive_reports()
                self._store_if_due()
                self._supervise_workers()
                if self.stop_reason is None:
                    self.host_resolver.resolve_hosts(pool)
                    if not self._must_store_first():
                        self.dispatcher.dispatch_batches()
                if time.monotonic() >= next_tick:
                    next_tick = time.monotonic() + TICK_SECONDS
                    if on_tick:
                        on_tick(self.get_progress())
                    if self._is_disk_low():
                        return FinishReason.DISK_FULL
                    if self.is_continuous and self.stop_reason is None:
                        self._refill_queue()
            self._commit_results()
            if on_tick:
                on_tick(self.get_progress())
            return finish
        except DiskFull as error:
            rollback(self.context.db)
            self.context.is_memory_ahead = True
            self.context.archive.discard_uncommitted(self.context.catalog.load_committed_lengths())
            self.error_message = str(error)
            return FinishReason.DISK_FULL
        finally:
            self.last_assignment_report = self._build_assignment_report()
            self.engine.close()
            self.worker_pool.close()
            self.control.close()
            pool.shutdown(wait=False, cancel_futures=True)

    def stop(self, reason: FinishReason) -> None:
        """Finish what is in flight, then end; a second call does not wait.

        A signal may say so amid anything, also amid a word to a migrant: so this only takes note, and the turn obeys.
        """
        if self.stop_reason is not None:
            self.is_forced = True
            return
        self.stop_requested_at = time.monotonic()
        self.stop_reason = reason

    # One turn

    def _compute_wait_seconds(self) -> float:
        if (patience := self.result_batcher.compute_wait_seconds()) is not None:
            return patience
        if self.assignment.outstanding_tasks or self.host_resolver.pending_lookups:
            return BATCH_SECONDS
        opening = self.context.hosts.get_next_ready_time() if self.assignment.list_available() else None
        return IDLE_SECONDS if opening is None else min(IDLE_SECONDS, max(0.0, opening - self.clock()))

    def _receive_reports(self) -> None:
        """Take in what came; who has spoken by now is not silent."""
        patience, self.last_receive_at = self._compute_wait_seconds(), self.assignment.clock()
        self._handle_messages(self.engine.receive_reports(patience))

    def _handle_clock_change(self) -> None:
        """Where the clock was set back, let nobody wait for what it showed before."""
        now, before = self.clock(), self.last_clock_time
        self.last_clock_time = now
        if now < before:
            with transaction(self.context.db):
                rest = max(MAX_LATENCY_DELAY, self.context.queue.politeness.delay_seconds)
                self.context.hosts.shift_clock(now, before - now, rest)

    def _handle_messages(self, messages: Sequence[WorkerReport | WorkerLost]) -> None:
        for item in messages:
            if isinstance(item, WorkerLost):
                self._handle_lost_worker(item.worker)
                continue
            if item.heartbeat is not None:
                self.context.queue.renew_leases(item.worker, self.clock())
                self.assignment.record_heartbeat(item.heartbeat)
            if item.suspect_token:
                self.context.queue.isolated_tokens[item.worker] = item.suspect_token
            self.context.crawl_log.record_signal(Signal.DONE, len(item.visits), item.worker)
            if item.visits or item.robots:
                self._cancel_rate_limited(self.result_batcher.add(item))
                self.assignment.record_visits(item.worker, item.visits)

    def _handle_lost_worker(self, worker: str) -> None:
        """A migrant died: what it brought is stored, what it held goes back, another takes its place."""
        if worker not in self.assignment.workers:
            return
        place = self.worker_pool.registry.get(worker).place
        returned = 0 if self.assignment.workers[worker].has_reported else self._release_unstarted_leases(worker)
        returned += self.worker_pool.remove_lost(worker)
        self.context.crawl_log.write_message(f"migrant {worker} was lost; {returned} leases returned")
        self.consecutive_losses += 1
        if self.consecutive_losses > MAX_CONSECUTIVE_LOSSES:
            self.error_message = f"{self.consecutive_losses} migrants died one after the other; the last was {worker}"
            self.context.crawl_log.write_message(self.error_message)
            self.stop(FinishReason.INTERRUPTED)
        elif self.stop_reason is None:
            self.worker_pool.create(place)

    def _requeue_worker_leases(self, worker: str) -> int:
        """Store what it brought, give back what it holds; a page that kills migrants again and again is given up."""
        self._commit_results()
        with transaction(self.context.db):
            returned, given_up = self.context.queue.release_after_crash(worker)
            self._drop_urls_of_failed_hosts()
        self.context.stats["lost"] += given_up
        return returned

    def _release_unstarted_leases(self, worker: str) -> int:
        """Give back what one holds who never began: no page is to blame for that."""
        with transaction(self.context.db):
            returned = self.context.queue.release_leases(worker)
            self._drop_urls_of_failed_hosts()
        return returned

    def _drop_urls_of_failed_hosts(self) -> bool:
        """End queued URLs of hosts that were given up meanwhile, and count them; False: there were none."""
        dropped = self.context.hosts.drop_urls_of_failed_hosts()
        self.context.stats["lost"] += dropped.get(UrlState.FAILED, 0)
        self.context.stats["passed_over"] += dropped.get(UrlState.SKIPPED, 0)
        return bool(dropped)

    def _supervise_workers(self) -> None:
        """Notice who is silent, complete moves, answer questions, grow or shrink."""
        for member in self.assignment.mark_silent_workers(
            self.context.queue.politeness.lease_seconds, self.last_receive_at
        ):
            returned = self._requeue_worker_leases(member.id)
            self.engine.cancel_tasks(member.id)  # what it was sent and has not read yet must not be fetched by two
            self.context.crawl_log.write_message(f"migrant {member.id} is silent; {returned} leases returned")
            if self.stop_reason is None and all(other.is_silent for other in self.assignment.workers.values()):
                self.worker_pool.create(self.worker_pool.registry.get(member.id).place)  # somebody must go on
        self.worker_pool.complete_transitions()
        if time.monotonic() < self.next_admin_poll:
            return
        self.next_admin_poll = time.monotonic() + ADMIN_POLL_SECONDS
        self.admin.handle_commands()
        if self.worker_pool.max_workers and self.stop_reason is None:
            self.worker_pool.resize(self.context.queue.count_queued(), self.context.queue.politeness.allows_sharing)

    def _build_assignment_report(self) -> AssignmentReport:
        return build_report(self.assignment, time.process_time() - self.cpu_seconds_at_start)

    def _store_if_due(self) -> None:
        if self.result_batcher.is_due(self.assignment.outstanding_tasks):
            if self.stop_reason is None and self.dispatcher.can_dispatch_early(self.result_batcher.reports):
                self.dispatcher.dispatch_batches()  # who has little left is at work while we store
            self._store_results()

    def _must_store_first(self) -> bool:
        """Does what waits to be stored say what may be asked for next, or what is best asked for?"""
        return bool(
            self.result_batcher.rate_limited_hosts or (self.result_batcher.reports and self.context.ordering.is_eager)
        )

    def _store_results(self) -> None:
        if self.result_batcher.store():
            self.consecutive_losses = 0

    def _commit_results(self) -> None:
        """Store what came, and wait until it lasts."""
        self._store_results()
        self.result_batcher.commit()

    def _cancel_rate_limited(self, hosts: Iterable[Host]) -> None:
        """A host that complained to one rests from all: what anybody still holds of it comes back."""
        for host in hosts:
            for migrant in self.assignment.list_holders(host):
                self.engine.cancel_tasks(migrant, host)

    def _cancel_all_tasks(self) -> None:
        """Let everybody finish what is in flight and hand back the rest: once, for nothing is handed out any more."""
        if not self.has_cancelled_all:
            self.has_cancelled_all = True
            for migrant in self.engine.list_workers():
                self.engine.cancel_tasks(migrant)

    def _count_remaining_pages(self) -> int:
        """Pages that may still be handed out under the limit."""
        if not self.limits.page_limit:
            return NO_LIMIT
        return (
            self.limits.page_limit
            - self._count_visited_pages()
            - self.result_batcher.visit_count
            - self.assignment.outstanding_tasks
        )

    def _count_visited_pages(self) -> int:
        counts = self.context.stats
        return self.earlier_page_count + counts[Outcome.FETCHED] + counts[Outcome.NOT_MODIFIED] + counts[Outcome.PARKED]

    # The end

    def _find_finish_reason(self) -> FinishReason | None:
        self._handle_clock_change()
        if self.stop_reason is not None:
            if self.is_forced:
                return FinishReason.FORCED
            self._cancel_all_tasks()
            waited = time.monotonic() - self.stop_requested_at
            return self.stop_reason if not self.assignment.outstanding_tasks or waited > STOP_GRACE_SECONDS else None
        if self.limits.time_limit and time.monotonic() - self.started_at >= self.limits.time_limit:
            self.stop(FinishReason.TIME_LIMIT)
            return None
        if self.limits.size_limit and self.context.stats["bytes"] >= self.limits.size_limit:
            self.stop(FinishReason.SIZE_LIMIT)
            return None
        if self.result_batcher.reports or self.host_resolver.pending_lookups or self.assignment.outstanding_tasks:
            return None
        if self.limits.page_limit and self._count_visited_pages() >= self.limits.page_limit:
            return FinishReason.PAGE_LIMIT
        opening = self.context.hosts.get_next_ready_time()
        if opening is None:
            with transaction(self.context.db):
                self._drop_urls_of_failed_hosts()
            return None if self._refill_queue() or self.is_continuous else FinishReason.DONE
        return FinishReason.BACKED_OFF if opening - self.clock() > MAX_WAIT_SECONDS else None

    def _refill_queue(self) -> int:
        if self.queue_due_pages is None:
            return 0
        with transaction(self.context.db):
            return self.queue_due_pages(self.clock())

    def _is_disk_low(self) -> bool:
        """Is it time to end, as long as there is room for what the disk was handed?"""
        if shutil.disk_usage(self.folder).free >= MIN_FREE_DISK_BYTES:
            return False
        self.result_batcher.commit()
        self.error_message = (
            f"less than {MIN_FREE_DISK_BYTES // 10**6} MB left on the disk of {self.folder}; what was stored stays readable."
            " Make room, then give the same command again: it resumes."
        )
        return True

    def get_progress(self) -> CrawlProgress:
        """How far we are."""
        counts, seconds = self.context.stats, time.monotonic() - self.started_at
        visits = counts[Outcome.FETCHED] + counts[Outcome.NOT_MODIFIED]
        return CrawlProgress(
            pages=self._count_visited_pages(),
            fetched=counts[Outcome.FETCHED],
            waiting=self.context.queue.count_queued(),
            in_flight=self.assignment.outstanding_tasks,
            failed=counts["lost"],
            skipped=counts["passed_over"],
            bytes=counts["bytes"],
            seconds=seconds,
            pages_per_second=visits / seconds if seconds else 0.0,
            worker_count=len(self.assignment.workers),
        )
