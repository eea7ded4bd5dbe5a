"""Take back leases and tasks of workers."""

from collections.abc import Callable, Iterable

from sanderling.clock import Clock
from sanderling.crawl.context import CrawlContext
from sanderling.db.connection import transaction
from sanderling.models import Host
from sanderling.workers.assignment.worker_assignment import WorkerAssignment
from sanderling.workers.manager import WorkerPool
from sanderling.workers.worker_engine import WorkerEngine


class WorkerRecovery:
    """Requeues leased URLs, and cancels tasks."""

    def __init__(
        self,
        context: CrawlContext,
        engine: WorkerEngine,
        assignment: WorkerAssignment,
        pool: WorkerPool,
        commit_results: Callable[[], None],
        clock: Clock,
    ) -> None:
        self.context = context
        self.engine = engine
        self.assignment = assignment
        self.pool = pool
        self.commit_results = commit_results
        self.clock = clock
        self.has_canceled_all = False

    def remove_lost(self, worker: str) -> str:
        """Remove a dead worker and requeue its leases. Returns its place."""
        place = self.pool.registry.get(worker).place
        returned = 0 if self.assignment.workers[worker].has_reported else self._release_unstarted(worker)
        returned += self.pool.remove_lost(worker)
        self.context.log.write_message(f"worker {worker} was lost; {returned} URLs requeued")
        return place

    def requeue_silent(self, last_receive_at: float, *, may_replace: bool) -> None:
        """Requeue leases of silent workers. Starts a worker if all are silent."""
        lease_seconds = self.context.frontier.politeness.lease_seconds
        for member in self.assignment.mark_silent_workers(lease_seconds, last_receive_at):
            returned = self.requeue_after_crash(member.id)
            self.engine.cancel_tasks(member.id)  # tasks it has not read yet are fetched by another worker
            self.context.log.write_message(f"worker {member.id} is silent; {returned} URLs requeued")
            if may_replace and all(other.is_silent for other in self.assignment.workers.values()):
                self.pool.create(self.pool.registry.get(member.id).place)

    def requeue_after_crash(self, worker: str) -> int:
        """Store results of a worker, then requeue its leases or give them up after repeated crashes."""
        self.commit_results()
        with transaction(self.context.db):
            self.context.frontier.delay_leased_hosts(self.clock(), worker)
            returned, given_up = self.context.frontier.queue.release_after_crash(worker)
            self.drop_urls_of_failed_hosts()
        self.context.stats.failed += given_up
        return returned

    def _release_unstarted(self, worker: str) -> int:
        """Requeue leases of a worker that never started. Does not count as an attempt."""
        with transaction(self.context.db):
            returned = self.context.frontier.queue.release_leases(worker)
            self.drop_urls_of_failed_hosts()
        return returned

    def drop_urls_of_failed_hosts(self) -> None:
        """End requeued URLs of hosts that were given up meanwhile."""
        for state, count in self.context.frontier.hosts.drop_urls_of_failed_hosts().items():
            self.context.stats.count_dropped(state, count)

    def cancel_hosts(self, hosts: Iterable[Host]) -> None:
        for host in hosts:
            for worker in self.assignment.list_holders(host):
                self.engine.cancel_tasks(worker, host)

    def cancel_all(self) -> None:
        """Take back all tasks that are not in flight, once."""
        if not self.has_canceled_all:
            self.has_canceled_all = True
            for worker in self.engine.list_workers():
                self.engine.cancel_tasks(worker)
