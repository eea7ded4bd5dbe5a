"""Coordinate the workers of a crawl until it is done, stopped or at a limit.

Each turn receives worker reports, stores and commits them, resolves hosts, dispatches fetch batches and checks limits.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from sanderling.crawl.context import CrawlContext
from sanderling.crawl.dispatch import NO_LIMIT, Dispatcher
from sanderling.crawl.host_dns import HostResolver
from sanderling.crawl.result_batch import BATCH_SECONDS, ResultBatcher
from sanderling.crawl.stop import CrawlProgress, FinishReason, describe_low_disk
from sanderling.crawl.worker_recovery import WorkerRecovery
from sanderling.crawl.worker_setup import RunSetup
from sanderling.db.connection import rollback, transaction
from sanderling.errors import DiskFull
from sanderling.fetch.dns import DnsResolver
from sanderling.fetch.fetch_settings import MAX_LATENCY_DELAY
from sanderling.models import Outcome, WorkerReport
from sanderling.storage.signal_log import Signal
from sanderling.workers.admin import WorkerAdmin
from sanderling.workers.assignment.report import AssignmentReport, build_report
from sanderling.workers.assignment.worker_assignment import WorkerAssignment
from sanderling.workers.control import ControlChannel
from sanderling.workers.manager import WorkerPool
from sanderling.workers.worker_engine import WorkerEngine, WorkerLost

IDLE_SECONDS = 0.25
STOP_GRACE_SECONDS = 20.0  # for requests in flight when stopping
TICK_SECONDS = 0.5
MAX_WAIT_SECONDS = 600.0  # a longer back-off is left to the next run
ADMIN_POLL_SECONDS = 0.1
MAX_CONSECUTIVE_LOSSES = 50  # crashes in a row: the cause is this machine, not a page


class Coordinator:
    """Runs a crawl."""

    def __init__(
        self,
        context: CrawlContext,
        engine: WorkerEngine,
        resolver: DnsResolver,
        assignment: WorkerAssignment,
        setup: RunSetup,
    ) -> None:
        self.context = context
        self.engine = engine
        self.assignment = assignment
        self.setup = setup
        self.limits = setup.limits
        self.folder = setup.folder
        self.clock = clock = setup.clock
        self.earlier_page_count = setup.earlier_page_count
        self.queue_due_pages = setup.queue_due_pages
        self.host_resolver = HostResolver(context, resolver, allow_private=setup.allow_private, clock=clock)
        self.dispatcher = Dispatcher(
            context,
            engine,
            assignment,
            self._count_remaining_pages,
            self._count_visited_pages,
            clock=clock,
            list_migrant_sites=setup.list_migrant_sites,
            build_template_filter=setup.build_template_filter,
        )
        self.result_batcher = ResultBatcher(context, clock)
        self.worker_pool = WorkerPool(
            engine,
            assignment,
            setup.folder,
            self._requeue_leases,
            max_workers=setup.max_workers,
            capacity_by_place=setup.capacity_by_migrant,
            clock=clock,
        )
        self.worker_recovery = WorkerRecovery(
            context, engine, assignment, self.worker_pool, self._commit_results, clock
        )
        self.control = ControlChannel(setup.folder)
        self.admin = WorkerAdmin(self.control, self.worker_pool, self._build_assignment_report)
        self.stop_reason: FinishReason | None = None
        self.stop_requested_at = 0.0
        self.is_forced = False
        self.error_message = ""  # shown to the user if a local problem ended the crawl
        self.started_at = time.monotonic()
        self.consecutive_losses = 0
        self.next_admin_poll = 0.0
        self.last_receive_at = 0.0
        self.last_clock_time = 0.0
        self.last_assignment_report: AssignmentReport = {}
        self.cpu_seconds_at_start = time.process_time()

    def run(self, on_tick: Callable[[CrawlProgress], None] | None = None) -> FinishReason:
        """Crawl until there is a reason to stop, and return it."""
        pool = ThreadPoolExecutor(8, thread_name_prefix="dns")
        next_tick = 0.0
        try:
            self.control.open()
            self.worker_pool.load_paused()
            for _ in range(self.setup.worker_count):
                self.worker_pool.create()
            for place in self.setup.capacity_by_migrant:
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
                    if self.setup.is_continuous and self.stop_reason is None:
                        self._refill_queue()
            self._commit_results()
            if on_tick:
                on_tick(self.get_progress())
            return finish
        except DiskFull as error:
            rollback(self.context.db)
            self.context.run.is_memory_ahead = True
            self.context.storage.archive.discard_uncommitted(self.context.storage.catalog.load_committed_lengths())
            self.error_message = str(error)
            return FinishReason.DISK_FULL
        finally:
            self.last_assignment_report = self._build_assignment_report()
            self.engine.close()
            self.worker_pool.close()
            self.control.close()
            pool.shutdown(wait=False, cancel_futures=True)

    def stop(self, reason: FinishReason) -> None:
        """Stop after requests in flight; a second call stops at once.

        Only sets flags, because signal handlers call it at any point.
        """
        if self.stop_reason is not None:
            self.is_forced = True
            return
        self.stop_requested_at = time.monotonic()
        self.stop_reason = reason

    def _compute_wait_seconds(self) -> float:
        if (wait_seconds := self.result_batcher.compute_wait_seconds()) is not None:
            return wait_seconds
        if self.assignment.outstanding_tasks or self.host_resolver.pending_lookups:
            return BATCH_SECONDS
        ready_at = self.context.frontier.hosts.get_next_ready_time() if self.assignment.list_available() else None
        return IDLE_SECONDS if ready_at is None else min(IDLE_SECONDS, max(0.0, ready_at - self.clock()))

    def _receive_reports(self) -> None:
        wait_seconds, self.last_receive_at = self._compute_wait_seconds(), self.assignment.clock()
        self._handle_messages(self.engine.receive_reports(wait_seconds))

    def _handle_clock_change(self) -> None:
        """Shift stored times after the clock was set back, so that no host waits for the difference."""
        now, before = self.clock(), self.last_clock_time
        self.last_clock_time = now
        if now < before:
            with transaction(self.context.db):
                max_delay = max(MAX_LATENCY_DELAY, self.context.frontier.politeness.delay_seconds)
                self.context.frontier.hosts.shift_clock(now, before - now, max_delay)

    def _handle_messages(self, messages: Sequence[WorkerReport | WorkerLost]) -> None:
        for message in messages:
            if isinstance(message, WorkerLost):
                self._handle_lost_worker(message.worker)
                continue
            if message.heartbeat is not None:
                self.context.frontier.queue.renew_leases(message.worker, self.clock())
                self.assignment.record_heartbeat(message.heartbeat)
            if message.suspect_token:
                self.context.frontier.queue.isolated_tokens[message.worker] = message.suspect_token
            self.context.log.record_signal(Signal.DONE, len(message.visits), message.worker)
            if message.visits or message.robots:
                self.worker_recovery.cancel_hosts(self.result_batcher.add(message))
                self.assignment.record_visits(message.worker, message.visits)

    def _handle_lost_worker(self, worker: str) -> None:
        if worker not in self.assignment.workers:
            return
        place = self.worker_recovery.remove_lost(worker)
        self.consecutive_losses += 1
        if self.consecutive_losses > MAX_CONSECUTIVE_LOSSES:
            self.error_message = f"{self.consecutive_losses} workers crashed in a row; the last was {worker}"
            self.context.log.write_message(self.error_message)
            self.stop(FinishReason.INTERRUPTED)
        elif self.stop_reason is None:
            self.worker_pool.create(place)

    def _requeue_leases(self, worker: str) -> int:
        return self.worker_recovery.requeue_after_crash(worker)

    def _supervise_workers(self) -> None:
        self.worker_recovery.requeue_silent(self.last_receive_at, may_replace=self.stop_reason is None)
        self.worker_pool.complete_transitions()
        if time.monotonic() < self.next_admin_poll:
            return
        self.next_admin_poll = time.monotonic() + ADMIN_POLL_SECONDS
        self.admin.handle_commands()
        if self.worker_pool.max_workers and self.stop_reason is None:
            self.worker_pool.resize(
                self.context.frontier.queue.count_queued(), self.context.frontier.politeness.allows_sharing
            )

    def _build_assignment_report(self) -> AssignmentReport:
        return build_report(self.assignment, time.process_time() - self.cpu_seconds_at_start)

    def _store_if_due(self) -> None:
        if self.result_batcher.is_due(self.assignment.outstanding_tasks):
            if self.stop_reason is None and self.dispatcher.can_dispatch_early(self.result_batcher.reports):
                self.dispatcher.dispatch_batches()  # keeps idle workers busy while results are stored
            self._store_results()

    def _must_store_first(self) -> bool:
        """Whether pending results may change what to dispatch next."""
        return bool(
            self.result_batcher.rate_limited_hosts or (self.result_batcher.reports and self.context.ordering.is_eager)
        )

    def _store_results(self) -> None:
        if self.result_batcher.store():
            self.consecutive_losses = 0

    def _commit_results(self) -> None:
        self._store_results()
        self.result_batcher.commit()

    def _count_remaining_pages(self) -> int:
        if not self.limits.page_limit:
            return NO_LIMIT
        pending = self.result_batcher.visit_count + self.assignment.outstanding_tasks
        return self.limits.page_limit - self._count_visited_pages() - pending

    def _count_visited_pages(self) -> int:
        stats = self.context.stats
        return self.earlier_page_count + stats.visited_pages + stats.outcomes[Outcome.PARKED]

    def _find_finish_reason(self) -> FinishReason | None:
        self._handle_clock_change()
        if self.stop_reason is not None:
            if self.is_forced:
                return FinishReason.FORCED
            self.worker_recovery.cancel_all()
            waited = time.monotonic() - self.stop_requested_at
            return self.stop_reason if not self.assignment.outstanding_tasks or waited > STOP_GRACE_SECONDS else None
        if self.limits.time_limit and time.monotonic() - self.started_at >= self.limits.time_limit:
            self.stop(FinishReason.TIME_LIMIT)
            return None
        if self.limits.size_limit and self.context.stats.bytes >= self.limits.size_limit:
            self.stop(FinishReason.SIZE_LIMIT)
            return None
        if self.result_batcher.reports or self.host_resolver.pending_lookups or self.assignment.outstanding_tasks:
            return None
        is_full = self.limits.page_limit and self._count_visited_pages() >= self.limits.page_limit
        if is_full and not self.dispatcher.lease_only_requisites():
            return FinishReason.PAGE_LIMIT
        ready_at = self.context.frontier.hosts.get_next_ready_time()
        if ready_at is None:
            with transaction(self.context.db):
                self.worker_recovery.drop_urls_of_failed_hosts()
            return None if self._refill_queue() or self.setup.is_continuous else FinishReason.DONE
        return FinishReason.BACKED_OFF if ready_at - self.clock() > MAX_WAIT_SECONDS else None

    def _refill_queue(self) -> int:
        if self.queue_due_pages is None:
            return 0
        with transaction(self.context.db):
            return self.queue_due_pages(self.clock())

    def _is_disk_low(self) -> bool:
        """Check disk space. Commits while there is room for it."""
        if message := describe_low_disk(self.folder):
            self.result_batcher.commit()
            self.error_message = message
        return bool(message)

    def get_progress(self) -> CrawlProgress:
        stats, seconds = self.context.stats, time.monotonic() - self.started_at
        return CrawlProgress(
            pages=self._count_visited_pages(),
            fetched=stats.outcomes[Outcome.FETCHED],
            waiting=self.context.frontier.queue.count_queued(),
            in_flight=self.assignment.outstanding_tasks,
            failed=stats.failed,
            skipped=stats.skipped,
            bytes=stats.bytes,
            seconds=seconds,
            pages_per_second=stats.visited_pages / seconds if seconds else 0.0,
            worker_count=len(self.assignment.workers),
            rendered=stats.rendered,
        )
